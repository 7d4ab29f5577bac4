"""The second folds of two-fold noise: laws of the rate of the Laplace law that `nw.laws.TwoFold` draws."""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
