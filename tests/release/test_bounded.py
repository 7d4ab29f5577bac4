"""Answers in bounds: never outside, right on average, with half-widths that hold for every true answer."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noisewright as nw
from noisewright.app.cli.saved import verify
from noisewright.problem.records import digest
from noisewright.proof.renyi import pure_to_renyi
from noisewright.release.plan.arranging import layout_of, strategy_of
from noisewright.release.plan.design import designed
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.plan.noise import drawn, price_of, widths
from noisewright.release.plan.plan import Plan
from noisewright.release.plan.smallest_budget import _Search
from noisewright.release.plan.strategies.in_bounds import InBounds, pure_within
from noisewright.release.plan.targets import targets_of
from tests.release.test_plans import PRIVACIES, WARDS, dataset

MANY = 40_000
TIGHT = nw.count(by=nw.keys("k", range(MANY)), outputs=(-2, 62), inputs=(0, 60))
FEW = ContributionBounds(1, 1, False)


def noise_of(question: Any, limits: ContributionBounds = FEW, privacy: Any = None) -> tuple[Any, Any]:
    layout = layout_of([question], limits)
    return designed(layout, privacy or nw.PureDP(1), nw.SquaredError(), {}), layout


@cache
def answers(truth: int) -> Any:
    """What is released of as many groups, each with this true answer."""
    noise, layout = noise_of(TIGHT)
    return np.array(drawn(noise.blocks, layout, [truth] * MANY))


def test_answers_are_within_bounds_and_right_on_average():
    # False alarms: each mean is beyond 6 standard errors 2 times in 10^9. Clamping plain noise moves the mean at 0 by
    # b^3 / (1 - b^2) = 0.0576 with b = 1/e, which is farther than what is allowed.
    for truth in (0, 30, 60):
        found = answers(truth)
        assert found.min() >= -2
        assert found.max() <= 62
        error = found.std() / math.sqrt(MANY)
        assert abs(found.mean() - truth) < 6 * error < 0.055


def test_half_widths_hold_for_every_true_answer():
    # False alarms: each true answer is below by more than 5 standard errors 3 times in 10^7.
    noise, layout = noise_of(TIGHT)
    [[width]] = widths(noise.blocks, layout, Fraction(19, 20))
    for truth in (0, 30, 60):
        assert (np.abs(answers(truth) - truth) <= width).mean() > 0.95 - 5 * math.sqrt(0.05 * 0.95 / MANY)
    assert (np.abs(answers(30) - 30) <= width - 1).mean() < 0.95, "one less does not cover"


def test_true_answers_beyond_the_inputs_are_clamped_and_raise_nothing():
    noise, layout = noise_of(TIGHT)
    found = drawn(noise.blocks, layout, [10**9, -(10**9)] * (MANY // 2))
    assert min(found) >= -2
    assert max(found) <= 62
    assert abs(np.mean(found[::2]) - 60) < 0.1
    assert abs(np.mean(found[1::2])) < 0.1


@pytest.mark.parametrize("privacy", PRIVACIES, ids=lambda privacy: type(privacy).__name__)
def test_every_requirement_is_kept_by_all_groups_of_a_person(privacy: Any):
    question = nw.count(by=WARDS, outputs=(-200, 700), inputs=(0, 500))
    noise, layout = noise_of(question, ContributionBounds(2, 2, False), privacy)
    costs = price_of(noise.blocks, layout).costs()
    # Independently of what is charged: a person is in two groups, each with a draw of its own.
    one = noise.blocks[0].certified.costs()
    if isinstance(privacy, nw.ZeroConcentratedDP):
        assert 2 * one.concentrated()[0] <= privacy.rho
    elif isinstance(privacy, nw.RenyiDP):
        assert 2 * one.divergence(privacy.alpha) <= privacy.epsilon
    else:
        assert 2 * one.pure() <= privacy.epsilon
    assert noise.blocks[0].certified.certificate.rule.endswith("mean")
    if isinstance(privacy, nw.ZeroConcentratedDP):
        assert Fraction(49, 100) < costs.concentrated()[0] <= privacy.rho
    elif isinstance(privacy, nw.RenyiDP):
        assert Fraction(9, 10) < costs.divergence(privacy.alpha) <= privacy.epsilon
    else:
        assert Fraction(99, 100) < costs.pure() <= 1


def test_pure_requirements_within_others_are_the_largest():
    rho = nw.ZeroConcentratedDP("0.3")
    kept = pure_within(rho).epsilon
    assert kept**2 / 2 <= rho.rho < (kept + Fraction(1, 10**8)) ** 2 / 2
    renyi = nw.RenyiDP(3, "0.2")
    kept = pure_within(renyi).epsilon
    assert pure_to_renyi(kept, Fraction(3)) <= renyi.epsilon < pure_to_renyi(kept + Fraction(1, 10**8), Fraction(3))


def test_what_one_person_moves_is_no_more_than_the_inputs():
    layout = layout_of([nw.count(outputs=(-50, 60), inputs=(0, 3))], ContributionBounds(7, 1, False))
    assert layout.tables[0].strategy.query(layout.tables[0]).sensitivity == 3
    wide = layout_of([nw.count(outputs=(-50, 60), inputs=(0, 30))], ContributionBounds(7, 1, False))
    assert wide.tables[0].strategy.query(wide.tables[0]).sensitivity == 7


def test_bounds_of_sums_are_in_their_own_units():
    asked = nw.ask.sum("cost", bounds=(0, 500), step="0.3", outputs=(-5000, "12000.1"), inputs=("0.1", 7000))
    way = strategy_of(asked)
    assert isinstance(way, InBounds)
    assert way.outputs == (-16666, 40000), "no wider than what was said"
    assert way.inputs == (0, 23334), "no narrower than what was said"
    noise, layout = noise_of(asked)
    found = [drawn(noise.blocks, layout, [20_000])[0] * Fraction(3, 10) for _ in range(50)]
    assert all(-5000 <= value <= Fraction(120001, 10) for value in found)


def test_narrow_inputs_get_the_best_of_all_laws():
    noise, _ = noise_of(nw.count(outputs=(-8, 18), inputs=(0, 10)), ContributionBounds(2, 1, False))
    best = nw.design(
        nw.Scalar(2, integer=True, inputs=(0, 10), outputs=(-8, 18), unbiased=True),
        privacy=nw.PureDP(1),
        utility=nw.SquaredError(),
        progress=False,
    )
    assert noise.blocks[0].certified.mechanism == best.best.mechanism
    assert noise.blocks[0].name == "linear programme"


def test_a_release_with_bounds_is_stored_saved_and_proven_again(tmp_path: Path, capsys):
    data = dataset(tmp_path)
    plan = data.plan(
        nw.count(by=WARDS, outputs=(-150, 450), inputs=(0, 300)),
        nw.ask.persons(by=WARDS, outputs=(-150, 450), inputs=(0, 300)),
        nw.ask.histogram("age", edges=[0, 50, 100], outputs=(-150, 450), inputs=(0, 300)),
        nw.ask.persons(name="all"),
        privacy=nw.PureDP(1),
    )
    assert len(plan.layout.tables) == 4, "each number with bounds stands by itself"
    answers = plan.release()
    assert answers["value"][:8].between(-150, 450).all()
    assert (answers["mechanism"][:8] == "clamped staircase").all()
    pd.testing.assert_frame_equal(plan.release(), answers)
    assert plan.selfcheck(5).startswith("held")
    assert "Every answer lies within -150 to 450 and is right on average" in str(plan)
    plan.save(tmp_path / "p.json")
    assert Plan.load(tmp_path / "p.json").to_dict() == plan.to_dict()
    verify(tmp_path / "p.json")
    assert "epsilon = 1 for all answers together" in capsys.readouterr().out
    forged = json.loads(json.dumps(plan.to_dict()))
    forged["questions"][0]["within"]["inputs"] = ["0", "299"]
    bare = {name: value for name, value in forged.items() if name != "digest"}
    with pytest.raises(nw.errors.MechanismFileError, match="answers another question"):
        Plan.from_dict({**bare, "digest": digest(bare)})


def test_bounds_that_cannot_be_kept_are_refused_with_the_nearest(tmp_path: Path):
    data = dataset(tmp_path)
    with pytest.raises(nw.errors.InfeasibleError, match="it takes outputs of at least -4 to 304") as refused:
        data.plan(nw.count(by=WARDS, outputs=(0, 400), inputs=(0, 300)), privacy=nw.PureDP(1))
    assert refused.value.fields["outputs"] == (-4, 304)
    data.plan(nw.count(by=WARDS, outputs=(-4, 304), inputs=(0, 300)), privacy=nw.PureDP(1))
    cost = {"bounds": (0, 500), "step": "0.5", "inputs": (0, 10_000)}
    with pytest.raises(nw.errors.InfeasibleError, match=r"at least -582 to 10582 or an epsilon of at least") as refused:
        data.plan(nw.ask.sum("cost", outputs=("-7.5", 11_000), **cost), privacy=nw.PureDP(1))
    data.plan(nw.ask.sum("cost", outputs=(-7000, 17_000), **cost), privacy=nw.PureDP(1))
    assert data.ledger is not None
    assert data.ledger.spent == 0


def test_targets_take_bounds_that_cannot_be_kept_for_a_target_that_is_missed():
    question = nw.count(outputs=(-6, 406), inputs=(0, 400))
    aims = targets_of([question], {"count": 300}, "0.95", None, None)
    search = _Search(layout_of([question], FEW).tables[0], aims, nw.SquaredError(), None)
    assert search.ratio(Fraction(1, 10)) == 2, "with so little, no law stays within the bounds and is right on average"
    assert search.ratio(Fraction(2)) < 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"outputs": (0, 5)}, "outputs is given without inputs"),
        ({"inputs": (0, 5)}, "inputs is given without outputs"),
        ({"outputs": (0, 5), "inputs": (0, 6)}, "the true answers must lie inside"),
        ({"outputs": (5, 0), "inputs": (0, 6)}, "outputs is 5 to 0"),
        ({"outputs": (0, "x"), "inputs": (0, 6)}, "outputs"),
        ({"outputs": (-1e13, 1e13), "inputs": (0, 6)}, "give another step="),
    ],
)
def test_wrong_bounds_are_refused_at_once(given: Any, words: str):
    with pytest.raises(nw.errors.InvalidInputError, match=words):
        layout_of([nw.count(**given)], FEW)
