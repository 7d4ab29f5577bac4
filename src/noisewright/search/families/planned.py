"""Laws for one number in a plan of many equal releases under (epsilon, delta), each at the largest rate that fits.

Everything here is in floats and decides nothing: whoever takes a law from here has its whole plan proven.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from noisewright.laws.gaussian import LARGEST_STD, DiscreteGaussian, Gaussian, GeneralizedGaussian
from noisewright.laws.hyperbolic import Logistic
from noisewright.laws.lattice import Lattice
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.fields import FLOATS
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_DELTA, SMALLEST_EPSILON, ApproxDP, PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.proof.approximate import approximate_delta, line_of
from noisewright.search.families.approximate import float_value, truncated_staircase
from noisewright.search.families.calibration import (
    GAUSSIAN,
    calibrated,
    rounded_up,
)
from noisewright.search.families.composition import (
    Losses,
    composed,
    first_guess,
    laplace_losses,
    largest_rate,
    of_law,
    of_table,
    on_integers,
    stairs,
)
from noisewright.search.families.staircase import (
    aligned_split,
    best_half,
    laplace,
    laplace_name,
    tuned_staircase,
)
from noisewright.search.tools.golden import STEPS_PER_SCALE, golden, on_cells

_TOLERANCE = 1e-5
_ROOM = 2e-3
_COARSE = 1e-3
_ROUNDS = 9
_POWERS = (1.05, 5.0)
_SHARE_OF_DELTA = 4
_FEW = 50
_SPLITS = 10
"""How many splits are tried while a rate grows by a factor of e."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked, released so many times, and what all releases together may cost."""

    query: Any
    privacy: ApproxDP
    utility: Utility
    count: int

    @property
    def guess(self) -> float:
        """About the epsilon of one release."""
        return first_guess(float(self.privacy.epsilon), float(self.privacy.delta), self.count)

    @property
    def std(self) -> Fraction:
        """The deviation of Gaussian noise that fits: the releases are one, of sqrt(count) times the sensitivity."""
        # The root is rounded up, so the profile is proven for at least the sensitivity of the whole plan.
        reach = self.query.sensitivity * rounded_up(math.sqrt(self.count) * (1 + 1e-12))
        found: Fraction = calibrated(GAUSSIAN, reach, self.privacy).std
        return found

    def fits(self, losses: Losses) -> bool:
        """Whether so many releases with these losses keep to the total, in floats."""
        return self.delta(losses) <= self.target

    def delta(self, losses: Losses) -> float:
        """About the delta of so many releases with these losses, at the epsilon of the total."""
        return composed(losses, self.count, float(self.privacy.epsilon))

    @property
    def target(self) -> float:
        """A delta hardly below that of the total, which leaves the accountant room to round up."""
        return float(self.privacy.delta) * (1 - _ROOM)

    def fitted(self, losses: Callable[[float], Losses], tolerance: float = _TOLERANCE) -> float:
        """The largest rate that fits."""
        return largest_rate(lambda rate: self.fits(losses(rate)), self.guess, tolerance)

    def better(self, value: float, other: float) -> bool:
        """Whether one value is at least as good as another."""
        return value >= other if self.utility.larger_is_better else value <= other


@dataclass(frozen=True, slots=True)
class Candidate:
    """A family at the rate that fits in floats; `make` gives the noise at this rate or at a smaller one."""

    name: str
    simplicity: int
    rate: float
    make: Callable[[float], Additive]
    pure: bool = False

    def value(self, utility: Utility) -> float:
        """What counts, in floats."""
        return float(self.make(self.rate).expected(utility, FLOATS))

    def requirement(self, mechanism: Additive, plan: Plan) -> Any:
        """What one release is certified for."""
        if self.pure:
            return PureDP(clamped(self.rate))
        epsilon = clamped(min(plan.guess, float(plan.privacy.epsilon)))
        delta = approximate_delta(mechanism.law, epsilon, mechanism.query.sensitivity)[0]
        return ApproxDP(epsilon, rounded_up(max(delta, SMALLEST_DELTA)))


def clamped(epsilon: float) -> Fraction:
    """An epsilon that can be asked for, at most this one where it can be."""
    value = Fraction(math.floor(epsilon * 10**12), 10**12)
    return min(max(value, SMALLEST_EPSILON), LARGEST_EPSILON)


def laws_for(plan: Plan) -> Iterator[Candidate]:
    """Every family that this kind of answer has."""
    yield from pure_laws(plan)
    yield from (_whole if plan.query.integer else _smooth)(plan)
    yield from _truncated(plan)


