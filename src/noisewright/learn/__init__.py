"""Private classifiers with the interface of scikit-learn (extra: noisewright[learn])."""

from noisewright.door import opened

__getattr__, __dir__, __all__ = opened(__name__)
