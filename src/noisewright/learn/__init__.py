"""Private classifiers with the interface of scikit-learn (extra: noisewright[learn]).

- naive_bayes, counting: naive Bayes, from private counts and sums over cells
- columns: names, categories and bounds of columns, and bounds found privately
- spending: what a fit and a search of many fits spend
"""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
