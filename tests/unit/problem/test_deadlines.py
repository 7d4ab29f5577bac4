"""A deadline is kept by those who ask for it, in words, and by nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import noisewright as nw
from noisewright.accounting.composition import Composition
from noisewright.app.cli.saved import verify
from noisewright.numerics.balls import ball, precision, upper
from noisewright.problem import untrusted as deadlines
from noisewright.problem.errors import InvalidNumberError, MechanismFileError
from noisewright.problem.untrusted import plain_of, require_time, within
from noisewright.search.report.report import Report
from tests.ledger import menu
from tests.saved import CORPUS


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still until somebody sets it."""
    now = [1000.0]
    monkeypatch.setattr(deadlines, "monotonic", lambda: now[0])
    return now


def test_time_is_over_after_so_many_seconds_and_not_before(clock: list[float]):
    with within(7):
        clock[0] += 7
        require_time()
        clock[0] += 1
        with pytest.raises(MechanismFileError, match="longer than 7 seconds"):
            require_time()
    require_time()


def test_whoever_waits_outside_decides(clock: list[float]):
    with within(3), within(1000):
        clock[0] += 4
        with pytest.raises(MechanismFileError, match="longer than 3 seconds"):
            require_time()


@pytest.mark.parametrize(
    "work", [lambda: ball(3), lambda: nw.Scalar(2), lambda: plain_of('{"a": 1}')], ids=["balls", "births", "JSON"]
)
def test_what_long_work_is_made_of_asks_for_the_time(clock: list[float], work: Callable[[], object]):
    with within(1):
        work()
        clock[0] += 2
        with pytest.raises(MechanismFileError, match="allow more"):
            work()


def test_ends_of_balls_ask_for_the_time(clock: list[float]):
    with precision(64), within(1):
        value = ball(3)
        clock[0] += 2
        with pytest.raises(MechanismFileError):
            upper(value)


@pytest.mark.parametrize("seconds", [0, -1, 10**7, "soon", float("nan")])
def test_a_limit_is_a_positive_number_of_seconds(seconds: object):
    with pytest.raises(InvalidNumberError), within(seconds):
        pass


def test_every_way_of_reading_a_file_keeps_to_its_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    saved = CORPUS / "law-gaussian-approximate.json"
    plan = nw.compose([menu.laplace("1/10"), menu.gaussian("7")])
    report = nw.design(nw.Scalar(2), privacy=nw.PureDP(1), utility=nw.SquaredError())
    plan.save(tmp_path / "plan.json")
    report.save(tmp_path / "report.json")
    data = json.loads(saved.read_text(encoding="utf-8"))
    looks = iter(range(10**9))
    # Every look at the clock takes a second.
    monkeypatch.setattr(deadlines, "monotonic", lambda: float(next(looks)))
    assert nw.Certified.load(saved).certificate.bound > 0
    for again in (
        lambda: nw.Certified.load(saved, seconds=2),
        lambda: nw.Certified.from_dict(data, seconds=2),
        lambda: Composition.load(tmp_path / "plan.json", seconds=2),
        lambda: Composition.from_dict(plan.to_dict(), seconds=2),
        lambda: Report.load(tmp_path / "report.json", seconds=2),
        lambda: Report.from_dict(report.to_dict(), seconds=2),
        lambda: verify(saved, "2"),
        lambda: verify(tmp_path / "plan.json", "2"),
    ):
        with pytest.raises(MechanismFileError, match="longer than 2 seconds"):
            again()
