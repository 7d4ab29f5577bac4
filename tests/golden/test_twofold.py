"""Numbers of the two-fold search space: optima by a linear programme over measures, and thresholds."""

from __future__ import annotations

from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.lab.r2dp.claims import smallest_epsilon_that_helps
from noisewright.search.families.two_fold import two_fold_optimum

ERRORS = [  # (power, epsilon, value), Delta = 1
    (1, "0.5", 2.0),
    (1, "1", 1.0),
    (1, "3", 1 / 3),
    (1, "10", 0.017983210933447583),
    (2, "0.5", 8.0),
    (2, "1", 2.0),
    (2, "3", 2 / 9),
    (2, "10", 0.003904742639010761),
]

USEFULNESS = [  # (epsilon, within / Delta, value)
    ("0.5", "0.2", 0.0951625819640406),
    ("1", "0.2", 0.1812692469220183),
    ("3", "0.2", 0.4737812331741009),
    ("10", "0.2", 0.9957677784412098),
    ("0.5", "0.8", 0.3296799539643612),
    ("1", "0.8", 0.5506710358827788),
    ("3", "0.8", 0.9092820467106241),
    ("10", "0.8", 0.9996810181702719),
    ("0.5", "1.2", 0.45118836390597383),
    ("1", "1.2", 0.698805788087798),
    ("3", "1.2", 0.9726762775527075),
    ("10", "1.2", 0.9999938557876467),
    ("0.5", "1.8", 0.593430340259401),
    ("1", "1.8", 0.8347011117784136),
    ("3", "1.8", 0.9954834190573874),
    ("10", "1.8", 0.9999999847700203),
    ("0.5", "0.1", 0.048770575499286095),
    ("1", "0.1", 0.0951625819640406),
    ("3", "0.1", 0.31056158565924596),
    ("10", "0.1", 0.9914051425743929),
    ("0.5", "0.4", 0.1812692469220183),
    ("1", "0.4", 0.3296799539643609),
    ("3", "0.4", 0.698805788087798),
    ("10", "0.4", 0.9982290371614709),
    ("0.5", "0.6", 0.25918177931828235),
    ("1", "0.6", 0.4511883639059737),
    ("3", "0.6", 0.8347011117784144),
    ("10", "0.6", 0.999149180946737),
    ("0.5", "0.9", 0.3623718483782269),
    ("1", "0.9", 0.593430340259401),
    ("3", "0.9", 0.9327944872602503),
    ("10", "0.9", 0.9998765901959134),
]

THRESHOLDS = [
    (nw.AbsoluteError(), 3.8395),
    (nw.SquaredError(), 4.9070),
    (nw.Usefulness("0.1"), 1.6879),
    (nw.Usefulness("0.4"), 3.2886),
    (nw.Usefulness("0.6"), 4.9330),
]


@pytest.mark.parametrize(("power", "epsilon", "value"), ERRORS)
def test_best_errors(power, epsilon, value):
    assert two_fold_optimum(nw.PowerError(power), Fraction(epsilon)).cost == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize(("epsilon", "within", "value"), USEFULNESS)
def test_best_usefulness(epsilon, within, value):
    assert 1 - two_fold_optimum(nw.Usefulness(within), Fraction(epsilon)).cost == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize(("utility", "value"), THRESHOLDS, ids=[str(u) for u, _ in THRESHOLDS])
def test_smallest_epsilon_where_any_second_fold_beats_laplace(utility, value):
    assert smallest_epsilon_that_helps(utility) == pytest.approx(value, abs=5e-4)
