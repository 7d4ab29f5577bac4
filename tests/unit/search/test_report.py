"""Reports as text, as HTML, as data and as a picture."""

from __future__ import annotations

import copy
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import noisewright as nw
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Histogram, Scalar
from noisewright.problem.utilities import ErrorQuantile, Expected, Growth, LargestError, SquaredError, Usefulness
from noisewright.sample.certified import Certified
from noisewright.search.budget import budget_for
from noisewright.search.design import design

LOPSIDED = Expected(lambda x: x if x > 0 else -3 * x, growth=Growth(1, 3), name="cost of <beds>")
REPORTS = {
    "squared": design(Scalar(1), privacy=PureDP(1), utility=SquaredError()),
    "useful": design(Scalar("1/3"), privacy=PureDP("0.1"), utility=Usefulness("0.1")),
    "count": design(Scalar(3, integer=True), privacy=PureDP(2), utility=ErrorQuantile("0.9")),
    "sure": design(Scalar(1, integer=True), privacy=PureDP(10), utility=ErrorQuantile("0.5")),
    "lopsided": design(Scalar(2, integer=True), privacy=PureDP(1), utility=LOPSIDED),
}


@pytest.fixture(params=REPORTS)
def report(request):
    return REPORTS[request.param]


def test_the_table_shows_every_candidate_with_its_value_and_the_bound(report):
    text = str(report)
    for candidate in report.candidates:
        line = next(line for line in text.splitlines() if line.startswith(candidate.name))
        assert f"{candidate.value:.6g}" in line
    last = next(line for line in text.splitlines() if line.startswith("best possible"))
    assert f"{report.bound:.6g}" in last
    assert str(report.query) in text
    assert str(report.privacy) in text
    assert report.why in text


def test_html_shows_the_same(report):
    page = report._repr_html_()
    for candidate in report.candidates:
        assert f"<td>{candidate.name}</td><td>{candidate.value:.6g}</td>" in page
    assert "best possible" in page
    assert "<beds>" not in page


def test_why_names_the_winner_and_the_limit(report):
    assert report.why.startswith(report.candidates[0].name)
    assert re.search("no mechanism|the gap to the best possible mechanism", report.why)
    assert "\n" not in report.why


def test_why_gives_the_gain_over_laplace():
    assert "its error is 1.043 times smaller than that of Laplace noise" in REPORTS["squared"].why
    assert "times as often as with Laplace noise" in REPORTS["useful"].why


def test_data_survive_json_and_hold_mechanisms_that_can_be_proven_again(report):
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data["bound"] == report.bound
    assert data["why"] == report.why
    assert data["query"] == report.query.to_dict()
    for candidate, said in zip(report.candidates, data["candidates"], strict=True):
        assert (said["name"], said["value"], said["bias"]) == (candidate.name, candidate.value, candidate.bias)
        assert Certified.from_dict(said["certified"]).certificate.requirement == report.privacy


def test_a_users_loss_is_named_but_not_stored():
    assert REPORTS["lopsided"].to_dict()["utility"] == {"kind": "expected-loss"}
    assert REPORTS["useful"].to_dict()["utility"] == {"kind": "usefulness", "within": "1/10"}


def test_a_picture_shows_every_candidate_and_the_bound(report, tmp_path):
    path = tmp_path / "report.png"
    figure = report.plot(path)
    assert isinstance(figure, Figure)
    assert path.read_bytes().startswith(b"\x89PNG")
    right = figure.axes[1]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [c.name for c in report.candidates]
    bars = [bar for bar in right.patches if isinstance(bar, Rectangle)]
    assert [bar.get_width() for bar in bars] == [c.value for c in report.candidates]
    assert f"{report.bound:.4g}" in right.get_title()


def test_a_notebook_shows_the_picture_by_itself():
    picture = REPORTS["squared"].plot()
    shown = picture._repr_png_()  # type: ignore[attr-defined]
    assert isinstance(picture, Figure)
    assert shown.startswith(b"\x89PNG")
    assert int.from_bytes(shown[16:20], "big") == 1000
    assert len(shown) < 200_000


def test_the_plotted_curve_is_a_density():
    figure = REPORTS["squared"].plot()
    for line in figure.axes[0].get_lines():
        area = np.trapezoid(np.asarray(line.get_ydata()), np.asarray(line.get_xdata()))
        assert area == pytest.approx(1, abs=0.05)
        assert area < 1.0001


@pytest.mark.parametrize("utility", [SquaredError(), Usefulness(1), LargestError()], ids=str)
def test_a_histogram_is_pictured_by_the_error_of_one_bin(utility):
    report = design(Histogram(["a", "b", "c"], bins_per_person=2), privacy=PureDP(1), utility=utility)
    left, right = report.plot().axes
    assert left.get_xlabel() == "error of each released count"
    for line in left.get_lines():
        assert 0.9 < np.trapezoid(np.asarray(line.get_ydata()), np.asarray(line.get_xdata())) < 1.0001
    assert [b.get_width() for b in right.patches if isinstance(b, Rectangle)] == [c.value for c in report.candidates]


@pytest.mark.parametrize("name", ["report.docx", "absent/report.png"])
def test_a_picture_that_cannot_be_written(name, tmp_path):
    with pytest.raises(InvalidInputError, match=Path(name).name):
        REPORTS["squared"].plot(tmp_path / name)


@pytest.mark.parametrize(
    ("query", "utility", "target"),
    [(Scalar(1), Usefulness("1/2"), "0.6"), (Scalar(3, integer=True), LOPSIDED, 2)],
    ids=["useful", "lopsided"],
)
def test_a_budget_as_text_html_and_data(query, utility, target):
    budget = budget_for(query, utility=utility, target=target)
    text, page = str(budget), budget._repr_html_()
    for row in budget.rows:
        assert f"{float(row.epsilon):.6g}" in text
        assert f"<td>{row.name}</td><td>{float(row.epsilon):.6g}</td>" in page
    data = json.loads(json.dumps(budget.to_dict(), allow_nan=False))
    assert data["epsilon"] == str(budget.epsilon)
    assert [row["name"] for row in data["rows"]] == [row.name for row in budget.rows]
    assert Certified.from_dict(data["rows"][0]["certified"]).mechanism == budget.best.mechanism


ASKED: dict[str, tuple[Any, Any, Any]] = {
    "one number": (nw.Scalar(2), nw.PureDP(1), nw.SquaredError()),
    "an integer": (nw.Scalar(2, integer=True), nw.ZeroConcentratedDP(1), nw.Usefulness(1)),
    "several": (nw.Vector(nw.Box([1, 3])), nw.PureDP(1), nw.SquaredError([1, 2])),
    "linear": (
        nw.Linear([[0, 1, 2], [1, 0, 3]]),
        nw.MetricPrivacy(nw.metrics.Euclidean([(0, 0), (1, 1), (3, 2)])),
        nw.LargestError(),
    ),
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_pickled_report_is_proven_again_and_says_the_same(asked: str):
    query, privacy, utility = ASKED[asked]
    report = nw.design(query, privacy=privacy, utility=utility)
    again = pickle.loads(pickle.dumps(report))  # noqa: S301  # our own bytes
    assert again is not report
    assert again.to_dict() == report.to_dict()
    assert str(again) == str(report)
    assert copy.deepcopy(report) is report


def test_entropies_are_compared_by_their_difference():
    report = nw.design(nw.Scalar(3), privacy=nw.PureDP(1), utility=nw.ErrorEntropy())
    values = {c.name: c.value for c in report.candidates}
    assert f"{values['Laplace'] - values['staircase']:.4g} nats below that of Laplace noise" in report.why
