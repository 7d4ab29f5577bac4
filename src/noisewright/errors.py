"""Everything that can go wrong; the tree is drawn in noisewright.problem.errors, its root is nw.NoisewrightError."""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
