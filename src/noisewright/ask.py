"""What can be asked of a table: `nw.ask.count`, `sum`, `mean` and so on, answered by `nw.Dataset(...).plan(...)`."""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
