"""The composite paper's own parameters, its two algorithms and its two rates, against integrals made by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.lab.composite.parameters import Setting, enumeration
from noisewright.laws.bumps import FLAT, Plateau, Quartic, Sine, Steps, Tent
from noisewright.mechanisms.bounded.composite import FUNCTIONS
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.search.designers.bounded import closed_forms
from noisewright.search.families.shapes import bent_base

F = Fraction
ASKED = nw.Scalar(1, inputs=(0, 1), outputs=(-40, 41), unbiased=True)
ONE = nw.PureDP(1)
STAIRS = Steps((F(-1), F(0), F(1, 3)), (F(1), F(4)))
PARTS = [Plateau(F(1, 3)), Sine(F(2, 5)), Tent(F(1, 2)), Quartic(F(2, 3)), FLAT, STAIRS]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_mass_is_the_integral_of_the_density(part: Any):
    for z in (F(-3, 2), part.low, F(-2, 7), F(0), F(1, 5), F(3, 10), part.high, F(2)):
        places = np.linspace(-1.5, float(z), 601)
        heights = [part.density(F(float(p)), FLOATS) for p in (places[1:] + places[:-1]) / 2]
        assert float(part.mass(z, FLOATS)) == pytest.approx(sum(heights) * (places[1] - places[0]), abs=6e-3)
        with precision():
            assert float(part.mass(z, BALLS).mid() if z not in (part.low,) else 0) == pytest.approx(
                float(part.mass(z, FLOATS)), abs=1e-12
            )


def middle_variance(mechanism: Any) -> float:
    """Of an answer in the middle of the range, which has a row of its own on two cells as on many."""
    return float(replace(mechanism, cells=2).profile.at(sum(mechanism.window) / 2, 1))


def printed(function: str, k: float, m: float, y: float, epsilon: float, a: float, x: np.ndarray) -> Any:
    """Equations (26) to (31) with the correct L."""
    area = {"A1": 1.0, "A2": 2 / math.pi, "A3": 0.5}[function[:2]] * k * m
    t = y if function.endswith("B1") else (y + k) / math.exp(epsilon)
    length = (1 - area) / (2 * (4 * y + t) / 5)
    inside = (x >= a) & (x < a + m)
    bump = {
        "A1": np.ones_like(x),
        "A2": np.sin(math.pi / m * (x - a)),
        "A3": 1 - np.abs(2 * (x - a) / m - 1),
    }[function[:2]]
    return (y - (y - t) * (x / length) ** 4 + k * bump * inside) * (np.abs(x) <= length), length


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_setting_is_the_printed_function_mapped_to_the_inputs(function: str):
    setting = nw.mechanisms.CompositeSetting(function, "0.3", "0.7", "0.25")
    mechanism = nw.mechanisms.composite_of(ASKED, privacy=ONE, setting=setting).mechanism
    for answer in (F(0), F(1, 3), F(1, 2), F(1)):
        shift = mechanism.shift(answer)
        length = float(setting.length(F(1)))
        a = length * float(shift + mechanism.activation.low)
        x = np.linspace(-0.999, 0.999, 101)
        heights, found = printed(function, 0.3, 0.7, 0.25, 1.0, a, x * length)
        assert found == pytest.approx(length)
        ours = np.array([float(mechanism.density(answer, F(float(z)), FLOATS)) for z in x])
        away = np.minimum(np.abs(x * length - a), np.abs(x * length - a - 0.7)) > 1e-6
        assert ours[away] == pytest.approx(length * heights[away], rel=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_infimum_with_base_b2_is_t_and_all_of_epsilon_is_spent(function: str):
    setting = nw.mechanisms.CompositeSetting(function, "0.3", "0.7", "0.25")
    certified = nw.mechanisms.composite_of(ASKED, privacy=ONE, setting=setting)
    spent = math.log((0.3 + 0.25) / 0.25) if function.endswith("B1") else 1.0
    assert float(certified.certificate.bound) == pytest.approx(spent, abs=1e-9)
    assert certified.certificate.bound <= 1
    assert -40 <= certified.release(F(1, 2)) <= 41


@pytest.mark.parametrize(
    ("setting", "match"),
    [
        (("A1B1", 2, "0.6", "0.25"), "area"),
        (("A1B1", "0.1", 9, "0.25"), "wide"),
        (("A1B2", 1, "0.1", "0.25"), "lower k"),
    ],
)
def test_settings_that_are_no_density_are_refused(setting: Any, match: str):
    with pytest.raises(nw.errors.InvalidMechanismError, match=match):
        nw.mechanisms.composite_of(ASKED, privacy=ONE, setting=nw.mechanisms.CompositeSetting(*setting))


def test_settings_that_spend_more_than_epsilon_or_leave_the_bounds_are_refused():
    greedy = nw.mechanisms.CompositeSetting("A1B1", "0.6", "0.7", "0.25")
    with pytest.raises(nw.errors.UncertifiedError):
        nw.mechanisms.composite_of(ASKED, privacy=ONE, setting=greedy)
    tight = nw.Scalar(1, inputs=(0, 1), outputs=(-1, 2), unbiased=True)
    modest = nw.mechanisms.CompositeSetting("A1B1", "0.3", "0.7", "0.25")
    with pytest.raises(nw.errors.InvalidMechanismError, match="beyond the bounds"):
        nw.mechanisms.composite_of(tight, privacy=ONE, setting=modest)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_algorithm_one_finds_the_best_of_every_setting_on_its_steps(function: str):
    """Against the same enumeration written as plain loops, and against all settings on one coarse step."""
    steps = ("0.1", "0.02")
    found = nw.mechanisms.enumerate_composite(ASKED, privacy=ONE, function=function, steps=steps)
    looped = enumeration(function[:2], function[2:], 1.0, tuple(float(s) for s in steps))
    assert looped is not None
    assert [float(v) for v in (found.k, found.m, found.y)] == pytest.approx([looped.k, looped.m, looped.y])
    mechanism = nw.mechanisms.composite_of(ASKED, privacy=ONE, setting=found).mechanism
    value = middle_variance(mechanism)
    assert value == pytest.approx(looped.released_variance(), rel=1e-5)
    for k in range(1, 10):
        for m in range(1, 20):
            for y in range(1, 10):
                trial = Setting(function[:2], function[2:], k / 10, m / 10, y / 10, 1.0)
                if trial.allowed() and trial.length / (2 * trial.widest) < 40.5:
                    assert trial.released_variance() >= value * (1 - 1e-5)


def test_algorithm_two_stops_at_a_setting_that_is_good_enough():
    found = nw.mechanisms.search_composite(ASKED, privacy=ONE, target=2)
    mechanism = nw.mechanisms.composite_of(ASKED, privacy=ONE, setting=found).mechanism
    assert middle_variance(mechanism) <= 2
    with pytest.raises(nw.errors.InvalidMechanismError, match="no setting"):
        nw.mechanisms.search_composite(ASKED, privacy=ONE, target="0.5")


def test_the_algorithms_keep_to_the_output_bounds_and_measure_in_the_units_of_the_question():
    tight = nw.Scalar(10, inputs=(20, 30), outputs=(-20, 70), unbiased=True)
    found = nw.mechanisms.enumerate_composite(tight, privacy=nw.PureDP(2), steps=("0.1", "0.02"))
    certified = nw.mechanisms.composite_of(tight, privacy=nw.PureDP(2), setting=found)
    value = middle_variance(certified.mechanism)
    again = nw.mechanisms.search_composite(tight, privacy=nw.PureDP(2), target=value * 1.5, step="0.1")
    second = nw.mechanisms.composite_of(tight, privacy=nw.PureDP(2), setting=again)
    assert middle_variance(second.mechanism) <= 1.5 * value
    narrow = nw.Scalar(10, inputs=(20, 30), outputs=(18, 32), unbiased=True)
    with pytest.raises(nw.errors.InvalidMechanismError, match="no setting"):
        nw.mechanisms.enumerate_composite(narrow, privacy=nw.PureDP(2), steps=("0.1",))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"function": "A4B1"}, nw.errors.InvalidMechanismError),
        ({"steps": ()}, nw.errors.InvalidInputError),
        ({"steps": ("0.001",)}, nw.errors.InvalidInputError),
        ({"steps": ("0.1", "0.00001")}, nw.errors.InvalidInputError),
        ({"privacy": nw.ApproxDP(1, "1e-6")}, nw.errors.InvalidPrivacyError),
        ({"query": nw.Scalar(1)}, nw.errors.InvalidQueryError),
    ],
)
def test_what_the_algorithms_cannot_mean_is_refused(change: dict[str, Any], error: type[Exception]):
    given = {"query": ASKED, "privacy": ONE, **change}
    with pytest.raises(error):
        nw.mechanisms.enumerate_composite(given.pop("query"), **given)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_rates_are_ratios_of_areas(function: str):
    setting = nw.mechanisms.CompositeSetting(function, "0.3", "0.7", "0.25")
    mechanism = nw.mechanisms.composite_of(ASKED, privacy=ONE, setting=setting).mechanism
    area = {"A1": 1.0, "A2": 2 / math.pi, "A3": 0.5}[function[:2]] * 0.21
    assert float(mechanism.h1_rate) == pytest.approx((1 - area) / area)
    looped = Setting(function[:2], function[2:], 0.3, 0.7, 0.25, 1.0)
    assert mechanism.h2_rate(F(1, 2)) == pytest.approx(looped.h2(), rel=1e-9)
    for answer in (F(1, 5), F(9, 10)):
        mean = float(mechanism.mean(mechanism.shift(answer)))
        end = -1.0 if mean >= 0 else 1.0

        def mass(part: float, mean: float = mean, end: float = end, answer: Fraction = answer) -> float:
            places = np.linspace(mean, mean + part * (end - mean), 301)
            heights = [mechanism.density(answer, F(float(p)), FLOATS) for p in (places[1:] + places[:-1]) / 2]
            return float(sum(heights) * abs(places[1] - places[0]))

        assert mechanism.h2_rate(answer) == pytest.approx(mass(0.25) / mass(0.75), rel=1e-2)


def test_composites_say_their_rates_and_answers_outside_have_none():
    found = nw.mechanisms.CompositeSetting("A1B1", "0.3", "0.7", "0.25")
    certified = nw.mechanisms.composite_of(ASKED, privacy=ONE, setting=found)
    assert "(H1): 3.762" in certified.describe()
    with pytest.raises(nw.errors.InvalidAnswerError):
        certified.mechanism.h2_rate(2)


def test_all_six_functions_are_proposed_and_b2_keeps_a_bend():
    """B2 at its best is B1: the less it is bent, the better; so it stands just below."""
    query = ASKED.bounded
    assert query is not None
    forms: dict[str, Any] = closed_forms(query, F(1), nw.WorstVariance())
    assert set(FUNCTIONS) <= set(forms)
    assert math.exp(-1) < bent_base(F(1)).ratio < 1
    for kind in ("A1", "A2", "A3"):
        flat, bent = (float(replace(forms[f"{kind}{base}"], cells=16).profile.worst(1)) for base in ("B1", "B2"))
        assert flat < bent < 1.2 * flat
        certificate = nw.certify(replace(forms[f"{kind}B2"], cells=16), ONE)
        assert 0.999 < certificate.bound <= 1
