"""Private classifiers with the interface of scikit-learn (extra: noisewright[learn]).

- naive_bayes, counting: naive Bayes, from private counts and sums over cells; what fits spend
- columns: names, categories and bounds of columns, and bounds found privately
"""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
