"""Shells, folds and bumps: sums and reaches that proofs rely on, written out term by term."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from noisewright.laws.bumps import FLAT, Part, Plateau, Quartic, Sine, Steps, Tent
from noisewright.laws.formula import FormulaFold
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.shells import ShellRadius, shifted_sum, tail_sum
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.two_fold import (
    Atoms,
    Ensemble,
    Fold,
    GammaFold,
    NoncentralChiSquaredFold,
    RayleighFold,
    TruncatedNormalFold,
    UniformFold,
    two_point_fold,
)
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidLawError
from noisewright.proof.mixtures import convergence_radius

HALF = Fraction(1, 2)


def terms(rate: float, power: int, offset: float, start: int = 0) -> float:
    """Sum over r >= start of (r + offset)^power e^(-rate r)."""
    return math.fsum(
        math.exp(power * math.log(r + offset) - rate * r) for r in range(start, start + 4000) if r + offset
    )


@pytest.mark.parametrize("start", [0, 1, 7, 60])
@pytest.mark.parametrize(("rate", "power"), [("1/2", 1), ("1/3", 6), ("2", 24), ("3/2", 25), ("5/2", 40)])
def test_sums_over_shells_are_sums_of_their_terms(rate: str, power: int, start: int):
    """Powers up to 24 have a closed form; larger ones are added up, before, inside and after their window."""
    wanted = terms(float(Fraction(rate)), power, 0.5, start) * 2.0**power
    with precision():
        found = tail_sum(Fraction(rate), power, start, 128)
        assert float(lower(found)) <= wanted * (1 + 1e-11)
        assert float(upper(found)) >= wanted * (1 - 1e-11)
        assert float(found.mid()) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("offset", ["0", "1/3", "1"])
@pytest.mark.parametrize("power", [1, 3, 25])
def test_shifted_sums_are_sums_of_their_terms(offset: str, power: int):
    with precision():
        found = shifted_sum(Fraction(1, 2), Fraction(offset), power)
    assert float(found.mid()) == pytest.approx(terms(0.5, power, float(Fraction(offset))), rel=1e-9)


@pytest.mark.parametrize(("size", "rate"), [(1, "1/2"), (3, "1"), (30, "2")])
def test_the_radius_of_shaped_noise_weighs_each_shell_by_its_cube(size: int, rate: str):
    """(2r+1)^size e^(-rate r): a cube of points for every radius."""
    law, fade = ShellRadius(size, Fraction(rate)), float(Fraction(rate))
    logs = np.array([size * math.log(2 * r + 1) - fade * r for r in range(2000)])
    weights = np.exp(logs - logs.max())
    masses = weights / weights.sum()
    peak = int(np.argmax(masses))
    with precision():
        for k in {0, 1, peak, peak + 3, peak + 20}:
            assert float(law.mass(k, BALLS).mid()) == pytest.approx(masses[k], rel=1e-9, abs=1e-14)
            assert float(law.sf(k, BALLS).mid()) == pytest.approx(masses[k + 1 :].sum(), rel=1e-9, abs=1e-14)
            assert law.cdf(k, FLOATS) == pytest.approx(masses[: k + 1].sum(), rel=1e-9)
            assert law.mass(k, FLOATS) == pytest.approx(masses[k], rel=1e-7, abs=1e-12)
        assert law.cdf(-1, BALLS).is_zero()
        assert (law.sf(-1, BALLS) - 1).is_zero()
        for power in (1, 2):
            wanted = float(np.sum(masses * (2.0 * np.arange(2000) + 1) ** power))
            assert float(law.moment(power).mid()) == pytest.approx(wanted, rel=1e-9)
    first, last = law.span()
    assert masses[first : last + 1].sum() > 1 - 1e-6


STEPS = Steps((Fraction(-1, 2), Fraction(-1, 5), Fraction(0), Fraction(2, 5)), (Fraction(1), Fraction(4), Fraction(2)))
PARTS: dict[str, Part] = {
    "plateau": Plateau(Fraction(3, 10)),
    "sine": Sine(Fraction(3, 10)),
    "tent": Tent(Fraction(3, 10)),
    "quartic": Quartic(Fraction(1, 4)),
    "flat": FLAT,
    "steps": STEPS,
}


@pytest.mark.parametrize("name", PARTS)
def test_the_extremes_of_a_part_are_reached(name: str):
    """Neither end of the range of densities may be too narrow, nor needlessly wide."""
    part = PARTS[name]
    low, high = part.extremes(FLOATS)
    places = np.linspace(float(part.low), float(part.high), 2001)[1:-1]
    values = [float(part.density(float(z), FLOATS)) for z in places]
    assert min(values) == pytest.approx(float(low), abs=0.01 * float(high))
    assert max(values) == pytest.approx(float(high), rel=0.01)
    assert float(low) <= min(values) + 1e-12
    assert max(values) <= float(high) + 1e-12


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_nothing_outside_its_support_and_keeps_its_mean_beyond_it(name: str):
    part = PARTS[name]
    if name not in ("quartic",):
        for z in (part.low - 1, part.high + 1):
            assert part.density(z, FLOATS) == 0
    for z in (part.low, part.low - 2):
        assert part.spread(z, FLOATS) == pytest.approx(0, abs=1e-15)
    for z in (part.high, part.high + 2):
        assert part.spread(z, FLOATS) == pytest.approx(float(z - part.centre))


def test_a_step_density_has_its_own_centre_and_square():
    """Mass 0.3 at 1, 0.2 at 4, 0.4 at 2: altogether 1.9."""
    cells = [(-0.5, -0.2, 1), (-0.2, 0, 4), (0, 0.4, 2)]
    mean = sum(h * (b**2 - a**2) / 2 for a, b, h in cells) / 1.9
    square = sum(h * (b**3 - a**3) / 3 for a, b, h in cells) / 1.9
    assert float(STEPS.total) == pytest.approx(1.9)
    assert float(STEPS.centre) == pytest.approx(mean)
    assert STEPS.second_moment(FLOATS) == pytest.approx(square)
    assert [STEPS.density(z, FLOATS) * 1.9 for z in (-0.4, -0.1, 0.3)] == pytest.approx([1, 4, 2])


ENSEMBLE = Ensemble(
    (Fraction(1), Fraction(2), HALF),
    (GammaFold(Fraction(2), Fraction(1, 3)), GammaFold(Fraction(1), Fraction(1, 5)), RayleighFold(Fraction(1))),
)


def test_the_reaches_of_an_ensemble_are_those_of_its_worst_parts():
    """E e^(su) of a u_1 + b u_2 needs a s < 3 and b s < 5; inverse moments add up."""
    assert convergence_radius(ENSEMBLE) == Fraction(5, 2)
    assert ENSEMBLE.inverse_reach == 5
    away = Ensemble((Fraction(3),), (UniformFold(Fraction(1, 4), Fraction(1)),))
    assert away.lowest == Fraction(3, 4)
    assert away.inverse_reach is None
    assert ENSEMBLE.lowest == 0


@pytest.mark.parametrize(
    ("fold", "lowest", "inverse", "exponential"),
    [
        (Atoms((Fraction(3), HALF), (HALF, HALF)), HALF, None, None),
        (GammaFold(Fraction(5, 2), Fraction(1, 3)), 0, Fraction(5, 2), 3),
        (UniformFold(Fraction(0), Fraction(2)), 0, 1, None),
        (UniformFold(Fraction(1), Fraction(2)), 1, None, None),
        (NoncentralChiSquaredFold(Fraction(5), Fraction(3), Fraction(1, 4)), 0, Fraction(5, 2), 2),
        (RayleighFold(Fraction(2)), 0, 2, None),
        (TruncatedNormalFold(Fraction(1), Fraction(1), Fraction(0), None), 0, 1, None),
        (TruncatedNormalFold(Fraction(1), Fraction(1), Fraction(1, 4), None), Fraction(1, 4), None, None),
        (FormulaFold("(1 + x)**-3 * exp(-2*x)", HALF), 1, None, 0),
        (FormulaFold("(1 + 2*x)**-3 * (1 + x)**-2", HALF), 0, 5, 0),
    ],
    ids=repr,
)
def test_what_a_fold_says_of_its_tails(fold, lowest, inverse, exponential):
    assert fold.lowest == lowest
    assert fold.inverse_reach == inverse
    assert convergence_radius(fold) == exponential


def test_a_two_point_fold_gives_its_weight_to_the_low_rate():
    fold = two_point_fold(HALF, Fraction(3), Fraction(1, 10))
    for x in (0.0, 0.4, 2.0):
        assert fold.transform(x, FLOATS) == pytest.approx(0.1 * math.exp(-x / 2) + 0.9 * math.exp(-3 * x))
        assert fold.slope(x, FLOATS) == pytest.approx(0.05 * math.exp(-x / 2) + 2.7 * math.exp(-3 * x))
    assert fold.inverse_moment(Fraction(2), FLOATS) == pytest.approx(0.4 + 0.1)


def of_logarithm(t: float, fold: Fold, exponent: float) -> float:
    """x^exponent L(x) at x = e^t."""
    return math.exp(exponent * t) * float(fold.transform(math.exp(t), FLOATS))


@pytest.mark.parametrize("power", ["1/2", "3/2"])
def test_inverse_moments_are_integrals_of_the_transform(power: str):
    """E u^(-p) = 1/Gamma(p) times the integral of x^(p-1) L(x); here by quadrature, there by chords and tangents."""
    exponent = float(Fraction(power))
    for fold in (
        FormulaFold("(1 + x)**-3 * exp(-2*x)", HALF),
        FormulaFold("(1 + 2*x)**-3 * (1 + x)**-2", HALF),
        UniformFold(Fraction(1, 2), Fraction(3)),
        NoncentralChiSquaredFold(Fraction(5), Fraction(3), Fraction(1, 3)),
        TruncatedNormalFold(Fraction(1), Fraction(1), Fraction(1, 4), Fraction(4)),
    ):
        area = 0.0
        for a, b in ((-30.0, -4.0), (-4.0, 0.0), (0.0, 3.0), (3.0, 8.0), (8.0, 30.0)):
            area += quad(of_logarithm, a, b, args=(fold, exponent), limit=200)[0]
        wanted = area / math.gamma(exponent)
        assert float(fold.inverse_moment(Fraction(power), FLOATS)) == pytest.approx(wanted, rel=3e-3)
        with precision():
            found = fold.inverse_moment(Fraction(power), BALLS)
            assert float(lower(found)) <= wanted * (1 + 1e-6)
            assert float(upper(found)) >= wanted * (1 - 1e-6)


@pytest.mark.parametrize(
    "formula",
    [
        "exp(-x) + 1",
        "1/x",
        "x**-1",
        "log(1 + x)",
        "exp(-log(x))",
        "exp(-x)*x",
        "(exp(-x))**-1",
        "(exp(-x))**0.5",
        "log(0.5 + x)**-1",
        "exp(-x) - 1",
        "(1 + x)**0.5",
        "exp(1 - x)**-2",
        "0*exp(-x)",
        "exp(-x)*exp(x)",
        "-exp(-x)",
        "1/(1 + x) - 1/(2 + x)",
        "3*exp(-x) - exp(-2*x)",
        "exp(-2*x) - 3*exp(-x)",
    ],
)
def test_formulas_beyond_the_closure_rules_are_refused(formula: str):
    with pytest.raises(InvalidLawError):
        FormulaFold(formula)


@pytest.mark.parametrize(
    ("formula", "value", "slope"),
    [
        ("3*(2 + x)**-2", lambda x: 4 / (2 + x) ** 2, lambda x: 8 / (2 + x) ** 3),
        ("exp(-x)/(1 + x)", lambda x: math.exp(-x) / (1 + x), lambda x: math.exp(-x) * (2 + x) / (1 + x) ** 2),
        ("(exp(-x))**3", lambda x: math.exp(-3 * x), lambda x: 3 * math.exp(-3 * x)),
        ("(1 + (1 + x)**0.5)**-4", lambda x: 16 / (1 + (1 + x) ** 0.5) ** 4, None),
        ("exp(1 - (1 + x)**0.5 - x)", None, None),
    ],
)
def test_values_and_slopes_of_formulas(formula: str, value, slope):
    if value is None:
        with pytest.raises(InvalidLawError):
            FormulaFold(formula)
        return
    fold = FormulaFold(formula, Fraction(2))
    for x in (0.0, 0.3, 2.0):
        assert float(fold.transform(x, FLOATS)) == pytest.approx(value(2 * x), rel=1e-12)
        if slope is not None:
            assert float(fold.slope(x, FLOATS)) == pytest.approx(2 * slope(2 * x), rel=1e-12)


@pytest.mark.parametrize(
    ("formula", "lowest"),
    [
        ("exp(-x)*exp(-2*x)", 3),
        ("2*exp(-x) + exp(-3*x)", 1),
        ("(exp(-x))**3", 3),
        ("exp(-(x + 2*x))", 3),
        ("exp(-x) / (1 + x)", 1),
        ("exp(-x) + (1 + x)**-2", 0),
        ("exp(-x/2)", HALF),
    ],
)
def test_a_product_falls_as_fast_as_its_factors_together(formula: str, lowest: Fraction):
    """And a sum only as fast as its slowest term: no rate lies below what is said."""
    fold = FormulaFold(formula, Fraction(2))
    assert fold.lowest == 2 * lowest
    for x in (1.0, 20.0):
        assert float(fold.transform(x, FLOATS)) <= math.exp(-2 * float(lowest) * x) * (1 + 1e-12)


def test_a_slow_tail_beyond_the_last_cell_is_part_of_the_enclosure():
    """L(x) = 1/(1 + x) and power 99/100: over half of the integral lies beyond any cell. E u^(-p) = Gamma(1 - p)."""
    with precision():
        found = FormulaFold("(1 + x)**-1").inverse_moment(Fraction(99, 100), BALLS)
        assert float(lower(found)) <= math.gamma(0.01) <= float(upper(found))


@pytest.mark.parametrize(
    ("breaks", "step", "edge", "fits"),
    [
        (("-1/3", "2/3"), "1/2", 0, False),
        (("-1/3", "2/3"), "1/3", 0, True),
        (("-1/2", "1/2"), "1", 0, False),
        (("-1/2", "1/2"), "1", HALF, True),
        (("-1/2", "1/2"), "1/4", 0, True),
        (("0", "1"), "1", HALF, False),
        (("-1/2", "1/2"), "2/3", HALF, False),
    ],
)
def test_every_jump_of_a_piecewise_law_falls_on_an_edge(breaks, step: str, edge, fits: bool):
    """One cell that repeats on both sides: its two ends are all the jumps there are."""
    law = Piecewise(
        rate=Fraction(1),
        period=Fraction(1),
        breaks=tuple(map(Fraction, breaks)),
        levels=(Fraction(0),),
        left_cells=1,
        right_cells=1,
    )
    assert law.aligned(Fraction(step), Fraction(edge)) is fits


@pytest.mark.parametrize("x", ["1e-9", "1e-5", "3e-4", "1e-3"])
def test_slopes_keep_their_digits_near_zero(x: str):
    """E u e^(-ux) of uniform rates between 0 and 2, by its series: the sum of (-x)^k 2^(k+1) / ((k+2) k!)."""
    place = Fraction(x)
    wanted = sum((-place) ** k * Fraction(2 ** (k + 1), (k + 2) * math.factorial(k)) for k in range(12))
    assert UniformFold(Fraction(0), Fraction(2)).slope(float(place), FLOATS) == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize(
    ("width", "edge", "step", "fits"),
    [
        ("1", 0, "1/3", True),
        ("1", 0, "2/3", False),
        ("1", 0, "2", False),
        ("1", HALF, "1", True),
        ("1", HALF, "1/2", False),
        ("3", HALF, "1", True),
        ("2", HALF, "1", False),
        ("1", HALF, "2/3", False),
    ],
)
def test_every_jump_of_a_tabulated_law_falls_on_an_edge(width: str, edge, step: str, fits: bool):
    """Cells centred on lattice points hold an odd number of steps, else their ends lie in the middle of a cell."""
    law = Tabulated(Fraction(width), (3, 1), Fraction(edge))
    assert law.aligned(Fraction(step), Fraction(edge)) is fits
    assert not law.aligned(Fraction(step), HALF - edge)


@pytest.mark.parametrize(
    "fold",
    [
        GammaFold(Fraction(5, 2), Fraction(1, 3)),
        UniformFold(Fraction(0), Fraction(2)),
        NoncentralChiSquaredFold(Fraction(5), Fraction(3), Fraction(1, 4)),
        RayleighFold(Fraction(2)),
        TruncatedNormalFold(Fraction(1), Fraction(1), Fraction(0), None),
        ENSEMBLE,
        FormulaFold("(1 + 2*x)**-3 * (1 + x)**-2", HALF),
    ],
    ids=repr,
)
def test_inverse_moments_end_exactly_at_their_reach(fold):
    reach = fold.inverse_reach
    assert float(fold.inverse_moment(reach, FLOATS)) == math.inf
    assert float(fold.inverse_moment(reach + 1, FLOATS)) == math.inf
    assert float(fold.inverse_moment(reach * Fraction(3, 4), FLOATS)) < math.inf
    with precision():
        assert not fold.inverse_moment(reach, BALLS).is_finite()
