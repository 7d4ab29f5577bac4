"""`noisewright linear` as a person uses it."""

from __future__ import annotations

import pytest

from noisewright.sample.certified import Certified
from tests.e2e.command import Cli, assert_succeeded


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "q.csv").write_text("0,0,1,1\n12,18,240,260\n", encoding="utf-8")
    (tmp_path / "p.csv").write_text("0,0\n1,0\n9,8\n10,8\n", encoding="utf-8")
    (tmp_path / "d.csv").write_text("0,1,2,3\n1,0,1,2\n2,1,0,1\n3,2,1,0\n", encoding="utf-8")
    (tmp_path / "x.csv").write_text("5,6,7,8\n", encoding="utf-8")
    return tmp_path


def test_a_design_prints_saves_plots_and_answers(cli: Cli, tables):
    outcome = cli(
        "linear",
        *("--queries", str(tables / "q.csv"), "--points", str(tables / "p.csv"), "--scale", "1/2"),
        *("--histogram", str(tables / "x.csv"), "--save", str(tables / "m.json"), "--plot", str(tables / "m.png")),
    )
    assert_succeeded(outcome)
    assert "metric Laplace" in outcome.out
    assert "query 1: " in outcome.out
    assert Certified.load(tables / "m.json").certificate.bound == 1
    assert_succeeded(cli("verify", str(tables / "m.json")))
    assert_succeeded(cli("describe", str(tables / "m.json")))


@pytest.mark.parametrize("metric", [("--epsilon", "0.5"), ("--distances", "d.csv")])
def test_other_metrics_and_json(cli: Cli, tables, metric):
    option, value = metric
    given = str(tables / value) if value.endswith("csv") else value
    outcome = cli("linear", "--queries", str(tables / "q.csv"), option, given, "--json")
    assert_succeeded(outcome)
    assert outcome.data["candidates"][0]["certified"]
    assert outcome.data["released"] is None


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--queries", "q.csv"), "one of --points"),
        (("--queries", "q.csv", "--points", "p.csv", "--epsilon", "1"), "one of --points"),
        (("--queries", "none.csv", "--epsilon", "1"), "cannot be read"),
        (("--queries", "p.csv", "--points", "p.csv"), "2 columns for a universe of 4"),
        (("--queries", "q.csv", "--epsilon", "1", "--histogram", "p.csv"), "8 counts"),
    ],
)
def test_mistakes_are_explained(cli: Cli, tables, words, part):
    outcome = cli("linear", *(str(tables / w) if w.endswith("csv") else w for w in words))
    assert outcome.code != 0
    assert part in " ".join(outcome.err.split())
