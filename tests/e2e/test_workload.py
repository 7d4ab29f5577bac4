"""`noisewright workload` as a person uses it; no option of it can be dropped unnoticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from tests.e2e.command import Cli, assert_failed, assert_succeeded

W = nw.Workload


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    (tmp_path / "w.csv").write_text("1,0,1/2\n0,2,1\n", encoding="utf-8")
    (tmp_path / "x.csv").write_text("5,6\n7,8\n", encoding="utf-8")
    (tmp_path / "s.json").write_text('{"0,1": 500000, "2,0": 7}', encoding="utf-8")
    return tmp_path


def test_a_design_prints_saves_plots_and_answers(cli: Cli, tables: Path):
    outcome = cli(
        *("workload", "ranges", "--n", "4", "--rho", "0.1", "--table", "x.csv"),
        *("--save", "m.json", "--save-report", "r.json", "--plot", "m.png"),
    )
    assert_succeeded(outcome)
    assert "optimal, Gaussian wins" in outcome.out
    assert "\n1..3: " in outcome.out
    assert "±" in outcome.out
    assert (tables / "m.png").stat().st_size > 1000
    kept = nw.Certified.load(tables / "m.json")
    assert kept.mechanism.query == W.ranges(4)
    for words in (("verify", "m.json"), ("verify", "r.json"), ("describe", "m.json"), ("explain", "m.json")):
        assert_succeeded(cli(*words))
    told = cli("answer", "m.json", "--value", '{"2": 1000000}')
    assert_succeeded(told)
    assert [abs(float(v) - 1e6 * (i in (2, 3, 5, 6, 7, 8))) < 100 for i, v in enumerate(told.out.split(","))] == [
        True
    ] * 10


@pytest.mark.parametrize(
    ("words", "query"),
    [
        (("prefixes", "--n", "5"), W.prefixes(5)),
        (("identity", "--n", "3"), W.identity(3)),
        (("total", "--n", "3"), W.total(3)),
        (("ranges", "--n", "3", "--cells-per-person", "2"), W.ranges(3, cells_per_person=2)),
        (("ranges", "--n", "3", "--replace"), W.ranges(3, replace=True)),
        (("marginals", "--sizes", "3,2", "--ways", "0,2"), W.marginals([3, 2], [(), (0, 1)])),
        (("marginals", "--sizes", "3,2", "--which", "1;0,1;total"), W.marginals([3, 2], [(1,), (0, 1), ()])),
        (("marginals", "--sizes", "a=3,b=2", "--which", "b"), W.marginals({"a": 3, "b": 2}, [("b",)])),
        (("matrix", "--matrix", "w.csv"), W([[1, 0, "1/2"], [0, 2, 1]])),
    ],
)
def test_the_questions_are_those_that_were_typed(cli: Cli, tables: Path, words: tuple[str, ...], query: nw.Workload):
    outcome = cli("workload", *words, "--epsilon", "1/3", "--json")
    assert_succeeded(outcome)
    assert outcome.data["query"] == query.to_dict()
    assert outcome.data["privacy"] == {"kind": "pure", "epsilon": "1/3"}
    assert outcome.data["released"] is None


@pytest.mark.parametrize(
    ("words", "promise"),
    [
        (("--epsilon", "1", "--delta", "1e-6"), nw.ApproxDP(1, "1e-6")),
        (("--rho", "1/3"), nw.ZeroConcentratedDP("1/3")),
        (("--notion", "renyi", "--alpha", "3", "--epsilon", "1"), nw.RenyiDP(3, 1)),
    ],
)
def test_the_promise_and_the_utility_are_those_that_were_typed(cli: Cli, words: tuple[str, ...], promise: Any):
    outcome = cli("workload", "prefixes", "--n", "3", *words, "--utility", "worst-variance", "--json")
    assert_succeeded(outcome)
    assert outcome.data["privacy"] == promise.to_dict()
    assert outcome.data["utility"] == nw.WorstVariance().to_dict()


def test_a_table_of_attributes_is_given_where_somebody_is(cli: Cli, tables: Path):
    words = ("workload", "marginals", "--sizes", "3,2", "--ways", "1", "--rho", "1")
    outcome = cli(*words, "--table", "s.json", "--json")
    assert_succeeded(outcome)
    assert outcome.data["released"] == pytest.approx([5e5, 0, 7, 7, 5e5], abs=100)
    assert "\n1=1: " in cli(*words, "--table", "s.json").out


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("rangs", "--n", "3"), "give one of identity, total"),
        (("ranges",), "ranges needs --n"),
        (("ranges", "--n", "x"), "--n is 'x'"),
        (("ranges", "--n", "0"), "n is 0"),
        (("ranges", "--n", "3", "--sizes", "3"), "--sizes does not fit ranges, which takes --n"),
        (("ranges", "--n", "3", "--table", "x.csv"), "4 counts"),
        (("ranges", "--n", "3", "--table", "none.csv"), "cannot be read"),
        (("ranges", "--n", "1000000", "--utility", "worst-variance"), "at most 2048"),
        (("ranges", "--n", "3", "--cells-per-person", "0"), "cells_per_person is 0"),
        (("marginals", "--sizes", "3,2"), "either --which or --ways"),
        (("marginals", "--sizes", "3,2", "--ways", "3"), "whole numbers from 0 to 2"),
        (("marginals", "--sizes", "3,a", "--ways", "1"), "--sizes is 'a'"),
        (("marginals", "--sizes", "a=3,2", "--ways", "1"), "a name for each or for none"),
        (("marginals", "--sizes", "a=3,a=2", "--ways", "1"), "names an attribute twice"),
        (("marginals", "--sizes", "3,2", "--which", "7"), "there is no attribute 7"),
        (("marginals", "--sizes", "3,2", "--ways", "1", "--table", "w.csv"), "count"),
        (("matrix",), "matrix needs --matrix"),
    ],
)
def test_mistakes_are_explained(cli: Cli, tables: Path, words: tuple[str, ...], part: str):
    assert_failed(cli("workload", *words, "--rho", "1"), 2, part)


def test_no_message_repeats_a_private_count(cli: Cli, tables: Path):
    (tables / "s.json").write_text(json.dumps({"0;1": 424242}), encoding="utf-8")
    outcome = cli("workload", "marginals", "--sizes", "3,2", "--ways", "1", "--rho", "1", "--table", "s.json")
    assert_failed(outcome, 2, "is not named by whole numbers")
    assert "424242" not in outcome.err
