"""Private classifiers with the interface of scikit-learn (extra: noisewright[learn])."""

from noisewright.learn.naive_bayes import NaiveBayes

__all__ = ["NaiveBayes"]
