"""What is released of a workload: tables in several forms, answers that fit one another, refusals that keep secrets."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.laws.gaussian import RoundedNormal
from noisewright.numerics.balls import around, ball, lower, precision, upper
from noisewright.problem.records import digest
from noisewright.sample.certified import make_certified
from noisewright.sample.integer_noise import below, normal_rows
from noisewright.sample.inversion import Inverter
from tests.replay import Replay, SameEntropy
from tests.workloads import STRATEGIES, M, W

each_strategy = pytest.mark.parametrize("name", STRATEGIES)


def _certified(name: str) -> nw.Certified:
    strategy = STRATEGIES[name]
    gaussian = isinstance(strategy, M.GaussianStrategy)
    return make_certified(strategy, nw.ZeroConcentratedDP(900) if gaussian else nw.PureDP(30))


@each_strategy
def test_a_release_holds_answers_a_table_and_half_widths(name: str):
    certified = _certified(name)
    query = certified.mechanism.query
    released = certified.release([3] * query.size)
    assert released.answers.shape == released.half_widths.shape == (query.dimension,) == (len(released),)
    assert (released.half_widths > 0).all()
    assert (released.half_widths_at(0.99) > released.half_widths).all()
    assert list(released) == list(released.answers)
    for values in (released.answers, released.half_widths_at(0.9), *released.measured):
        assert np.isfinite(values.astype(float)).all()
    with pytest.raises(ValueError, match="read-only"):
        released.answers[0] = 0
    with pytest.raises(AttributeError):
        released.measured = ()  # type: ignore[misc]  # on purpose
    with pytest.raises(nw.errors.InvalidNumberError):
        released.half_widths_at(1)


@pytest.mark.parametrize(
    "name", ["blocks", "wavelet", "three branches", "filter for ranges", "Laplace wavelet", "optimal"]
)
def test_one_run_of_cells_has_the_answer_and_half_width_of_its_question(name: str):
    if name == "optimal":
        report = nw.design(W.ranges(9), privacy=nw.ZeroConcentratedDP(1), utility=nw.SquaredError())
        certified = next(c.certified for c in report.candidates if c.name == "optimal, Gaussian")
    else:
        certified = _certified(name)
    n = certified.mechanism.query.size
    released = certified.release([3] * n)
    runs = [(i, j) for i in range(n) for j in range(i, n)]  # the order of the ranges, which come first
    for k, (first, last) in enumerate(runs):
        answer, half_width = released.run(first, last)
        assert answer == pytest.approx(released.answers[k], abs=1e-9)
        assert half_width == pytest.approx(released.half_widths[k], rel=1e-6)
    assert released.run(1, 3, confidence=0.99)[1] > released.run(1, 3)[1]
    for bad in ((-1, 2), (3, 2), (0, n), (0.5, 2)):
        with pytest.raises(nw.errors.InvalidNumberError):
            released.run(*bad)


def test_runs_that_the_questions_do_not_tell_are_refused():
    with pytest.raises(nw.errors.InvalidAnswerError, match="marginals"):
        _certified("residuals").release([3] * 24).run(0, 2)
    merged = _certified("merged").release([3] * 4)
    assert merged.run(0, 1)[0] == pytest.approx(merged.estimate[0] + merged.estimate[1])
    for run in ((0, 0), (1, 2), (0, 2)):
        with pytest.raises(nw.errors.InvalidAnswerError, match="do not tell"):
            merged.run(*run)


def test_a_table_is_given_by_cell_by_array_or_by_those_who_are_there():
    certified = _certified("residuals")
    sizes = (3, 2, 4)
    people = [(0, 1, 3), (2, 0, 0), (0, 1, 3), (1, 1, 1)]
    table = np.zeros(sizes, dtype=int)
    for cell in people:
        table[cell] += 1
    wanted = [values.tolist() for values in certified.mechanism.law_given(table)]
    for same in (table.ravel().tolist(), table.astype(float), table.ravel(), Counter(people), table.astype(object)):
        assert [values.tolist() for values in certified.mechanism.law_given(same)] == wanted
    line = _certified("wavelet").mechanism
    assert [v.tolist() for v in line.law_given({2: 5})] == [
        v.tolist() for v in line.law_given([0, 0, 5, 0, 0, 0, 0, 0])
    ]


def test_counts_beyond_machine_integers_are_measured_exactly():
    for name, huge in product(("residuals", "wavelet", "dense", "blocks", "filter for ranges"), (2**61, 2**56)):
        strategy = STRATEGIES[name]
        counts = [huge - i * i for i in range(strategy.query.size)]
        found = strategy.law_given(counts)
        small = strategy.law_given([i * i for i in range(strategy.query.size)])
        flat = strategy.law_given([1] * strategy.query.size)
        for a, b, c in zip(found, small, flat, strict=True):
            assert [int(v) for v in a] == [huge * int(w) - int(u) for u, w in zip(b, c, strict=True)]


@pytest.mark.parametrize(
    "table",
    [
        [8675309],
        [8675309] * 23 + [-1],
        [8675309] * 23 + [0.5],
        [8675309] * 23 + [float("nan")],
        ["8675309 people"] * 24,
        {(3, 0, 0): 8675309},
        {(0, 0): 8675309},
        {5: 8675309},
        {(0, 0, "x"): 8675309},
        {(0, 0, 0): -8675309},
        8675309,
        "8675309",
        np.full(24, -8675309),
    ],
)
def test_what_is_no_table_is_refused_without_being_repeated(table: Any):
    with pytest.raises(nw.errors.InvalidInputError) as refusal:
        _certified("residuals").release(table)
    assert "8675" not in str(refusal.value)


@pytest.mark.parametrize("name", ["wavelet", "dense", "residuals", "Laplace blocks"])
@pytest.mark.parametrize("integer", [False, True])
def test_adjusted_answers_belong_to_a_table_that_could_be_true(name: str, integer: bool):
    certified = _certified(name)
    query = certified.mechanism.query
    truth = np.array([0, 3] * (query.size // 2))
    released = certified.release(truth)
    adjusted = released.adjusted(integer=integer)
    assert (adjusted.estimate >= 0).all()
    assert not integer or (adjusted.estimate == np.round(adjusted.estimate)).all()
    assert adjusted.answers == pytest.approx(np.array(query.matrix(), dtype=float) @ adjusted.estimate)
    assert adjusted.moved == pytest.approx(np.abs(adjusted.estimate - released.estimate).sum())
    assert (np.abs(adjusted.estimate - truth) <= np.abs(released.estimate - truth) + 1e-9 + integer / 2).all()
    with pytest.raises(nw.errors.InvalidNumberError):
        released.adjusted(integer=1)  # type: ignore[arg-type]  # on purpose


def test_a_table_too_large_to_list_is_given_by_those_who_are_there():
    query = W.marginals([100] * 10, [(0, 3), (9,), ()])
    best = nw.design(query, privacy=nw.ZeroConcentratedDP(1), utility=nw.SquaredError()).best
    released = best.release({(7,) * 10: 40_000, (2, *([7] * 9)): 3})
    assert released.answers.shape == (10_101,)
    assert released.answers[707] == pytest.approx(40_000, abs=60)
    with pytest.raises(nw.errors.InvalidAnswerError, match="mapping"):
        best.release([1, 2, 3])
    with pytest.raises(nw.errors.InvalidAnswerError, match="too many to build"):
        _ = released.estimate


def test_errors_are_drawn_and_many_tables_are_released():
    certified = _certified("dense")
    assert certified.draw(7).shape == (7, 2)
    assert certified.draw(0).shape == (0, 2)
    many = certified.release_many([[1] * 6, [2] * 6])
    assert [released.answers.shape for released in many] == [(2,), (2,)]
    with pytest.raises(nw.errors.InvalidNumberError):
        certified.draw(10**9)


@each_strategy
def test_every_row_has_noise_of_its_own(name: str):
    mechanism = STRATEGIES[name]
    certified = _certified(name)
    first, second = (certified.release({}, entropy=SameEntropy(seed)).measured for seed in (1, 2))
    for group, (a, b) in enumerate(zip(first, second, strict=True)):
        assert len(a) == len(b) == len(mechanism.law_given({})[group])
        assert len(a) < 3 or len(set(map(int, a))) > 1
    assert any((a != b).any() for a, b in zip(first, second, strict=True))


def test_the_noise_of_a_release_is_as_fine_as_its_rows():
    strategy = M.GaussianStrategy(W.identity(2000), M.BlockRows(2000, 2, [0]), [3], 1000)
    drawn = make_certified(strategy, nw.ZeroConcentratedDP(1)).release({}).measured[0][:2000]
    # Outside of these limits with a probability below 1e-9.
    assert 0.8 < float(np.mean(drawn.astype(float) ** 2)) / 3e6 < 1.25


# ---- what was certified is what is read


def _edits(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    mechanism = data["mechanism"]
    part = mechanism["query"]["parts"][0]
    return {
        "a scale": {**mechanism, "levels": [str(Fraction(v) * Fraction(9, 10)) for v in mechanism["levels"]]},
        "a count of cells": {**mechanism, "query": {**mechanism["query"], "cells_per_person": 2}},
        "people who are replaced": {**mechanism, "query": {**mechanism["query"], "replace": True}},
        "a weight": {
            **mechanism,
            "query": {**mechanism["query"], "parts": [{**part, "weight": "7"}, *mechanism["query"]["parts"][1:]]},
        },
    }


@each_strategy
@pytest.mark.parametrize("edit", ["a scale", "a count of cells", "people who are replaced", "a weight"])
def test_an_edited_file_is_refused(name: str, edit: str):
    strategy = STRATEGIES[name]
    gaussian = isinstance(strategy, M.GaussianStrategy)
    trial = nw.certify(strategy, nw.ZeroConcentratedDP(900) if gaussian else nw.PureDP(30))
    claim = nw.ZeroConcentratedDP(trial.bound) if gaussian else nw.PureDP(trial.bound)
    data = json.loads(json.dumps(make_certified(strategy, claim).to_dict()))
    assert nw.Certified.from_dict(data).to_dict() == data
    changed = {**data, "mechanism": _edits(data)[edit]}
    with pytest.raises(nw.errors.MechanismFileError):
        nw.Certified.from_dict(changed)
    # With the digests made to fit, what protects less is refused by the proof, and nothing else is believed.
    changed["certificate"] = {**data["certificate"], "mechanism": digest(changed["mechanism"])}
    content = {key: value for key, value in changed.items() if key != "digest"}
    sealed = {**content, "digest": digest(content)}
    if edit == "a weight":
        assert nw.Certified.from_dict(sealed).certificate.bound == trial.bound
        return
    with pytest.raises((nw.errors.MechanismFileError, nw.errors.UncertifiedError)):
        nw.Certified.from_dict(sealed)


@pytest.mark.parametrize("name", ["dense", "Laplace dense", "merged"])
def test_an_edited_entry_of_a_strategy_is_refused(name: str):
    strategy = STRATEGIES[name]
    gaussian = isinstance(strategy, M.GaussianStrategy)
    bound = nw.certify(strategy, nw.ZeroConcentratedDP(900) if gaussian else nw.PureDP(30)).bound
    rows = [list(row) for row in strategy.rows.matrix]
    rows[0][0] += 40
    edited = replace(strategy, rows=replace(strategy.rows, matrix=rows))
    with pytest.raises(nw.errors.UncertifiedError):
        nw.certify(edited, nw.ZeroConcentratedDP(bound) if gaussian else nw.PureDP(bound))


# ---- the sampler


def test_floats_around_the_normal_distribution_function_stay_within_their_margin():
    places = np.concatenate([np.linspace(-7.99, 7.99, 4001), [k / 1024 for k in range(-4001, 4001, 97)], [0.0]])
    found = below(places)
    with precision(128):
        for x, value in zip(places, found, strict=True):
            y = ball(Fraction(float(x))) * (1 + around(0.0, 2.0**-51))
            true = (-y / ball(2).sqrt()).erfc() / 2
            assert lower(true) - Fraction(1, 2**52) <= Fraction(float(value)) <= upper(true) + Fraction(1, 2**52)


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(7, 3), Fraction(10**6), Fraction(10**13, 7)])
def test_words_near_an_edge_and_in_the_tails_are_decided_as_balls_decide_them(variance: Fraction):
    law: Any = RoundedNormal(variance)
    words = [0, 1, 2**11 - 1, 2**11, 2**64 - 1, 2**64 - 2**11, 2**63, 2**63 - 1, 12345678901234567890]
    inverter = Inverter(law)
    for k in (-3, -1, 0, 1, 2, 40):
        low, high = inverter.scaled_cdf(k, 64)
        words += [w for v in (low, high) for w in (v - 2**11, v - 1, v, v + 1, v + 2**11) if 0 <= w < 2**64]
    for word in words:
        more = Replay([], seed=7).words(8)
        drawn = normal_rows(variance, None, 1, Replay([word, *map(int, more)], seed=1))
        wanted = inverter.invert(word, 64, Replay(map(int, more), seed=1))
        assert int(drawn[0]) == wanted


def test_what_floats_leave_open_is_decided_for_the_variance_of_its_own_row():
    law: Any = RoundedNormal(Fraction(7, 3) * 49)
    low, _ = Inverter(law).scaled_cdf(4, 64)
    drawn = normal_rows(Fraction(7, 3), np.array([49]), 1, Replay([low - 2**20], seed=1))
    beyond = normal_rows(Fraction(7, 3), np.array([49]), 1, Replay([low + 2**20], seed=1))
    tail = normal_rows(Fraction(7, 3), np.array([49]), 1, Replay([1], seed=1))
    assert (int(drawn[0]), int(beyond[0])) == (4, 5)
    assert int(tail[0]) == Inverter(law).invert(1, 64, Replay([], seed=1))
    assert int(tail[0]) < -60


def test_each_row_has_the_variance_of_its_own_factor():
    factors = np.array([1, 10**4, 1, 10**8], dtype=np.int64)
    word = 2**63 + 2**61
    drawn = normal_rows(Fraction(100), factors, 4, Replay([word] * 4, seed=1))
    assert [round(v / 10) for v in drawn / np.array([1, 100, 1, 10**4])] == [0] * 4
    assert drawn[0] == drawn[2]
    assert drawn[3] / drawn[1] == pytest.approx(100, rel=1e-2)
