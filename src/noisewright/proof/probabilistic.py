"""Probabilistic privacy of lattice noise: the mass of all cells whose ratio may exceed e^epsilon.

Rounding can raise this delta, so it is summed for the masses that are drawn, never for the
continuous law behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.laws.base import LogConcave
from noisewright.laws.gaussian import DiscreteGaussian
from noisewright.laws.laplace import TruncatedLaplace
from noisewright.laws.lattice import Rounded
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.balls import ball, certainly_at_most, precision, upper
from noisewright.numerics.bisection import first_true, gallop
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.approximate import BITS, cells_within, from_pure, line_of, refuse_too_many, scaled_factor

_SCALE_BITS = 128


def probabilistic_delta(mechanism: Additive, epsilon: Fraction, sensitivity: Fraction) -> tuple[Fraction, str]:
    """Least proven delta of the lattice noise at this epsilon, over all shifts up to a sensitivity of whole steps."""
    law = mechanism.law
    found = from_pure(law, epsilon, sensitivity)
    if found is not None:
        return found[0], found[1].replace("approximate/", "probabilistic/")
    if isinstance(law, Tabulated):
        return tabulated_delta(law, epsilon, sensitivity), "probabilistic/all-shifts-of-cells"
    if isinstance(law, Piecewise) or not isinstance(law, LogConcave | DiscreteGaussian):
        raise UncertifiedError(f"there is no rule for the probabilistic delta of {type(law).__name__} noise.")
    steps = int(sensitivity / mechanism.lattice.step)
    with precision(BITS):
        cells = _Cells(mechanism.noise, epsilon)
        return min(Fraction(1), _worst_shift(cells, steps)), "probabilistic/log-concave-cells"


def tabulated_delta(law: Tabulated, epsilon: Fraction, sensitivity: Fraction) -> Fraction:
    """All cells that are, or whose neighbour is, more than e^epsilon times likelier, for every shift.

    Between whole shifts of cells the mass is the mixture of those at the two next to it.
    """
    scaled, line = scaled_factor(epsilon), line_of(law)
    refuse_too_many(cells_within(law, sensitivity), len(line))

    def mass(shift: int) -> int:
        pairs = zip(line, line[shift:] + [0] * shift, strict=True)
        return sum(a for a, b in pairs if (a << _SCALE_BITS) > scaled * b or (b << _SCALE_BITS) > scaled * a)

    return min(Fraction(1), Fraction(max(map(mass, range(1, cells_within(law, sensitivity) + 1))), law.total))


@dataclass(slots=True)
class _Cells:
    """Masses of a symmetric log-concave law on the cells of a lattice.

    Masses of equal cells under a log-concave density form a log-concave sequence, so
    mass(k) / mass(k + j) does not decrease in k: the cells that exceed e^epsilon are k >= k*(j), and
    by symmetry those whose neighbour exceeds it weigh as much as k >= k*(j) + j.
    """

    noise: Rounded
    epsilon: Fraction
    factor: Any = None

    def __post_init__(self) -> None:
        self.factor = BALLS.exp(ball(self.epsilon))

    def proven(self, k: int, shift: int) -> bool:
        """Whether mass(k) <= e^epsilon mass(k + shift) for sure."""
        return certainly_at_most(self.noise.mass(k, BALLS), self.factor * self.noise.mass(k + shift, BALLS))

    def first_doubtful(self, shift: int) -> int | None:
        """A k such that every cell before it is proven; None if the ratio never exceeds e^epsilon."""
        law = self.noise.law
        if isinstance(law, DiscreteGaussian):
            return law.first_above(self.epsilon, shift)
        step = self.noise.lattice.step
        if isinstance(law, TruncatedLaplace) and self.epsilon * law.scale >= shift * step:
            # Inside the support the ratio is at most e^epsilon, in rationals; balls could not decide equality.
            return int(law.bound // step) - shift
        if isinstance(law, TruncatedLaplace) and shift * step >= 2 * law.bound:
            # Moved by its whole width the support no longer meets itself: nothing is covered.
            return -int(law.bound // step) - 2
        assert isinstance(law, LogConcave)
        around = law.crossing(self.epsilon, shift * step)
        if around is None:
            return None
        return _first_false(lambda k: self.proven(k, shift), int(around[0] // step), -shift)

    def delta(self, smallest: int, largest: int) -> Fraction:
        """Upper bound of the mass that exceeds e^epsilon at any shift from `smallest` to `largest`."""
        first = self.first_doubtful(largest)
        return Fraction(0) if first is None else self.beyond(first) + self.beyond(first + smallest)

    def beyond(self, k: int) -> Fraction:
        """Upper bound of P(K >= k)."""
        return max(Fraction(0), upper(self.noise.law.sf(self.noise.lattice.lower_edge(k), BALLS)))


def _first_false(holds: Callable[[int], bool], guess: int, sure: int) -> int:
    """The first k at which a property that is true up to some point and false beyond fails, near a guess.

    Up to `sure` it is true, and nobody asks: a mass is no larger than its mirror image. Far out, where masses are
    nothing to balls, nothing can be told, so that a search by longer and longer steps could leap over all that can.
    """

    def fails(k: int) -> bool:
        return not passes(k)

    def passes(k: int) -> bool:
        return k <= sure or holds(k)

    low, high = gallop(fails, guess, 1) if passes(guess) else gallop(passes, guess, -1)[::-1]
    return first_true(fails, low, high)


def _worst_shift(cells: _Cells, steps: int) -> Fraction:
    """The largest delta over shifts 1 … steps, by blocks of shifts.

    Rule: masses fall outward, so k*(j) does not increase in j; for every j from a to b
    the delta is at most P(K >= k*(b)) + P(K >= k*(b) + a). Blocks that exceed what the full
    shift shows are halved. [theory#the-privacy-profile-of-one-number]
    """
    worst = cells.delta(steps, steps)
    blocks = [(1, steps - 1)] if steps > 1 else []
    while blocks:
        start, end = blocks.pop()
        delta = cells.delta(start, end)
        if delta <= worst:
            continue
        if start == end:
            worst = delta
            continue
        middle = (start + end) // 2
        blocks += [(start, middle), (middle + 1, end)]
    return worst
