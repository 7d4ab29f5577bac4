"""Axes of small pictures: from values to places, and round numbers to write beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass

_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """From values between `low` and `high` to places between `start` and `end`, evenly or by ratio."""

    low: float
    high: float
    start: float
    end: float
    ratio: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value, to a tenth; values beyond the ends stay at the end."""
        low, high, inside = self.low, self.high, min(max(value, self.low), self.high)
        share = math.log(inside / low) / math.log(high / low) if self.ratio else (inside - low) / (high - low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, most: int) -> list[float]:
        """Round values between the ends, at most about so many."""
        return _ratio_ticks(self.low, self.high, most) if self.ratio else _even_ticks(self.low, self.high, most)


def _even_ticks(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / max(most, 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in _STEPS if size * each >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * i for i in range(first, last + 1)]


def _ratio_ticks(low: float, high: float, most: int) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [d * 10.0**e for e in decades for d in digits if low * (1 - 1e-9) <= d * 10.0**e <= high * (1 + 1e-9)]
        if len(found) <= most:
            return found
    every = -(-len(decades) // max(most, 1))
    return [10.0**e for e in decades if e % every == 0 and low <= 10.0**e <= high]


def written(value: float) -> str:
    """A number as people write it: four digits, no powers of ten for everyday sizes."""
    if value == 0:
        return "0"
    if math.isinf(value):
        return "infinite"
    size = abs(value)
    if 1e-3 <= size < 1e6:
        text = f"{value:,.{max(0, 3 - math.floor(math.log10(size)))}f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")
    return f"{value:.3g}".replace("-", "−")
