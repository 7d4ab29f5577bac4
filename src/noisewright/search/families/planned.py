"""Laws for one number in a plan of many equal releases under (epsilon, delta), each at the largest rate that fits.

What many releases cost together is computed in floats, by which the search looks and nothing is proven: whoever takes a
law from here has its whole plan proven (that is `accounting`). The losses are those of a shift by one sensitivity,
which is the worst one for symmetric noise that falls outward. Many of them are added up by one Fourier transform. The
law of a loss is tilted first, so that the sum comes out near the epsilon that is asked about: a delta of 1e-15 then has
as many digits as one of 1e-3.

The law of cells that is best for a plan: for delta at epsilon of many releases the mean of e^(tilt * loss) counts, at
the tilt for which losses add up to about epsilon. At a fixed tilt the law that costs least at a price of that mean is a
convex programme; the price is the least that keeps the plan to its total, and the tilt is that of the law that was
found before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial, singledispatch
from typing import Any

import numpy as np

from noisewright.laws.gaussian import LARGEST_STD, DiscreteGaussian, Gaussian, GeneralizedGaussian
from noisewright.laws.hyperbolic import Logistic
from noisewright.laws.lattice import Lattice
from noisewright.laws.tabulated import HALF, Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.bisection import first_true, geometric
from noisewright.numerics.fields import FLOATS, Floats
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_DELTA, SMALLEST_EPSILON, ApproxDP, PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Utility
from noisewright.proof.approximate import approximate_delta, line_of
from noisewright.search.families.approximate import float_value, truncated_staircase
from noisewright.search.families.calibration import (
    GAUSSIAN,
    calibrated,
    power_tail,
    rounded_up,
)
from noisewright.search.families.scalar_pure import (
    aligned_split,
    best_half,
    laplace,
    laplace_name,
    tuned_staircase,
)
from noisewright.search.golden_section import STEPS_PER_SCALE, golden, on_cells
from noisewright.search.programmes.approximate import Grid, cell_costs, cheapest_at_tilt

_TINY = 1e-18
_MOST_POINTS = 1_000_000
_FAR, _LEAST = 45.0, 1e-280
_POINTS_PER_SPREAD = 40
_POINTS_PER_SHIFT = 4
_BETWEEN = 64
_MOST_VALUES = 4096
_FEWEST_CELLS, _MOST_CELLS = 13, 20
_CELLS_PER_DEVIATION = 24
_DEVIATIONS = 24.0
_STEEPEST = 1e4
_SMALLEST_RATE = 1e-9


@dataclass(frozen=True, slots=True)
class Losses:
    """The privacy losses of one release with their masses, and the mass of an infinite loss."""

    values: Floats
    masses: Floats
    infinite: float = 0.0


def composed(losses: Losses, count: int, epsilon: float) -> float:
    """About the delta of so many releases at this epsilon."""
    lost = -math.expm1(count * math.log1p(-min(losses.infinite, 1 - _TINY)))
    if not len(losses.values) or count * float(losses.values.max()) <= epsilon:
        return lost
    tilt = mean_tilt(losses, epsilon / count)
    exponents = tilt * losses.values
    top = float(exponents.max())
    weights = losses.masses * np.exp(exponents - top)
    total = float(weights.sum())
    weights = weights / total
    mean = float(weights @ losses.values)
    spread = math.sqrt(max(float(weights @ (losses.values - mean) ** 2), 1e-300))
    seen = losses.values[weights > _TINY]
    window = max(_DEVIATIONS * math.sqrt(count) * spread, 2 * float(seen.max() - seen.min())) or 1.0
    wanted = math.ceil(math.log2(_CELLS_PER_DEVIATION * _DEVIATIONS * math.sqrt(count)))
    cells = 1 << min(max(wanted, _FEWEST_CELLS), _MOST_CELLS)
    excess = count * mean - epsilon + _grid(cells, window)
    sums = _summed((losses.values - mean) / (window / cells), weights, count, cells)
    above = excess > 0
    gains = sums[above] * np.exp(-tilt * excess[above]) * -np.expm1(-excess[above])
    scale = count * (math.log(total) + top) - tilt * epsilon
    return min(1.0, lost + math.exp(min(scale, 700.0)) * float(np.maximum(gains, 0.0).sum()))


def _grid(cells: int, window: float) -> Floats:
    places = np.arange(cells)
    return np.asarray(np.where(places < cells // 2, places, places - cells) * (window / cells))


def _summed(places: Floats, weights: Floats, count: int, cells: int) -> Floats:
    """Masses of the sum of so many of them; each is divided between two cells so that its mean stays."""
    low = np.floor(places)
    share = places - low
    index = low.astype(np.int64)
    line = np.bincount(index % cells, weights * (1 - share), cells) + np.bincount(
        (index + 1) % cells, weights * share, cells
    )
    return np.asarray(np.fft.irfft(np.fft.rfft(line) ** count, cells))


def mean_tilt(losses: Losses, target: float) -> float:
    """The tilt at which the mean loss is the target; none where it is above already."""

    def reached(tilt: float) -> bool:
        exponents = tilt * losses.values
        weights = losses.masses * np.exp(exponents - exponents.max())
        return float(weights @ losses.values) >= target * float(weights.sum())

    if reached(0.0):
        return 0.0
    high = 1.0
    while not reached(high) and high < _STEEPEST / max(target, 1e-9):
        high *= 2
    return first_true(reached, 0.0, high, relative=1e-6)


def pair(epsilon: float, delta: float = 0.0) -> Losses:
    """The losses of a release of which nothing is known but that it is (epsilon, delta)-private."""
    odds = math.exp(-epsilon)
    return Losses(np.array([epsilon, -epsilon]), (1 - delta) * np.array([1.0, odds]) / (1 + odds), delta)


def laplace_losses(epsilon: float) -> Losses:
    """Those of Laplace noise of scale 1 / epsilon: two atoms and what lies between them."""
    edges = np.linspace(-epsilon, epsilon, _BETWEEN + 1)
    between = np.diff(np.exp((edges - epsilon) / 2)) / 2
    values = np.concatenate([[epsilon, -epsilon], (edges[1:] + edges[:-1]) / 2])
    return Losses(values, np.concatenate([[0.5, math.exp(-epsilon) / 2], between]))


def stairs(epsilon: float, split: float) -> Losses:
    """Those of a staircase with this split: they have three values only."""
    b = math.exp(-epsilon)
    top = (1 - b) / (2 * (split + b * (1 - split)))
    up = 0.5 + min(split, 1 - split) * top
    even = abs(1 - 2 * split) * top * (b if split < 0.5 else 1.0)
    return Losses(np.array([epsilon, 0.0, -epsilon]), np.array([up, even, max(0.0, 1 - up - even)]))


def of_table(masses: Floats, shift: int) -> Losses:
    """Those of noise with these masses on consecutive points, shifted by so many of them."""
    moved = np.concatenate([masses[shift:], np.zeros(min(shift, len(masses)))])[: len(masses)]
    impossible = float(np.sum(masses[moved <= 0])) + max(0.0, 1 - float(np.sum(masses)))
    possible = (masses > 0) & (moved > 0)
    found = masses[possible]
    return _drawn_together(np.log(found) - np.log(moved[possible]), found, impossible if impossible > _TINY else 0.0)


def _drawn_together(values: Floats, masses: Floats, infinite: float) -> Losses:
    """The losses, those of a small cell at their mean where there are many."""
    if len(values) <= _MOST_VALUES:
        return Losses(values, masses, infinite)
    low, high = float(values.min()), float(values.max())
    cells = np.minimum((values - low) * (_MOST_VALUES / max(high - low, _TINY)), _MOST_VALUES - 1).astype(np.int64)
    weights: Floats = np.asarray(np.bincount(cells, masses, _MOST_VALUES), dtype=np.float64)
    seen = weights > 0
    means = np.bincount(cells, masses * values, _MOST_VALUES)[seen] / weights[seen]
    return Losses(np.asarray(means), weights[seen], infinite)


def of_law(law: Any, reach: float, spread: float) -> Losses:
    """Those of smooth noise of about this spread, shifted by the reach."""
    wide = spread > _POINTS_PER_SPREAD * reach
    per = max(_POINTS_PER_SHIFT, math.ceil(_POINTS_PER_SPREAD * reach / spread))
    step = spread / _POINTS_PER_SPREAD if wide else reach / per
    points = 64
    while points < _MOST_POINTS and float(law.sf(points * step, FLOATS)) > _TINY:
        points *= 2
    tails = tail_array(law, np.arange(points + 1, dtype=np.float64) * step)
    side = tails[:-1] - tails[1:]
    line = np.concatenate([side[::-1], side])
    return _between(line, reach / step) if wide else of_table(line, per)


def on_integers(falls: Callable[[Floats], Floats], rate: float, shift: int) -> Losses:
    """Those of noise whose mass at k and at -k is e^-falls(k) of that at 0, for falls of about rate k or faster."""
    k = np.arange(min(_MOST_POINTS, math.ceil(_FAR / rate)) + shift, dtype=np.float64)
    side = np.exp(-falls(k))
    line = np.concatenate([side[:0:-1], side])
    return of_table(line[line > _LEAST] / line.sum(), shift)


def _between(masses: Floats, shift: float) -> Losses:
    """Those of a shift by less than a point, from two derivatives of the logarithms of the masses."""
    found = masses[masses > 0]
    slopes = np.gradient(np.log(found))
    return Losses(-shift * (slopes + shift / 2 * np.gradient(slopes)), found)


@singledispatch
def tail_array(law: Any, x: Floats) -> Floats:
    """P(X > x) for each x >= 0, in floats."""
    return np.array([float(law.sf(float(v), FLOATS)) for v in x])


@tail_array.register
def _gaussian_tail(law: Gaussian, x: Floats) -> Floats:
    return power_tail(x / (float(law.std) * math.sqrt(2)), np.asarray(2.0))


@tail_array.register
def _generalized_gaussian_tail(law: GeneralizedGaussian, x: Floats) -> Floats:
    return power_tail(x / float(law.scale), np.asarray(float(law.power)))


@tail_array.register
def _logistic_tail(law: Logistic, x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(np.minimum(x / float(law.scale), 700.0))))


def largest_rate(fits: Callable[[float], bool], guess: float, tolerance: float) -> float:
    """The largest rate that fits, to a relative tolerance; the returned one was tried."""
    low, high = guess, guess
    while not fits(low):
        low, high = low / 2, low
        if low < _SMALLEST_RATE:
            raise InvalidPrivacyError("no noise of this family fits so many releases into the total.")
    while high <= low:
        high = low * 2
        if fits(high):
            low = high
    return first_true(fits, high, low, relative=tolerance, middle=geometric)


def first_guess(epsilon: float, delta: float, count: int) -> float:
    """About the epsilon of one release."""
    return epsilon / math.sqrt(count * (1 + 2 * math.log(1 / delta) * (count > 1)))


def pair_rate(epsilon: float, delta: float, count: int, tolerance: float = 1e-5) -> float:
    """The largest epsilon of each of so many purely private releases that fits the total, whatever they are."""
    guess = first_guess(epsilon, delta, count)
    found = largest_rate(lambda rate: composed(pair(rate), count, epsilon) <= delta, guess, tolerance)
    return max(found, epsilon / count)


# The laws, each at the largest rate that fits.


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


# The law of cells that is best for a plan.


_MOST_TABLE_CELLS = 4_000
_FEWEST = 4
"""In a shorter plan purely private noise is hard to beat."""
_TABLE_DEVIATIONS = 9.0
_WEIGHT_BITS = 160
_NEGLIGIBLE = 1e-3
_TILTS, _STEEPEST_TILT = 8, 1e3
_PRICE, _MOST_PRICES = 0.5, 20
_STEEPNESS = 25
"""About how much faster delta falls than the noise grows."""


def tailored_for(plan: Plan) -> Iterator[Candidate]:
    """The law of cells that a convex programme finds for the plan itself; a rate below 1 asks for less delta."""
    query, reach = plan.query, plan.query.sensitivity
    if plan.utility.confidence is not None or (query.integer and reach > 1):
        return
    spread = float(plan.std / reach)
    per = 1  # smaller cells would be linked by the whole sensitivity only, and could become a comb
    cells = math.ceil(_TABLE_DEVIATIONS * spread * per)
    if not 2 <= cells <= _MOST_TABLE_CELLS or plan.count < _FEWEST:
        return
    grid = Grid(per, cells, HALF if query.integer else Fraction(0))
    start = np.exp(-(((np.arange(cells) + 0.5 - float(grid.edge)) / (per * spread)) ** 2) / 2)
    search = _Tailor(plan, grid, cell_costs(grid, query, plan.utility))
    found = search.best(search.line(start))
    if found is None:
        return
    width = Fraction(1) if query.integer else reach / per
    least = float(plan.privacy.delta) / plan.count * _NEGLIGIBLE

    def made(rate: float) -> Additive:
        line = found[0] if rate == 1 else search.priced(*found, rate**_STEEPNESS)
        law = Tabulated(width, _weights((found[0] if line is None else line)[-cells:], least), grid.edge)
        return on_table(query, law, float(plan.std))

    yield Candidate("tailored for the plan", 6, 1.0, made)


@dataclass(frozen=True, slots=True)
class _Tailor:
    """The search for the masses on a line of cells that cost least in a plan."""

    plan: Plan
    grid: Grid
    costs: Floats

    def line(self, half: Floats) -> Floats:
        """Both sides of it, of mass one where they are masses."""
        return np.asarray(np.concatenate([half[:0:-1] if self.grid.edge else half[::-1], half]))

    def best(self, start: Floats) -> tuple[Floats, float] | None:
        """The cheapest masses found, and their tilt: each is that of the masses before."""
        masses, found, least = start / start.sum(), None, math.inf
        for _ in range(_TILTS):
            tilt = mean_tilt(of_table(masses, self.grid.per), float(self.plan.privacy.epsilon) / self.plan.count)
            if not 0 < tilt < _STEEPEST_TILT:
                break
            priced = self.priced(masses, tilt, 1.0)
            cost = math.inf if priced is None else float(priced @ self.line(self.costs))
            if priced is None or cost > least * (1 - _TOLERANCE):
                break
            masses, least, found = priced, cost, (priced, tilt)
        return found

    def priced(self, masses: Floats, tilt: float, share: float) -> Floats | None:
        """The cheapest masses at a tilt whose plan stays within this share of delta: the price of losses decides."""
        costs, shift, target = self.line(self.costs), self.grid.per, share * self.plan.target
        held: list[Floats] = []

        def holds(log_price: float) -> bool:
            tried = cheapest_at_tilt(held[-1] if held else masses, costs, shift, tilt, math.exp(log_price))
            if self.plan.delta(of_table(tried, shift)) > target:
                return False
            held.append(tried)
            return True

        bend = tilt * (1 + tilt) * float(self.plan.query.sensitivity / self.plan.std) ** 2
        price = math.log(2 * float(masses @ costs) / bend) - bend / 2
        passes = next((price + _PRICE * i for i in range(_MOST_PRICES) if holds(price + _PRICE * i)), None)
        if passes is None:
            return None
        fails = passes - _PRICE
        for _ in range(_MOST_PRICES if passes == price else 0):
            if not holds(fails):
                break
            fails, passes = fails - _PRICE, fails
        first_true(holds, fails, passes, within=_COARSE)
        return held[-1]


def _weights(half: Any, least: float) -> tuple[int, ...]:
    """Whole weights that fall outward, without the cells at the end that weigh next to nothing together."""
    beyond = np.cumsum(half[::-1])[::-1]
    kept = np.minimum.accumulate(half[: max(1, int(np.sum(beyond > least)))])
    return tuple(max(1, int(float(v) * 2.0**_WEIGHT_BITS)) for v in kept)
