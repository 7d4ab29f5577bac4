"""Prefix sums one count at a time: what is released by the end is one release, whatever was saved in between."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.numerics.fields import FLOATS
from noisewright.proof.strategies import strategy_squared_sensitivity
from noisewright.sample.certified import make_certified
from noisewright.sample.strategy import WorkloadAnswer
from tests.audit.forging import resealed
from tests.replay import Replay
from tests.workloads import M, W

COUNTS = [3, 0, 7, 1, 0, 12, 5, 5, 2]


def _optimal(size: int) -> nw.Certified:
    report = nw.design(W.prefixes(size), privacy=nw.ZeroConcentratedDP(1), utility=nw.SquaredError())
    return next(c.certified for c in report.candidates if c.name == "optimal, Gaussian")


STREAMS = {
    "optimal": _optimal(9),
    "cells": make_certified(M.LaplaceStrategy(W.prefixes(9), M.BlockRows(9, 2, [0]), [2], 3), nw.PureDP(1)),
    "endless": make_certified(
        M.LaplaceStrategy(W.prefixes(9), M.EndlessRows(9), ["7/3"], 2), nw.PureDP(Fraction(3, 7))
    ),
    "endless Gaussian": make_certified(
        M.GaussianStrategy(W.prefixes(9), M.EndlessRows(9), [2], 9), nw.ZeroConcentratedDP("1/4")
    ),
    "blocks": make_certified(
        M.GaussianStrategy(W.prefixes(9), M.BlockRows(9, 2, [0, 1, 3]), [3, 4, 5], 7), nw.ZeroConcentratedDP(1)
    ),
}
each_stream = pytest.mark.parametrize("name", STREAMS)


@each_stream
def test_all_rows_of_the_strategy_are_released_once_and_no_others(name: str):
    certified = STREAMS[name]
    stream = certified.stream(entropy=Replay([2**63 + 2**51] * 400, seed=1))
    found = [stream.push(count) for count in COUNTS]
    assert stream.time == 9
    measured = [len(step) for step in stream.to_dict()["measured"]]
    # Blocks that end beyond the stream are never completed.
    ends = {"blocks": [1, 2, 1, 2, 1, 2, 1, 3, 1], "endless": [1, 2, 1, 3, 1, 2, 1, 4, 1]}
    assert measured == ends.get(name.partition(" ")[0], [1] * 9)
    if isinstance(certified.mechanism, M.GaussianStrategy):  # where the middle word is hardly any noise
        assert found == pytest.approx(np.cumsum(COUNTS), abs=0.5)
    with pytest.raises(nw.errors.InvalidAnswerError, match="9 counts"):
        stream.push(1)


def test_the_optimal_stream_gives_the_answers_of_one_release():
    certified = STREAMS["optimal"]
    stream = M.CountStream(certified)
    widths = []
    found = []
    for count in COUNTS:
        found.append(stream.push(count))
        widths.append(stream.half_width)
    measured = np.array([int(v) for step in stream.to_dict()["measured"] for v in step], dtype=object)
    together = WorkloadAnswer(certified.mechanism, [measured])
    assert found == pytest.approx(together.answers, abs=1e-6)
    assert widths == pytest.approx(together.half_widths, rel=1e-6)


@each_stream
def test_a_stream_goes_on_after_being_saved_and_draws_nothing_again(name: str):
    stream = M.CountStream(STREAMS[name])
    before = [stream.push(count) for count in COUNTS[:6]]
    again = M.CountStream.from_dict(json.loads(json.dumps(stream.to_dict())))
    assert again.to_dict() == stream.to_dict()
    assert again.half_width == stream.half_width
    one, other = (s.push(COUNTS[6]) for s in (stream, again))
    assert before[-1] - 60 < one < before[-1] + 70
    assert again.to_dict()["measured"][:6] == stream.to_dict()["measured"][:6]
    assert isinstance(other, float)


def test_an_endless_stream_costs_the_same_however_long_it_is():
    for size in (1, 9, 10**6, 2**40):
        strategy = M.GaussianStrategy(W.prefixes(size), M.EndlessRows(size), ["7/3"], 9)
        assert strategy_squared_sensitivity(strategy) == Fraction(3, 7)
        levels = [strategy.level(group) for group in range(60)]
        spent = sum(1 / v for v in levels)
        assert Fraction(3, 7) * Fraction(59, 60) < spent < Fraction(3, 7)
    with pytest.raises(nw.errors.InvalidMechanismError, match="prefix sums"):
        M.GaussianStrategy(W.ranges(9), M.EndlessRows(9), [2])
    with pytest.raises(nw.errors.InvalidAnswerError, match="one count at a time"):
        STREAMS["endless"].release(COUNTS)


def test_the_error_of_an_endless_stream_is_that_of_the_blocks_in_use():
    strategy = STREAMS["endless Gaussian"].mechanism
    stream = M.CountStream(STREAMS["endless Gaussian"])
    each = [float(v) for v in strategy.power_means(Fraction(2), FLOATS)]
    for count, variance in zip(COUNTS, each, strict=True):
        stream.push(count)
        assert stream.half_width == pytest.approx(1.96 * variance**0.5, rel=1e-3)
    blocks = {1: [0], 2: [1], 3: [1, 0], 7: [2, 1, 0], 9: [3, 0]}
    for time, levels in blocks.items():
        wanted = sum(2 * (l + 1) * (l + 2) + 1 / (12 * 81) for l in levels)  # noqa: E741  # a level
        assert each[time - 1] == pytest.approx(wanted, rel=1e-6)
    assert float(strategy.expected(nw.SquaredError())) == pytest.approx(sum(each), rel=1e-9)
    assert float(strategy.expected(nw.WorstVariance())) == pytest.approx(max(each), rel=1e-9)


def test_prefix_sums_without_an_end_are_designed():
    for privacy in (nw.ZeroConcentratedDP("0.5"), nw.PureDP(1), nw.ApproxDP(1, "1e-6")):
        report = nw.design(W.prefixes(2**40), privacy=privacy, utility=nw.SquaredError())
        stream = report.best.stream()
        assert [round(stream.push(10**6) / 10**6) for _ in range(20)] == list(range(1, 21))


def test_states_that_were_edited_and_strategies_out_of_order_are_refused():
    stream = M.CountStream(STREAMS["blocks"])
    stream.push(3)
    data = stream.to_dict()
    with pytest.raises(nw.errors.MechanismFileError, match="digest"):
        M.CountStream.from_dict({**data, "counts": ["4"]})
    edits: tuple[dict[str, Any], ...] = (
        {"counts": ["7/2"]},
        {"counts": ["-1"]},
        {"counts": [str(2**64)]},
        {"measured": [["7/2"]]},
        {"measured": [["3", "4"]]},
        {"measured": [[]]},
        {"measured": []},
    )
    for edited in edits:
        with pytest.raises(nw.errors.MechanismFileError) as refusal:
            M.CountStream.from_dict(resealed({**data, **edited}))
        assert "digest" not in str(refusal.value)
    assert M.CountStream.from_dict(resealed({**data, "counts": ["4"]})).time == 1
    with pytest.raises(nw.errors.InvalidInputError):
        stream.push(-1)
    assert stream.time == 1
    wrong = [
        make_certified(M.GaussianStrategy(W.ranges(4), M.BlockRows(4, 2, [0]), [9]), nw.ZeroConcentratedDP(1)),
        make_certified(M.GaussianStrategy(W.prefixes(4), M.ContrastRows(4, 2), [9, 9, 9]), nw.ZeroConcentratedDP(1)),
        make_certified(
            M.GaussianStrategy(W.prefixes(2), M.DenseRows([[2, 1], [0, 2]], [1, 2]), [9]), nw.ZeroConcentratedDP(1)
        ),
    ]
    for certified in wrong:
        with pytest.raises(nw.errors.InvalidMechanismError, match="order of time"):
            certified.stream()