def pure_laws(plan: Plan) -> Iterator[Candidate]:
    """Laplace and staircase noise."""
    query, utility, per = plan.query, plan.utility, int(plan.query.sensitivity)
    scaled = utility.scaled(query.sensitivity)

    @lru_cache(maxsize=64)
    def step_near(place: int) -> Any:
        """The best top step at about this rate."""
        epsilon = clamped(math.exp(place / _SPLITS))
        return best_half(query, epsilon, utility) if query.integer else float(aligned_split(scaled, epsilon)[0])

    def losses(rate: float) -> Losses:
        return on_integers(lambda k: k * rate / per, rate / per, per) if _few(query) else laplace_losses(rate)

    def losses_of_stairs(rate: float) -> Losses:
        top = step_near(round(_SPLITS * math.log(rate)))
        if not _few(query):
            return stairs(rate, (top + 0.5) / per if query.integer else top)
        return on_integers(lambda k: rate * np.ceil(np.maximum(k - top, 0) / per), rate / per, per)

    yield Candidate(
        laplace_name(query), 1, plan.fitted(losses), lambda r: laplace(query, clamped(r), utility), pure=True
    )
    yield Candidate(
        "staircase", 2, plan.fitted(losses_of_stairs), lambda r: tuned_staircase(query, clamped(r), utility), pure=True
    )


def _few(query: Scalar) -> bool:
    """Whether whole numbers are told apart: from some sensitivity on they are as good as real ones."""
    return query.integer and query.sensitivity <= _FEW


def _smooth(plan: Plan) -> Iterator[Candidate]:
    """Gaussian, logistic and the best generalized Gaussian noise."""
    query, utility, reach = plan.query, plan.utility, float(plan.query.sensitivity)

    def maker(law: Callable[[Fraction], Any]) -> Callable[[float], Additive]:
        return lambda rate: on_cells(query, law(query.sensitivity / Fraction(rate)), reach / rate, utility)

    def losses(law: Callable[[Fraction], Any], rate: float) -> Losses:
        return of_law(law(query.sensitivity / Fraction(rate)), reach, reach / rate)

    yield Candidate("Gaussian", 0, float(query.sensitivity / plan.std), maker(Gaussian))
    yield Candidate("logistic", 4, plan.fitted(partial(losses, Logistic)), maker(Logistic))
    sign = -1 if utility.larger_is_better else 1

    def cost(power: float) -> float:
        law = partial(GeneralizedGaussian, Fraction(power).limit_denominator(100))
        rate = plan.fitted(partial(losses, law), _COARSE)
        return sign * float_value(law(query.sensitivity / Fraction(rate)), utility)

    power = Fraction(round(10 * golden(cost, *_POWERS, _ROUNDS)), 10)
    if power == 2:  # that is Gaussian noise
        return
    law = partial(GeneralizedGaussian, power)
    name = f"generalized Gaussian, power {float(power):g}"
    yield Candidate(name, 5, plan.fitted(partial(losses, law)), maker(law))


def _whole(plan: Plan) -> Iterator[Candidate]:
    """The discrete Gaussian, where the law has a range for it."""
    query, reach = plan.query, float(plan.query.sensitivity)
    if not 0.02 <= float(plan.std) <= LARGEST_STD / 2:
        return

    def made(rate: float) -> Additive:
        return Additive(query, DiscreteGaussian(rounded_up(reach / rate)), Lattice.integers())

    def losses(rate: float) -> Losses:
        if not _few(query):
            return of_law(Gaussian(Fraction(reach / rate)), reach, reach / rate)
        return on_integers(lambda k: (k * rate / reach) ** 2 / 2, rate / reach, int(reach))

    yield Candidate("discrete Gaussian", 0, plan.fitted(losses), made)


def _truncated(plan: Plan) -> Iterator[Candidate]:
    """A staircase that ends, whose ends take a part of delta over the whole plan."""
    query, utility = plan.query, plan.utility
    delta = max(plan.privacy.delta / (_SHARE_OF_DELTA * plan.count), SMALLEST_DELTA)

    def law(rate: float) -> Tabulated | None:
        return truncated_staircase(query, ApproxDP(clamped(rate), delta), utility)

    def losses(rate: float) -> Losses:
        found = law(rate)
        return Losses(np.zeros(0), np.zeros(0), 1.0) if found is None else _of_cells(found, query)

    if law(plan.guess) is None:
        return

    def made(rate: float) -> Additive:
        return on_table(query, law(rate), float(query.sensitivity) / rate)

    yield Candidate("truncated staircase", 3, plan.fitted(losses, _COARSE), made)


def _of_cells(law: Tabulated, query: Scalar) -> Losses:
    return of_table(np.array([w / law.total for w in line_of(law)]), int(query.sensitivity / law.width))


def on_table(query: Scalar, law: Any, spread: float) -> Additive:
    """A tabulated law on a lattice that divides its cells finely enough to hide them."""
    if query.integer:
        return Additive(query, law, Lattice.integers())
    parts = max(1, math.ceil(STEPS_PER_SCALE * float(law.width) / spread))
    return Additive(query, law, Lattice.cells(law.width / parts))
