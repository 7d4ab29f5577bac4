"""Privacy profiles: what one release can lose, in the form in which losses are added up.

The profile of a mechanism is delta(epsilon), the largest hockey-stick divergence over all ordered pairs of
neighbours. In e^epsilon it is convex and does not increase; delta(-epsilon) = 1 - e^(-epsilon) (1 - delta(epsilon)),
because neighbours may be exchanged, so only epsilon >= 0 is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol


class Profile(Protocol):
    """Upper bounds of the profile of one release."""

    @property
    def rule(self) -> str:
        """The name of the theorem by which the bounds hold."""
        ...

    @property
    def spread(self) -> float:
        """About the standard deviation of the privacy loss: a hint for choosing grids, never evidence."""
        ...

    @property
    def largest(self) -> Fraction | None:
        """A loss that is passed with probability `lost` only; None where the losses have no end."""
        ...

    @property
    def lost(self) -> Fraction:
        """The value that the profile keeps from `largest` on (the delta of an (epsilon, delta) pair); 0 otherwise."""
        ...

    @property
    def lattice(self) -> Fraction | None:
        """A loss of which all losses are multiples, where there is one: atoms then fall on the grid."""
        ...

    def deltas(self, epsilons: Sequence[Fraction], bits: int) -> list[int]:
        """Whole numbers at or above 2^bits delta(epsilon), for epsilons >= 0 in rising order."""
        ...
