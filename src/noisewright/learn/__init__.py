"""Private classifiers with the interface of scikit-learn (extra: noisewright[learn]).

- naive_bayes, counting: naive Bayes, from private counts and sums over cells
"""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
