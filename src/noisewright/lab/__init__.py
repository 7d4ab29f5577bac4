"""The papers' tables and figures, side by side with ours; no new mathematics."""

from noisewright.door import opened

__getattr__, __dir__, __all__ = opened(__name__)
