"""Numbers of the reproductions beside formulas that are written down here once more."""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.lab.composite.errors import Errors, additive_draws
from noisewright.lab.generalized_gaussian.adult import people
from noisewright.lab.generalized_gaussian.counts import distances, mechanisms, sanitised
from noisewright.lab.metric.data import factors, pair_distances
from noisewright.lab.metric.printed import exponential_shortfall, weights_noise_free
from noisewright.lab.metric.reproduction import _figure_four, _thresholds
from noisewright.lab.non_identical.curves import block_error, gaussian_errors, laplace_errors
from noisewright.lab.r2dp import reproduction as r2dp
from noisewright.lab.r2dp.curves import error_panel, laplace_renyi, response_renyi, usefulness_over_within
from noisewright.lab.r2dp.tables import _table_one, _table_two
from noisewright.lab.reproductions import Reproduction
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP


@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_the_gaussian_baseline_of_the_composite_paper_has_the_classical_deviation(epsilon: str):
    """Its delta is 1e-5: deviation sqrt(2 ln(1.25 / delta)) / epsilon; quantiles lose a little of the variance."""
    e = Fraction(epsilon)
    wanted = 2 * math.log(125_000) / float(e) ** 2
    gaussian, discrete = (float((additive_draws(n, e, 4000) ** 2).mean()) for n in ("Gaussian", "discrete Gaussian"))
    assert gaussian == pytest.approx(wanted, rel=5e-3)
    assert discrete == pytest.approx(wanted + 1 / 12, rel=1e-2)


def test_errors_are_means_over_the_draws():
    found = Errors("any", Fraction(1), np.array([1.0, -3.0, 2.0]))
    assert found.absolute == 2
    assert found.squared == pytest.approx(14 / 3)


def test_the_divergence_is_that_of_the_release_from_the_counts():
    """Smoothed by a half: counts (8, 1) and a release of (5, 4) are 17 : 3 and 11 : 9."""
    l1, divergence = distances(np.array([8.0, 1.0]), np.array([[5.0, 4.0], [8.0, 1.0]]))
    assert l1.tolist() == [6.0, 0.0]
    wanted = 0.85 * math.log(0.85 / 0.55) + 0.15 * math.log(0.15 / 0.45)
    other = 0.55 * math.log(0.55 / 0.85) + 0.45 * math.log(0.45 / 0.15)
    assert divergence.tolist() == pytest.approx([wanted, 0.0])
    assert abs(wanted - other) > 0.01


def test_counts_are_kept_between_zero_and_the_total():
    class Fixed:
        def draw(self, count: int) -> Any:
            return np.resize([-9.0, 3.0, 400.0], count)

    released: Any = sanitised(np.array([5.0, 0.0, 20.0]), Fixed(), 1)  # type: ignore[arg-type]
    # Kept between 0 and 25 they are 0, 3 and 25, which are scaled from 28 to 25.
    assert released[0].tolist() == pytest.approx([0.0, 3 * 25 / 28, 25 * 25 / 28])


def test_each_mechanism_of_the_histograms_keeps_the_promise_it_is_named_for():
    found = mechanisms(Fraction(1), Fraction(1, 10), cubic=True)
    kinds: dict[str, Any] = {
        "pure": PureDP(1),
        "probabilistic": ProbabilisticDP(1, "0.1"),
        "approximate": ApproxDP(1, "0.1"),
    }
    assert len(found) == 7
    for name, certified in found.items():
        assert certified.certificate.requirement == next(kinds[kind] for kind in kinds if kind in name), name
    classical = math.sqrt(2 * math.log(12.5))
    assert float(found["Gaussian, approximate (18)"].mechanism.law.std) == pytest.approx(classical)


