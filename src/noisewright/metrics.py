"""How hard it must be to tell one element from another, in budgets: the metrics of `nw.MetricPrivacy`."""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
