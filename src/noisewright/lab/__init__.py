"""The papers' tables and figures, side by side with ours; no new mathematics.

- reproductions: a paper's claims with what was found, and every reproduction by name
- r2dp: R2DP: two-fold noise
- generalized_gaussian: the generalized-Gaussian paper
- metric: metric privacy for linear questions (d_X)
- non_identical: non-identical noise for several numbers
- composite: bounded, unbiased answers
- tables: datasets, found by what is in them
- page, sheets: the page of all papers, and the pictures and tables of one
"""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