def test_two_thirds_of_the_people_train_and_the_others_test(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NOISEWRIGHT_DATA", "no such folder")
    chosen = people(seed=3, most=300)
    assert (chosen.counts.sum(), len(chosen.test)) == (200, 100)
    assert len(chosen.rows) == len(set(chosen.rows)) == len(chosen.counts)


@pytest.mark.parametrize("alpha", [1.5, 3.0, 8.0])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_renyi_divergences_are_their_integrals(epsilon: float, alpha: float):
    x, step = np.linspace(-60, 60, 1_200_001, retstep=True)
    x = (x + step / 2) / epsilon
    ours, theirs = (np.exp(-epsilon * np.abs(x - shift)) * epsilon / 2 for shift in (0, 1))
    integral = float(np.sum(ours**alpha * theirs ** (1 - alpha)) * step / epsilon)
    assert laplace_renyi(epsilon, alpha) == pytest.approx(math.log(integral) / (alpha - 1), rel=1e-4)
    yes = math.exp(epsilon) / (1 + math.exp(epsilon))
    total = yes**alpha * (1 - yes) ** (1 - alpha) + (1 - yes) ** alpha * yes ** (1 - alpha)
    assert response_renyi(epsilon, alpha) == pytest.approx(math.log(total) / (alpha - 1), rel=1e-9)


def test_error_curves_are_roots_of_mean_powers_in_the_unit_of_the_answer():
    for power in (1, 2):
        panel = error_panel(power, 3.0, np.array([0.5, 6.0]))
        laplace = [3 * (math.factorial(power) / e**power) ** (1 / power) for e in (0.5, 6.0)]
        assert panel.curves["Laplace"] == pytest.approx(laplace)
        utility = nw.SquaredError() if power == 2 else nw.AbsoluteError()
        for i, epsilon in enumerate(("1/2", "6")):
            report = nw.design(nw.Scalar(3), privacy=nw.PureDP(epsilon), utility=utility)
            values = {c.name: c.value ** (1 / power) for c in report.candidates}
            assert panel.curves["staircase for this metric"][i] == pytest.approx(values["staircase"], rel=1e-3)
            assert panel.curves["two-fold optimum"][i] == pytest.approx(values["two-fold optimum"], rel=1e-3)


def test_usefulness_curves_are_chances_at_the_same_epsilon():
    panel = usefulness_over_within(2.0, np.array([0.3, 1.7]))
    assert panel.curves["Laplace"] == pytest.approx([1 - math.exp(-0.6), 1 - math.exp(-3.4)])
    for i, within in enumerate(("0.3", "1.7")):
        bound = nw.design(nw.Scalar(1), privacy=nw.PureDP(2), utility=nw.Usefulness(within)).bound
        assert panel.curves["staircase for this metric"][i] == pytest.approx(bound, rel=1e-9)


def test_degrees_are_released_with_half_of_epsilon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One edge changes two degrees by one: Laplace noise at half of epsilon errs by 2 / epsilon on average."""
    monkeypatch.setattr(r2dp, "degrees", lambda: (np.arange(1.0, 400.0), "made degrees"))
    found = Reproduction("degrees")
    r2dp._degree_figure(tmp_path, found, np.array([1.0, 4.0]))
    with (tmp_path / "figure-08.csv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["curve"] == "Laplace" and r["panel"].startswith("Mallows(1)")]
    assert {float(r["epsilon"]): float(r["Mallows distance"]) for r in rows} == pytest.approx({1.0: 2.0, 4.0: 0.5})
    with (tmp_path / "figure-08-measured.csv").open(encoding="utf-8", newline="") as file:
        measured = {(r["epsilon"], r["noise"]): float(r["expected Mallows(1)"]) for r in csv.DictReader(file)}
    assert measured["1", "Laplace"] == pytest.approx(2.0, rel=1e-3)
    assert measured["10", "Laplace"] == pytest.approx(0.2, rel=1e-3)
    assert found.data == ["made degrees"]


def test_tables_of_improvements_are_relative_to_laplace_noise(tmp_path: Path):
    with _table_two(tmp_path).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row[1] == "Laplace"]
    # Of robust regression the logarithm of the factor is given.
    assert [[float(v) for v in row[2:]] for row in rows] == [pytest.approx([1.0, 1.0, 0.0, 1.0], abs=1e-9)] * 3


def test_the_bound_of_robust_regression_is_averaged_over_the_rate(tmp_path: Path):
    """Gamma rates of shape 5 and epsilon 3: scale e^(1/2) - 1, so M(-x) = (1 + scale x)^-5 at x = (ln 1000)^2."""
    with _table_two(tmp_path).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    row = next(r for r in rows if r[:2] == ["3", "gamma, shape 5"])
    x = math.log(1000) ** 2
    wanted = (3 * x - 5 * math.log1p((math.exp(0.5) - 1) * x)) / math.log(10)
    assert float(row[header.index(next(h for h in header if "robust" in h))]) == pytest.approx(wanted, rel=1e-6)


def test_metrics_that_depend_on_the_data_are_means_over_the_noise(tmp_path: Path):
    """Laplace noise at epsilon 1: E|X| = 1, and for many numbers the root of the mean square is near sqrt 2."""
    with _table_one(tmp_path, [400, 90, 0, 31], 5000).open(encoding="utf-8", newline="") as file:
        rows = {(r["epsilon"], r["noise"]): r for r in csv.DictReader(file)}
    usual = rows["1", "Laplace"]
    assert float(usual["Mallows(1), 5000 numbers"]) == pytest.approx(1, rel=2e-3)
    assert float(usual["Mallows(2), 5000 numbers"]) == pytest.approx(math.sqrt(2), rel=3e-3)
    divergence = float(usual["relative entropy (Kullback-Leibler), nats"])
    rng = np.random.default_rng(3)
    p = np.array([400, 90, 0, 31]) / 521
    utility = nw.KullbackLeibler([400, 90, 0, 31])
    released = np.maximum(np.array([400, 90, 0, 31]) + rng.laplace(size=(400_000, 4)), float(utility.floor))
    q = released / released.sum(axis=1, keepdims=True)
    drawn = (p[p > 0] * np.log(p[p > 0] / q[:, p > 0])).sum(axis=1)
    assert divergence == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 632 + 0.01 * drawn.mean())
    assert float(usual["change of the histogram's entropy, nats"]) > 0
    assert float(usual["relative entropy (Renyi, order 2), nats"]) > divergence


POINTS = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])


def test_improvement_factors_are_noise_scales_of_the_baseline_over_the_metrics():
    """Distances 5, sqrt(34) and 1; of the query (0, 10, 4) the steepest pair is the close one."""
    first, second, apart = pair_distances(POINTS)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]
    assert apart.tolist() == pytest.approx([5.0, math.sqrt(34), 1.0])
    found = factors(np.array([[0.0, 10.0, 4.0], [0.0, 10.0, 10.0]]), POINTS)
    assert found.tolist() == pytest.approx([10 / 6, 10 / 2])


def test_thresholds_forbid_beyond_or_relax_beyond():
    rng = np.random.default_rng(1)
    rows = _thresholds(rng, POINTS, 4)
    again = np.random.default_rng(1).uniform(0, 1, (4, 3))
    near, far = np.abs(again[:, 1] - again[:, 2]), np.abs(again[:, 0] - again[:, 1])
    farther = np.abs(again[:, 0] - again[:, 2])
    at_four = next(row for row in rows if row["T"] == 4)
    assert at_four["hard"] == pytest.approx(near)
    assert at_four["pairs"] == 1
    relaxed = np.maximum(near, np.maximum(far / (5 / 4), farther / (math.sqrt(34) / 4)))
    assert at_four["smooth"] == pytest.approx(relaxed)
    table = _figure_four([{"T": 4, "hard": np.array([1.0, 3.0]), "smooth": np.array([4.0])}])
    assert table[0] == pytest.approx([4, 0.1, math.sqrt(2) / 0.1 * 2, math.sqrt(2) / 0.1 * 4])


def test_the_shortfall_of_the_exponential_mechanism_is_a_share_of_its_weights():
    scores, seen = np.array([0.0, 1.0, 5.0]), np.array([0.0, 2.0, 4.0])
    weights = np.exp(seen / (2 * 0.5))
    # Limit 4 - (ln 3 + 1) ± 1: 2.9 as printed, 0.9 with the sign corrected.
    for printed, below in ((True, 2), (False, 1)):
        wanted = weights[:below].sum() / weights.sum()
        assert exponential_shortfall(scores, seen, 0.5, 1.0, printed=printed) == pytest.approx(wanted)


def test_multiplicative_weights_without_noise_approach_the_data_unless_printed():
    rng = np.random.default_rng(8)
    queries, histogram = rng.uniform(0, 1, (6, 5)), np.array([40.0, 5.0, 25.0, 10.0, 20.0])
    average, errors = weights_noise_free(queries, 3.0, histogram, 60, printed=False)
    assert average.sum() == pytest.approx(100)
    assert errors[-1] < errors[0]
    worse, _ = weights_noise_free(queries, 3.0, histogram, 60, printed=True)
    ours, theirs = (np.abs(queries @ (found - histogram)).max() for found in (average, worse))
    assert ours < theirs


def test_closed_forms_of_non_identical_noise():
    values = np.array([1.0, 8.0])
    assert gaussian_errors(values, 3.0) == pytest.approx((2 * 65 * 3, 81 * 3))
    assert laplace_errors(values, 2.0) == pytest.approx((2 * 2 * 81 / 4, 2 * 5**3 / 4))
    # One block of both: (k + 1)(k + 2) / 3 = 4 times the sum of squares; apart: the cube of the sum of roots.
    apart = (2 ** (1 / 3) + (2 * 64) ** (1 / 3)) ** 3
    assert block_error(np.array([1.0, 8.0, 0.0]), 2.0) == pytest.approx(min(4 * 65, apart) / 4)
