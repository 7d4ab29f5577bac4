"""noisewright designs the noise: say what is asked, what must be protected and what counts as good.

What a person types stands here; the rest in laws, folds, mechanisms, metrics, errors, learn and lab.
"""

from noisewright.door import opened

__version__ = "0.2.0.dev0"
__getattr__, __dir__ = opened(__name__)
