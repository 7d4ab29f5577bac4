"""How laws answer a query: a mechanism maps a true answer to the law of the released one."""

from noisewright.door import opened

__getattr__, __dir__, __all__ = opened(__name__)
