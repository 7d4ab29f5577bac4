"""Reference values of bounded unbiased mechanisms, each with its source."""

from __future__ import annotations

from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.lab.composite.parameters import Setting, default_core
from noisewright.laws.bumps import FLAT, Plateau
from noisewright.mechanisms.bounded.conditional import Profile, profile_of
from noisewright.search.families.shapes import (
    central,
    closed_variance,
    composite,
    hybrid,
    piecewise_half,
    tuned_core,
    tuned_half,
    two_point,
)
from tests.bounded import few_forms, question

# Closed forms and one-dimensional optimisation, sensitivity = range = 1.
CLOSED = {
    "1/5": (33.3055694389349, 30.928486452741137, 30.925787610646996, 33.26399376645232),
    "1/2": (5.305642146289552, 4.425439230242602, 4.422611237070158, 5.264539270057714),
    "1": (1.305899363010922, 0.9205258423767222, 0.9175252514400173, 1.2664202880365323),
    "3": (0.12323682469285736, 0.05143259549564024, 0.04843649441910777, 0.09648090261335245),
}


def _worst_and_middle(profile: Profile) -> tuple[float, float]:
    return float(profile.worst(0)), float(profile.at(sum(profile.inputs[:: len(profile.inputs) - 1]) / Fraction(2), 0))


@pytest.mark.parametrize("epsilon", CLOSED)
def test_piecewise_and_a1b1_for_sensitivity_equal_to_the_range(epsilon: str):
    piecewise_worst, piecewise_middle, centre, minimax = CLOSED[epsilon]
    query, budget = question(margin="200"), Fraction(epsilon)
    worst, middle = _worst_and_middle(profile_of(composite(query, budget, Plateau(piecewise_half(budget)))))
    assert worst == pytest.approx(piecewise_worst, rel=1e-6)
    assert middle == pytest.approx(piecewise_middle, rel=1e-6)
    halves = [tuned_half(query, budget, "A1", FLAT, goal) for goal in ("centre", "worst")]
    best_centre, best_worst = (
        profile_of(composite(query, budget, Plateau(half))) for half in halves if half is not None
    )
    assert _worst_and_middle(best_centre)[1] == pytest.approx(centre, rel=1e-6)
    assert _worst_and_middle(best_worst)[0] == pytest.approx(minimax, rel=1e-6)


def test_the_known_points_at_epsilon_one():
    query, one = question(margin="200"), Fraction(1)
    half = tuned_half(query, one, "A1", FLAT, "centre")
    assert half is not None
    assert float(profile_of(composite(query, one, Plateau(half))).worst(0)) == pytest.approx(1.2856, abs=5e-5)
    assert float(profile_of(two_point(query, one)).worst(0)) == pytest.approx(1.1707, abs=5e-5)
    assert float(profile_of(hybrid(query, one, "worst")).worst(0)) == pytest.approx(1.0723, abs=1e-4)


# The published default of the central piecewise mechanism, from its notebooks; range 1, sensitivity 0.1.
CENTRAL = {
    "1/5": 1.0111370724418483,
    "1/2": 0.1100377900714646,
    "1": 0.019730946425441685,
    "3": 0.0016518665323873112,
}


@pytest.mark.parametrize("epsilon", CENTRAL)
def test_the_central_piecewise_default(epsilon: str):
    query, budget = question("1/10", "20"), Fraction(epsilon)
    core = default_core(query, budget)
    assert closed_variance(query, budget, float(core), "worst") == pytest.approx(CENTRAL[epsilon], rel=1e-9)
    drawn = profile_of(central(query, budget, core)).worst(1)
    assert CENTRAL[epsilon] * (1 - 1e-9) <= float(drawn) <= CENTRAL[epsilon] + 1e-6


def test_the_tuned_central_piecewise_mechanism_is_the_best_known_at_epsilon_three():
    query = question("1/10", "20")
    core = tuned_core(query, Fraction(3), "worst")
    assert core is not None
    assert float(profile_of(central(query, Fraction(3), core)).worst(1)) <= 0.0015267365301181125 + 2.4e-05


# Linear programme with 61 inputs and 601 outputs in the reference; a coarser grid here, with what it adds.
PROGRAMME = {
    "1/5": ("9.50833", 25.0003, 24.9999, 0.00038),
    "1/2": ("3.52081", 4.00077, 4.00066, 0.00011),
    "1": ("1.54149", 0.997726, 0.997645, 8.1e-05),
    "3": ("0.287217", 0.0760725, 0.0760014, 7.1e-05),
}


@pytest.mark.parametrize("epsilon", PROGRAMME)
def test_the_linear_programme_for_sensitivity_equal_to_the_range(epsilon: str):
    margin, value, lower, tolerance = PROGRAMME[epsilon]
    query = question(margin=margin)
    report = nw.mechanisms.design_bounded(
        query, privacy=nw.PureDP(epsilon), utility=nw.WorstVariance(), inputs=40, outputs=240
    )
    assert report.candidates[0].name == "linear programme"
    coarser = (1 / 40**2 - 1 / 60**2) / 4 + (float(query.outputs[1] - query.outputs[0]) / 240) ** 2 / 4
    assert report.candidates[0].value <= value + tolerance + coarser
    assert report.bound is not None
    assert lower - tolerance - coarser <= report.bound <= value


