"""The papers' tables and figures, side by side with ours; no new mathematics.

- r2dp*: R2DP: two-fold noise
- generalized_gaussian*, named_rules, ranges, sensitivities: the generalized-Gaussian paper
- paper_bounds, metropolis: bounds and walks of papers, which no proof uses
- non_identical*: non-identical noise for several numbers
- composite*, own_shapes, columns: bounded, unbiased answers
- dx*, meta, strategies: metric privacy for linear questions
- contingency, classification, data, tables: datasets
- registry, claims, sheets, pictures: every reproduction by name, its claims, what it writes
"""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
