"""Densities, tails and moments of smooth laws against formulas and sums from elsewhere, never against themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, fmpq
from scipy import stats
from scipy.integrate import quad

from noisewright.laws.base import bracket_crossing
from noisewright.laws.gaussian import DiscreteGaussian, Gaussian, GaussianMixture, GeneralizedGaussian
from noisewright.laws.hyperbolic import Logistic
from noisewright.laws.laplace import Laplace, TruncatedLaplace
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.laws.tabulated import Tabulated
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import UncertifiedError

HALF = Fraction(1, 2)


class Cut:
    """Laplace law of scale 1.5 on [-2, 2], by hand."""

    whole = 2 * 1.5 * -math.expm1(-2 / 1.5)

    def pdf(self, x: float) -> float:
        return math.exp(-abs(x) / 1.5) / self.whole if abs(x) <= 2 else 0.0

    def sf(self, x: float) -> float:
        return quad(self.pdf, x, 2, points=[0] if x < 0 else None)[0] if x < 2 else 0.0


CONTINUOUS: dict[str, tuple[Any, Any]] = {
    "gaussian": (Gaussian(Fraction(3, 2)), stats.norm(scale=1.5)),
    "mixture": (GaussianMixture((HALF, Fraction(3)), (Fraction(1, 5), Fraction(4, 5))), None),
    "sharp": (GeneralizedGaussian(HALF, Fraction(3, 2)), stats.gennorm(0.5, scale=1.5)),
    "blunt": (GeneralizedGaussian(Fraction(5, 2), Fraction(3, 2)), stats.gennorm(2.5, scale=1.5)),
    "logistic": (Logistic(Fraction(3, 2)), stats.logistic(scale=1.5)),
    "laplace": (Laplace(Fraction(3, 2)), stats.laplace(scale=1.5)),
    "truncated laplace": (TruncatedLaplace(Fraction(3, 2), Fraction(2)), Cut()),
}
PLACES = (-4.0, -1.9, -0.3, 0.0, 0.2, 1.0, 1.9, 3.5)


def known_density(name: str, x: float) -> float:
    if name == "mixture":
        return 0.2 * stats.norm(scale=0.5).pdf(x) + 0.8 * stats.norm(scale=3).pdf(x)
    return float(CONTINUOUS[name][1].pdf(x))


def known_tail(name: str, x: float) -> float:
    if name == "mixture":
        return 0.2 * stats.norm(scale=0.5).sf(x) + 0.8 * stats.norm(scale=3).sf(x)
    return float(CONTINUOUS[name][1].sf(x))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_densities_and_tails_are_those_of_the_textbook(name: str):
    law = CONTINUOUS[name][0]
    for x in PLACES:
        assert law.density(x, FLOATS) == pytest.approx(known_density(name, x), rel=1e-7)
        assert law.sf(x, FLOATS) == pytest.approx(known_tail(name, x), rel=1e-7, abs=1e-12)
        assert law.cdf(x, FLOATS) == pytest.approx(1 - known_tail(name, x), rel=1e-7, abs=1e-9)
        exact = Fraction(x)
        with precision():
            assert float(law.density(exact, BALLS).mid()) == pytest.approx(known_density(name, x), rel=1e-7)
            assert float(law.sf(exact, BALLS).mid()) == pytest.approx(known_tail(name, x), rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("power", ["1", "2", "5/2", "4"])
def test_moments_are_integrals_over_the_density(name: str, power: str):
    law, exponent = CONTINUOUS[name][0], float(Fraction(power))
    pieces = ((0.0, 2.0), (2.0, 30.0), (30.0, 300.0), (300.0, 6000.0))
    wanted = 2 * sum(quad(lambda x: x**exponent * known_density(name, x), a, b, limit=200)[0] for a, b in pieces)
    assert law.moment(Fraction(power), FLOATS) == pytest.approx(wanted, rel=1e-6)
    with precision():
        assert float(law.moment(Fraction(power), BALLS).mid()) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_symmetric_noise_has_no_bias(name: str):
    assert CONTINUOUS[name][0].mean(FLOATS) == 0


def test_a_scaled_mixture_is_wider_in_every_part():
    law = CONTINUOUS["mixture"][0].scaled(Fraction(3))
    for x in (-2.0, 0.5, 4.0):
        assert law.sf(3 * x, FLOATS) == pytest.approx(known_tail("mixture", x))


def normal_masses(std: float, reach: int = 200) -> dict[int, float]:
    weights = {k: math.exp(-k * k / (2 * std * std)) for k in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    return {k: w / total for k, w in weights.items()}


@pytest.mark.parametrize("std", ["0.3", "1", "7/2"])
def test_the_discrete_gaussian_has_the_masses_of_its_sum(std: str):
    law, masses = DiscreteGaussian(Fraction(std)), normal_masses(float(Fraction(std)))
    with precision():
        for k in range(-6, 7):
            tail = math.fsum(m for j, m in masses.items() if j >= k)
            assert law.mass(k, FLOATS) == pytest.approx(masses[k], rel=1e-12)
            assert float(law.mass(k, BALLS).mid()) == pytest.approx(masses[k], rel=1e-12)
            assert law.tail(k, FLOATS) == pytest.approx(tail, rel=1e-11)
            assert float(law.tail(k, BALLS).mid()) == pytest.approx(tail, rel=1e-11)
            # Half way up the cell of k lies half of its mass.
            assert law.sf(k, FLOATS) == pytest.approx(tail - masses[k] / 2, rel=1e-11)
            assert law.sf(k - 0.5, FLOATS) == pytest.approx(tail, rel=1e-11)
            assert law.cdf(k, FLOATS) == pytest.approx(1 - tail + masses[k] / 2, rel=1e-11)
            assert law.density(k + 0.4, FLOATS) == pytest.approx(masses[k], rel=1e-12)
        for power in (1, Fraction(5, 2)):
            wanted = math.fsum(m * abs(k) ** float(power) for k, m in masses.items())
            assert law.moment(power, FLOATS) == pytest.approx(wanted, rel=1e-11)
            assert float(law.moment(power, BALLS).mid()) == pytest.approx(wanted, rel=1e-11)


def test_tails_of_the_discrete_gaussian_beyond_its_table_are_enclosed():
    law = DiscreteGaussian(Fraction(1, 2))
    with precision():
        for k in (9, 20, 60):
            tail = law.tail(k, BALLS)
            near = sum((law.mass(j, BALLS) for j in range(k + 1, k + 9)), law.mass(k, BALLS))
            assert lower(tail) <= upper(near)
            assert upper(tail) >= lower(near)
            assert upper(tail) <= upper(near) * (1 + Fraction(1, 10**6))


def test_far_tails_of_a_wide_discrete_gaussian_hold_more_than_their_first_term():
    law = DiscreteGaussian(Fraction(30))
    with precision():
        first = len(law._tails(BALLS)[1])
        for k in (first, first + 40):
            tail = law.tail(k, BALLS)
            near = sum((law.mass(j, BALLS) for j in range(k + 1, k + 200)), law.mass(k, BALLS))
            assert upper(tail) >= lower(near) > 1.2 * upper(law.mass(k, BALLS))
            assert lower(tail) <= upper(near)


@pytest.mark.parametrize(("epsilon", "shift"), [("1", 1), ("1/2", 3), ("3", 2), ("1/100", 1), ("9/8", 3)])
def test_the_first_value_that_tells_too_much_is_found(epsilon: str, shift: int):
    """ln of the masses of k and k + shift differs by (2 k shift + shift^2) / (2 std^2), in rationals."""
    law = DiscreteGaussian(Fraction(2))
    found = law.first_above(Fraction(epsilon), shift)

    def above(k: int) -> bool:
        return Fraction(2 * k * shift + shift**2, 8) > Fraction(epsilon)

    assert above(found)
    assert not above(found - 1)


LOPSIDED_WEIGHTS = (5, 0, 7, 2)


@pytest.mark.parametrize("edge", [0, HALF])
def test_tabulated_cells_are_mirrored_without_loss(edge):
    """Every cell from far left to far right, and the middle of each, against running sums."""
    width = Fraction(1) if edge else Fraction(2, 3)
    law = Tabulated(width, LOPSIDED_WEIGHTS, Fraction(edge))
    line = [2, 7, 0, 5, 0, 7, 2] if edge else [2, 7, 0, 5, 5, 0, 7, 2]
    first = -3 if edge else -4
    total = sum(line)
    assert law.total == total
    padded = dict(enumerate([0, 0, *line, 0, 0], first - 2))
    for k, weight in padded.items():
        assert law.weight(k) == weight
        above = sum(w for j, w in padded.items() if j >= k)
        start = (k - edge) * width
        for part in (Fraction(0), Fraction(1, 4), Fraction(9, 10)):
            x = start + part * width
            assert law.sf(x, FLOATS) == float((above - part * weight) / Fraction(total))
            assert law.cdf(x, FLOATS) == pytest.approx(float(1 - (above - part * weight) / total), abs=1e-15)
            assert law.density(x, FLOATS) == pytest.approx(float(Fraction(weight, total) / width))


@pytest.mark.parametrize("power", ["1", "2", "5/2"])
def test_moments_of_tabulated_laws_are_sums_over_their_cells(power: str):
    exponent = float(Fraction(power))
    whole = Tabulated(Fraction(1), LOPSIDED_WEIGHTS, HALF)
    wanted = sum(2 * w * k**exponent for k, w in enumerate(LOPSIDED_WEIGHTS)) / 23
    assert whole.moment(Fraction(power), FLOATS) == pytest.approx(wanted)
    real = Tabulated(Fraction(2, 3), LOPSIDED_WEIGHTS, Fraction(0))
    cells = [(w, k * 2 / 3, (k + 1) * 2 / 3) for k, w in enumerate(LOPSIDED_WEIGHTS)]
    wanted = sum(w * (b ** (exponent + 1) - a ** (exponent + 1)) / (exponent + 1) / (2 / 3) for w, a, b in cells) / 14
    assert real.moment(Fraction(power), FLOATS) == pytest.approx(wanted)


LATTICES = [Lattice.cells(Fraction(3, 4)), Lattice.integers()]


@pytest.mark.parametrize("lattice", LATTICES, ids=["cells", "integers"])
def test_rounded_noise_has_the_mass_between_the_ends_of_its_cell(lattice: Lattice):
    law = Rounded(GaussianMixture((HALF, Fraction(3)), (Fraction(1, 5), Fraction(4, 5))), lattice)
    step, edge = float(lattice.step), float(lattice.edge)
    for k in range(-5, 5):
        low, high = (k - edge) * step, (k + 1 - edge) * step
        wanted = known_tail("mixture", low) - known_tail("mixture", high)
        assert law.mass(k, FLOATS) == pytest.approx(wanted, rel=1e-9)
        assert law.sf(k, FLOATS) == pytest.approx(known_tail("mixture", high), rel=1e-9)
        assert law.cdf(k, FLOATS) == pytest.approx(1 - known_tail("mixture", high), rel=1e-9)


@pytest.mark.parametrize("step", ["1", "2/7"])
def test_values_fall_into_the_cell_that_begins_at_or_below_them(step: str):
    cells = Lattice.cells(Fraction(step))
    for k in range(-3, 3):
        assert cells.index(k * cells.step) == k
        assert cells.index((k + Fraction(999, 1000)) * cells.step) == k
        assert cells.lower_edge(k) == k * cells.step
        assert cells.centre(k) == (k + HALF) * cells.step
        assert cells.released(k, 2) == (k + 3) * cells.step
    whole = Lattice.integers()
    for k in range(-3, 3):
        assert whole.index(k - HALF) == whole.index(k + Fraction(49, 100)) == k
        assert whole.released(k, -2) == k - 2
        assert (whole.lower_edge(k), whole.centre(k)) == (k - HALF, Fraction(k))


LOG_DENSITIES: dict[str, tuple[Any, Callable[[float], float]]] = {
    "gaussian": (Gaussian(Fraction(3, 2)), lambda x: -x * x / (2 * 1.5**2)),
    "laplace": (Laplace(Fraction(3, 2)), lambda x: -abs(x) / 1.5),
    "power 1": (GeneralizedGaussian(Fraction(1), Fraction(3, 2)), lambda x: -abs(x) / 1.5),
    "power 2": (GeneralizedGaussian(Fraction(2), Fraction(3, 2)), lambda x: -((x / 1.5) ** 2)),
    "power 5/2": (GeneralizedGaussian(Fraction(5, 2), Fraction(3, 2)), lambda x: -(abs(x / 1.5) ** 2.5)),
    "logistic": (Logistic(Fraction(3, 2)), lambda x: -abs(x) / 1.5 - 2 * math.log1p(math.exp(-abs(x) / 1.5))),
}


@pytest.mark.parametrize("name", LOG_DENSITIES)
@pytest.mark.parametrize("shift", ["1/3", "1", "4"])
@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "2"])
def test_the_likelihood_ratio_passes_epsilon_where_it_is_said_to(name: str, shift: str, epsilon: str):
    """A little to the left the log-ratio is at most epsilon, a little to the right it is above, if it ever is."""
    law, log_density = LOG_DENSITIES[name]
    move, limit = float(Fraction(shift)), float(Fraction(epsilon))

    def drop(x: float) -> float:
        return log_density(x) - log_density(x + move)

    found = law.crossing(Fraction(epsilon), Fraction(shift))
    if found is None:
        assert drop(1e3) <= limit + 1e-9
        return
    low, high = map(float, found)
    assert low <= high <= low + 1e-9 * (abs(low) + 1)
    assert drop(low - 1e-6) <= limit + 1e-12
    assert drop(high + 1e-6) > limit - 1e-12
    assert drop(high) == pytest.approx(limit, abs=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "shift", "place"),
    [("2", "1", "1"), ("1/2", "1", "-1/8"), ("1/2", "7/2", "-3/2"), ("1/10", "1", "-17/40")],
)
def test_a_cut_law_tells_too_much_at_the_latest_where_the_neighbour_ends(epsilon: str, shift: str, place: str):
    """Scale 3/2, bound 2: the ratio passes epsilon at (epsilon scale - shift) / 2, or where x + shift is beyond 2."""
    law = TruncatedLaplace(Fraction(3, 2), Fraction(2))
    assert law.crossing(Fraction(epsilon), Fraction(shift)) == (Fraction(place), Fraction(place))


def exact(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


@pytest.mark.parametrize("shift", ["1/10000", "1/3", "4"])
@pytest.mark.parametrize("epsilon", ["1/10", "1/5"])
def test_the_crossing_of_a_law_without_a_closed_form_is_enclosed(shift: str, epsilon: str):
    """At 300 bits, at the two rationals themselves: at most epsilon at the first, above it at the second."""
    laws: dict[str, tuple[Any, Callable[[arb], arb]]] = {
        "power 5/2": (
            LOG_DENSITIES["power 5/2"][0],
            lambda x: -((abs(x) / exact(Fraction(3, 2))) ** exact(Fraction(5, 2))),
        ),
        "logistic": (
            LOG_DENSITIES["logistic"][0],
            lambda x: -abs(x) / exact(Fraction(3, 2)) - 2 * (1 + (-abs(x) / exact(Fraction(3, 2))).exp()).log(),
        ),
    }
    move, limit = Fraction(shift), Fraction(epsilon)
    for law, log_density in laws.values():
        found = law.crossing(limit, move)
        if found is None:
            # Logistic noise never tells more than the shift over the scale.
            assert law == Logistic(Fraction(3, 2))
            assert move <= limit * Fraction(3, 2)
            continue
        low, high = found
        assert low < high
        with precision(300):
            drops = [log_density(exact(x)) - log_density(exact(x + move)) for x in (low, high)]
            assert drops[0] <= exact(limit)
            assert drops[1] > exact(limit)


@pytest.mark.parametrize("epsilon", ["3", "-3"])
def test_a_ratio_that_never_passes_epsilon_is_refused(epsilon: str):
    """The log-ratio of logistic noise of scale 3/2 stays strictly between -2/3 and 2/3 for a shift of one."""
    with pytest.raises(UncertifiedError, match="enclosed"):
        bracket_crossing(Logistic(Fraction(3, 2)), Fraction(epsilon), Fraction(1), 0.5)