def test_the_average_variance_at_epsilon_one():
    query = question(margin="1.54149")
    report = nw.mechanisms.design_bounded(
        query, privacy=nw.PureDP(1), utility=nw.AverageVariance(), inputs=20, outputs=200
    )
    assert report.candidates[0].value == pytest.approx(0.971498, rel=1e-3)
    assert report.bound is not None
    assert 0.971498 * 0.997 <= report.bound <= 0.971498


@pytest.mark.parametrize(("epsilon", "margin", "best"), [("1/5", "1/2", 0.39801), ("1/2", "1/5", 0.07515)])
def test_a_sensitivity_of_a_tenth_of_the_range(epsilon: str, margin: str, best: float):
    report = nw.mechanisms.design_bounded(
        question("1/10", margin), privacy=nw.PureDP(epsilon), utility=nw.WorstVariance(), inputs=30, outputs=160
    )
    # A third of an input cell squared is what this grid adds to the default one, which reaches 1.001 times the best.
    assert report.candidates[0].value <= 1.001 * best + (1 / 30**2 - 1 / 40**2) / 4
    assert report.bound is not None
    assert 0.997 * best <= report.bound <= best


@pytest.mark.parametrize("all_forms", [pytest.param(True, marks=pytest.mark.soak), False])
def test_a_closed_form_takes_over_where_it_is_better(all_forms, monkeypatch):
    if not all_forms:
        few_forms(monkeypatch, "two-point", "piecewise", "central piecewise")
    report = nw.mechanisms.design_bounded(
        question("1/10", "1"), privacy=nw.PureDP(3), utility=nw.WorstVariance(), inputs=20, outputs=40
    )
    assert report.candidates[0].name == "central piecewise"
    assert any("closed form" in note for note in report.notes)
    assert "central piecewise, a closed form" in str(report)


# Minimal margin: theorem, confirmed by feasibility at 1.001 and infeasibility at 0.99 times it.
@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "margin"),
    [
        ("1", "1", 0.5819767068693263),
        ("1/2", "1", 1.5414940825367982),
        ("1", "1/10", 0.05819767068693264),
        ("1/2", "1/10", 0.15414940825367981),
    ],
)
def test_the_smallest_margin(epsilon: str, sensitivity: str, margin: float):
    with pytest.raises(nw.errors.InfeasibleError) as caught:
        nw.design(
            nw.Scalar(sensitivity, inputs=(0, 1), outputs=(0, 1), unbiased=True),
            privacy=nw.PureDP(epsilon),
            utility=nw.WorstVariance(),
        )
    assert float(caught.value.margin) == pytest.approx(margin, rel=1e-11)
    assert caught.value.margin > margin * (1 - 1e-15)


# The corrected variances of the six perturbation functions at k = .4, m = .7, y = .3, epsilon = 1, C_p = .05.
CORRECTED = {
    ("A1", "B1"): 0.36346,
    ("A2", "B1"): 0.52946,
    ("A3", "B1"): 0.60716,
    ("A1", "B2"): 0.37171,
    ("A2", "B2"): 0.54172,
    ("A3", "B2"): 0.62121,
}


@pytest.mark.parametrize(("activation", "base"), CORRECTED)
def test_the_corrected_variances(activation: str, base: str):
    found = Setting(activation, base, 0.4, 0.7, 0.3, 1.0).variance(0.05)
    assert found == pytest.approx(CORRECTED[activation, base], abs=5e-6)


# The authors' own optimum for A1B1 (their optimiser was run): k, m, y, L and the variance at it.
AUTHORS = {
    0.2: (0.112, 0.86, 0.506, 0.893, 30.94403036052007),
    0.5: (0.349, 0.643, 0.538, 0.7208, 4.422876488016338),
    1.0: (0.481, 0.843, 0.28, 1.0616, 0.9178919450670441),
}


@pytest.mark.parametrize("epsilon", AUTHORS)
def test_the_authors_settings(epsilon: float):
    k, m, y, length, variance = AUTHORS[epsilon]
    setting = Setting("A1", "B1", k, m, y, epsilon)
    assert setting.length == pytest.approx(length, abs=5e-4)
    assert setting.released_variance() == pytest.approx(variance, rel=1e-4)


@pytest.mark.parametrize(("kind", "value"), [("A1", 0.9175), ("A2", 1.7886), ("A3", 2.6553)])
def test_the_optima_that_table_2_misses(kind: str, value: float):
    from noisewright.mechanisms.bounded.composite import ACTIVATIONS

    query = question(margin="200")
    half = tuned_half(query, Fraction(1), kind, FLAT, "centre")
    assert half is not None
    assert _worst_and_middle(profile_of(composite(query, Fraction(1), ACTIVATIONS[kind](half))))[1] == pytest.approx(
        value, abs=6e-5
    )
