"""A verdict hangs on what was found: with other findings every claim is judged the other way."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from noisewright.lab.generalized_gaussian import claims as gaussian_paper
from noisewright.lab.generalized_gaussian.counts import APPROXIMATE, CUBIC, LAPLACE as LAPLACE_PURE, PROBABLE, Outcome
from noisewright.lab.metric import claims as dx_claims, policies as dx_policies
from noisewright.lab.metric.reproduction import StrategyRow
from noisewright.lab.non_identical import claims as non_identical_claims
from noisewright.lab.r2dp import claims as r2dp_claims, reproduction as r2dp
from noisewright.lab.r2dp.curves import FIRST, LAPLACE, TUNED, TWO_FOLD
from noisewright.lab.reproductions import Claim
from noisewright.lab.sheets import Panel
from noisewright.proof.mixtures import renyi_ball
from noisewright.search.families.linear import mwem_mechanism, smalldb_mechanism


def _verdicts(claims: list[Claim]) -> list[str]:
    return [claim.verdict for claim in claims]


def _row(
    factors: tuple[float, ...] = (1, 2, 3, 4), ratios: tuple[float, ...] = (3, 2, 1), gap: float = 1e-9
) -> StrategyRow:
    return StrategyRow(3, ratios, factors, 1.5, gap)


@pytest.mark.parametrize(
    ("single", "rows", "printed", "verdicts"),
    [
        ([2.0, 3.0], [_row(), _row()], 0, ["holds", "holds", "holds", "holds", "holds", "holds"]),
        ([0.5, 0.9], [_row(), _row()], 1, ["fails", "holds", "holds", "holds", "holds", "fails"]),
        ([2.0], [_row(factors=(1, 4, 3, 5)), _row()], 0, ["holds", "fails", "holds", "holds", "holds", "holds"]),
        ([2.0], [_row(), _row(ratios=(3, 1, 2))], 0, ["holds", "holds", "fails", "holds", "holds", "holds"]),
        ([2.0], [_row(), _row(gap=0.01)], 0, ["holds", "holds", "holds", "holds", "fails", "holds"]),
    ],
)
def test_strategies(single: list[float], rows: list[StrategyRow], printed: int, verdicts: list[str]):
    tables = {"uniform": rows[:1], "binary": rows[1:]}
    assert _verdicts(dx_claims.strategy_claims(np.array(single), tables, (printed, 0, 1.1))) == verdicts


@pytest.mark.parametrize(
    ("hard", "smooth", "verdicts"),
    [
        ([1, 2, 3], [1.05, 2.1, 3.2], ["holds", "holds", "holds", "holds", "holds"]),
        ([1, 2, 3], [2, 3, 4], ["holds", "fails", "holds", "holds", "differs"]),
        ([1, 3, 2], [1.05, 3.1, 4], ["holds", "differs", "fails", "holds", "differs"]),
        ([1, 2, 3], [4, 3, 5], ["holds", "fails", "fails", "holds", "differs"]),
        ([1, 2, 3], [0.5, 3, 2.5], ["holds", "fails", "fails", "fails", "fails"]),
    ],
)
def test_thresholds(hard: list[float], smooth: list[float], verdicts: list[str]):
    rows = [
        {"T": i, "hard": np.array([h]), "smooth": np.array([s]), "plain": np.array([4.0])}
        for i, (h, s) in enumerate(zip(hard, smooth, strict=True))
    ]
    assert _verdicts(dx_policies.blowfish_claims(rows, 208, 0.0)) == verdicts
    assert _verdicts(dx_policies.blowfish_claims(rows, 208, 0.1))[0] == "fails"


@pytest.mark.parametrize(
    ("found", "verdicts"),
    [
        ({"theorem_four": (0, 0), "mwem_errors": (1.0, 1.0)}, ["holds", "holds", "holds", "holds"]),
        ({"theorem_four": (1, 0), "mwem_errors": (3.0, 1.0)}, ["erratum", "erratum", "holds", "holds"]),
        ({"theorem_four": (9, 1)}, ["fails", "erratum", "holds", "holds"]),
        ({"smalldb_within": (53, 60), "theorem_four": (0, 0)}, ["holds", "erratum", "fails", "holds"]),
        ({"smalldb_within": (54, 60), "mwem_within": (44, 50)}, ["erratum", "erratum", "holds", "fails"]),
    ],
)
def test_accuracy_statements(found: dict[str, Any], verdicts: list[str], monkeypatch: pytest.MonkeyPatch):
    usual = {"theorem_four": (9, 0), "mwem_errors": (9.0, 1.0), "smalldb_within": (60, 60), "mwem_within": (50, 50)}
    for name, value in {**usual, **found}.items():
        monkeypatch.setattr(dx_claims, name, lambda *_, value=value: value)
    assert _verdicts(dx_claims.accuracy_claims(60)) == verdicts


def test_draws_beyond_a_bound_are_counted_as_such(monkeypatch: pytest.MonkeyPatch):
    """Errors a little above and far below the bound of SmallDB and of MWEM, in turn."""
    errors: dict[str, list[float]] = {}
    monkeypatch.setattr(dx_claims, "_worst", lambda *_: errors["next"].pop())
    queries, metric, histogram = dx_claims._small_problem()
    n, size, universe = sum(histogram), queries.dimension, queries.size
    scale = float(smalldb_mechanism(queries, metric, 6).mechanism.scale)
    small = np.sqrt(np.log(size) / 6) * n + 2 * scale * (6 * np.log(universe) + np.log(10))
    errors["next"] = [small * 1.001, small * 0.999, small * 1.001, 0.0]
    assert dx_claims.smalldb_within(4) == (2, 4)
    scale = float(mwem_mechanism(queries, metric, 5).mechanism.scale)
    large = 2 * n * np.sqrt(np.log(universe) / 5) + 50 * scale * np.log(size)
    errors["next"] = [large * 1.001, large * 0.999, large * 1.001]
    assert dx_claims.mwem_within(3) == (1, 3)


def test_the_errors_of_a_synthetic_histogram_are_those_of_its_answers():
    queries, _, histogram = dx_claims._small_problem()
    moved = np.array(histogram, dtype=float)
    moved[2] += 7
    asked = [row[2] for row in queries.rationals()]
    assert 0 in asked
    assert 1 in asked
    assert dx_claims._worst(queries, histogram, moved) == 7
    assert dx_claims._worst(queries, histogram, np.array(histogram)) == 0


@pytest.mark.parametrize(
    ("two_fold", "rival", "tuned", "larger", "verdict", "count"),
    [
        ([2.0, 3.0], [1.0, 2.0], [9.0, 9.0], True, "holds", "2 of 2"),
        ([2.0, 2.0], [1.0, 2.0], [0.0, 0.0], True, "fails", "1 of 2"),
        ([2.0, 3.0], [1.0, 2.0], [9.0, 9.0], False, "fails", "0 of 2"),
        ([1.0, 1.0], [2.0, 2.0], [0.1, 0.1], False, "holds", "2 of 2"),
    ],
)
def test_two_fold_noise_must_be_strictly_ahead_of_the_papers_rivals(
    two_fold: list[float], rival: list[float], tuned: list[float], larger: bool, verdict: str, count: str
):
    curves = {LAPLACE: rival, FIRST: rival, TUNED: tuned, TWO_FOLD: two_fold}
    claim = r2dp._judged("Figure", "ahead", [Panel("one", [0.0, 1.0], curves)], larger=larger)
    assert claim.verdict == verdict
    assert count in claim.found
    better = sum(a > b if larger else a < b for a, b in zip(two_fold, rival, strict=True))
    assert claim.found.endswith(f"of Laplace noise alone at {better}")
    without = {LAPLACE: rival, TUNED: tuned, TWO_FOLD: two_fold}
    other = r2dp._judged("Figure", "ahead", [Panel("one", [0.0, 1.0], without)], larger=larger)
    assert other.verdict == "fails", "where a staircase is tuned for the figure itself it is a rival"


def test_claims_about_folds_follow_their_numbers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(r2dp_claims, "renyi_ball", cache(renyi_ball))
    known = {claim.where: claim.verdict for claim in (r2dp_claims._near_optimal(), r2dp_claims._gamma_can_help())}
    assert known == {"Section 5.2, summary": "fails", "Lemma B.4": "holds"}
    assert r2dp_claims._renyi_tighter().verdict == "holds"
    assert r2dp_claims._renyi_bound().verdict == "holds"
    monkeypatch.setattr(r2dp_claims, "paper_bound", lambda *_: SimpleNamespace(mid=lambda: 0.5))
    assert r2dp_claims._renyi_bound().verdict == "fails"
    monkeypatch.setattr(r2dp_claims, "laplace_renyi", lambda *_: 0.3)
    assert r2dp_claims._renyi_tighter().verdict == "fails"


def test_claims_about_conditions_and_strategies_follow_their_numbers(monkeypatch: pytest.MonkeyPatch):
    known = [r2dp_claims._necessary_condition(), r2dp_claims._uniform_can_help(), r2dp_claims._randomised_response()]
    assert _verdicts(known) == ["holds"] * 3
    lemma, misprint = r2dp_claims._truncated_normal_can_help()
    assert (lemma.verdict, misprint.verdict == "holds") == ("holds", False)
    assert "1.1801" in misprint.found

    printed = (Fraction("1.1703"),) * 2
    never = SimpleNamespace(epsilon=printed, averaged=printed, may_help=False)
    monkeypatch.setattr(r2dp_claims, "laplace_condition", lambda *_: never)
    lemma, misprint = r2dp_claims._truncated_normal_can_help()
    assert (lemma.verdict, misprint.verdict) == ("fails", "holds")
    # Among the folds that would now be ruled out some do beat Laplace noise.
    others = [r2dp_claims._necessary_condition(), r2dp_claims._uniform_can_help()]
    assert _verdicts(others) == ["fails"] * 2

    half = SimpleNamespace(truth=(Fraction(1, 2),) * 2)
    monkeypatch.setattr(r2dp_claims, "local_response", lambda *_: half)
    assert r2dp_claims._randomised_response().verdict == "fails"

    for gain, verdict in ((0.0, "fails"), (0.25, "holds")):
        row = SimpleNamespace(epsilon="2.3", gain=gain, spent=3.0, strategy="wavelet")
        monkeypatch.setattr(r2dp_claims, "rows_of_table_three", lambda row=row: (row,))
        assert r2dp_claims._matrix_mechanism().verdict == verdict


STDS = [[0.5, 0.1, 2.0, 3.0, 1.9, 1.5], [0.9, 0.2, 1.0, 2.0, 0.9, 0.7]]


@pytest.mark.parametrize(
    ("scales", "stds", "verdicts"),
    [
        ([[1, 1, 2, 5], [1, 1, 3, 6], [2, 1, 2, 1]], STDS, ["holds", "holds", "fails", "erratum"]),
        ([[1, 1, 2, 5], [2, 1, 2, 7], [2, 1, 3, 6]], STDS, ["fails", "holds", "fails", "erratum"]),
        ([[1, 1, 2, 5]], [STDS[0], [0.9, 0.2, 3.0, 2.0, 0.9, 0.7]], ["holds", "fails", "fails", "erratum"]),
        ([[1, 1, 2, 5]], [STDS[0], [0.9, 0.2, 1.0, 2.0, 0.9, 1.7]], ["holds", "holds", "holds", "erratum"]),
    ],
)
def test_figures_of_the_generalized_gaussian(scales: Any, stds: Any, verdicts: list[str]):
    assert _verdicts(gaussian_paper.figure_claims(scales, stds)) == verdicts


NAMES = (LAPLACE_PURE, PROBABLE, APPROXIMATE, "ours, approximate: tailored", "ours, pure: staircase")


def _outcomes(l1: tuple[float, ...], kl: tuple[float, ...] | None = None, cubic: float | None = None) -> list[Outcome]:
    names, first = [*NAMES], [*l1]
    if cubic is not None:
        names, first = [*names, CUBIC], [*first, cubic]
    second = kl or tuple(first)
    return [
        Outcome("data", name, 1.0, None if "pure" in name else 0.1, float(a), 0.1, float(b), 0.1)
        for name, a, b in zip(names, first, second, strict=True)
    ]


@pytest.mark.parametrize(
    ("errors", "scores", "verdicts"),
    [
        ((1, 2, 3, 2, 1), (0.8, 0.795, 0.81), ["holds", "holds", "holds", "holds"]),
        ((3, 2, 3, 2, 1), (0.8, 0.79, 0.78), ["fails", "fails", "differs", "holds"]),
        ((1, 4, 3, 4, 1), (0.8, 0.85, 0.8), ["holds", "fails", "holds", "fails"]),
    ],
)
def test_experiments_of_the_generalized_gaussian(errors: Any, scores: Any, verdicts: list[str]):
    rows: list[list[object]] = [["any", 1.0, 0.01, score, 0.0] for score in scores]
    assert _verdicts(gaussian_paper.experiment_claims(_outcomes(errors), rows, 100)) == verdicts


def test_rules_of_the_generalized_gaussian_are_judged_by_the_verifier(monkeypatch: pytest.MonkeyPatch):
    expected = ["fails", "erratum", "holds", "fails", "holds", "fails"]
    assert _verdicts(gaussian_paper.rule_claims()) == expected
    monkeypatch.setattr(gaussian_paper, "probabilistic_delta", lambda *_: (Fraction(1, 200), "rule"))
    monkeypatch.setattr(gaussian_paper, "bounded_ratio", lambda *_: (Fraction(1, 20), "rule"))
    monkeypatch.setattr(gaussian_paper, "gaussian_printed_std", lambda *_: 2.0)
    monkeypatch.setattr(gaussian_paper, "clamped_deltas", lambda: (0.01, 0.01))
    assert _verdicts(gaussian_paper.rule_claims()) == ["fails", "holds", "holds", "holds", "fails", "holds"]


def test_conditions_of_non_identical_noise_are_judged_by_what_was_certified(monkeypatch: pytest.MonkeyPatch):
    assert _verdicts(non_identical_claims._condition_claims()) == ["fails", "fails"]
    monkeypatch.setattr(non_identical_claims, "mid", lambda *_: 3.0)
    monkeypatch.setattr(non_identical_claims, "composed_delta", lambda *_: Fraction(1, 2))
    assert _verdicts(non_identical_claims._condition_claims()) == ["holds", "holds"]
