"""Probability laws as frozen data; each formula runs in floats or in balls."""

from noisewright.door import opened

__getattr__, __dir__, __all__ = opened(__name__)
