"""How laws answer a query: a mechanism maps a true answer to the law of the released one.

- base, answers: what a mechanism is, what utilities ask of its errors, its name in files; true answers, put on lattices
- additive, per_coordinate, norm_shaped, linear_gaussian: noise for one number and for several
- bounded: answers in bounds, and the worst of their errors
- linear, strategies: linear questions and synthetic data; workloads, by what is measured in their place
- selection, response: choosing a candidate; one person's own value, in the local model
- expected, losses, numerical: how each kind of error is computed
- half_widths, tails: how far off answers are with a confidence, by proven bounds of rare errors
- renewed: files of kinds that older versions wrote
"""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
