"""Bounds of a column from a noisy histogram over powers of two; a release of its own, made of a plan like any other.

Persons are counted in the bins [2^k, 2^(k+1)) of their values, or the same below zero: each once in a bin, however many
rows there are, and in at most `groups_per_person` bins. Bins whose noisy count could be noise alone are taken for
empty; all that are empty are so with a chance of 999 in 1000. Of the others as much as `keep` allows is cut off, half
of it at each end. What remains begins and ends at powers of two, or at zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import rational
from noisewright.problem.numbers import Number, show
from noisewright.release.ask.estimates import TOO_FEW
from noisewright.release.ask.histogram import BinCount, histogram
from noisewright.release.plan.noise import widths
from noisewright.release.plan.plan import Plan

if TYPE_CHECKING:
    import pyarrow as pa

_SMALLEST, _LARGEST = -20, 50
_POWERS = [Fraction(2) ** power for power in range(_SMALLEST, _LARGEST + 1)]
EDGES = (*(-power for power in reversed(_POWERS)), Fraction(0), *_POWERS)
"""From -2^50 to 2^50; values beyond are in no bin."""
_CHANCE = Fraction(1, 1000)


class Bounds(tuple[Fraction, ...]):
    """(low, high) for `bounds=`, or nothing where there were too few values to say.

    `keep` is the share of those counts that was aimed at, `unseen` how many persons a bin may hold without being seen,
    and `charge` the row of the ledger.
    """

    keep: Fraction
    unseen: Fraction
    charge: int

    def __new__(cls, ends: Sequence[Fraction], keep: Fraction, unseen: Fraction, charge: int) -> Bounds:
        """Bounds with what is said about them."""
        made = super().__new__(cls, ends)
        made.keep, made.unseen, made.charge = keep, unseen, charge
        return made

    def __repr__(self) -> str:
        return f"{show(self[0])} to {show(self[1])}" if self else TOO_FEW

    def __str__(self) -> str:
        unseen = f"a power of two with at most {show(self.unseen)} persons may stay unseen"
        if not self:
            return f"{TOO_FEW}: {unseen}; take more epsilon, or bounds that everybody knows"
        share = f"{show(self.keep * 100)} % of the values (each person once in a power of two)"
        return f"{self!r}; aims to keep {share}; {unseen}"


def share(keep: Number) -> Fraction:
    """The share of the values to keep; refuses what is none."""
    return Fraction(rational(at_least=Fraction(1, 2), below=1).read(keep, "keep", InvalidQueryError))


def question(column: str) -> BinCount:
    """The histogram that bounds are read off."""
    return histogram(column, edges=EDGES, persons=True, name=f"bounds of {column}")


def bounds_of(plan: Plan, answers: pa.Table, keep: Fraction) -> Bounds:
    """What the released counts say about the bounds. Guarantees: returns for any counts, and looks at nothing else."""
    counts = [round(value) for value in answers["value"].to_pylist()]
    ((width,),) = widths(plan.blocks, plan.layout, 1 - _CHANCE / len(counts))
    seen = [count if count > width else 0 for count in counts]
    cut = (1 - keep) / 2 * sum(seen)
    first = sum(total <= cut for total in accumulate(seen))
    last = len(seen) - sum(total <= cut for total in accumulate(reversed(seen)))
    ends = (EDGES[first], EDGES[last]) if any(seen) else ()
    return Bounds(ends, keep, 2 * width, answers["charge"][0].as_py())
