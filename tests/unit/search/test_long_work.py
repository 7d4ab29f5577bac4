"""Work of more than a minute is told beforehand, with about how long it takes; shorter work is not."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest

import noisewright as nw
from noisewright.app.cli import main
from noisewright.problem.warnings import tell_if_long
from noisewright.search import design as searched
from noisewright.search.design import designer_for
from noisewright.search.families import strategies as optimal

SQUARED, PURE, APPROXIMATE = nw.SquaredError(), nw.PureDP(1), nw.ApproxDP(1, "1e-6")


class BegunError(Exception):
    """The work begins."""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Asks for something, up to where the work begins; says whether it was told that it takes minutes."""

    def begin(*_: Any) -> Any:
        raise BegunError

    monkeypatch.setattr(searched, "designed", begin)
    monkeypatch.setattr("noisewright.accounting.composition.pessimistic_pmf", begin)

    def ask(work: Any) -> bool:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with pytest.raises(BegunError):
                work()
        long = [w for w in seen if w.category is nw.errors.LongWorkWarning]
        assert all(w.filename == __file__ and "may take about" in str(w.message) for w in long)
        return bool(long)

    return ask


def _points(rows: int) -> nw.Vector:
    generator = random.Random(rows)
    return nw.Vector(nw.Points([[generator.randint(1, 10**9) for _ in range(12)] for _ in range(rows)]))


def test_designs_of_minutes_are_told_of_beforehand(told: Any):
    many = nw.Vector(nw.Box([1 + i for i in range(90_000)]))
    alike = nw.Vector(nw.Box([3] * 90_000))
    for query, privacy, long in (
        (many, nw.PureDP(1), True),
        (alike, nw.PureDP(1), False),
        (_points(20_000), APPROXIMATE, True),
        (_points(20_000), nw.PureDP(1), False),
        (_points(200), APPROXIMATE, False),
    ):
        found = told(lambda query=query, privacy=privacy: nw.design(query, privacy=privacy, utility=SQUARED))
        assert found == long


def test_searched_rows_are_told_of_unless_they_are_kept(told: Any, monkeypatch: pytest.MonkeyPatch):
    def ask(query: nw.Workload, privacy: Any = PURE) -> bool:
        return bool(told(lambda: nw.design(query, privacy=privacy, utility=SQUARED)))

    assert ask(nw.Workload.ranges(700))
    assert not ask(nw.Workload.ranges(700), nw.ZeroConcentratedDP(1))
    assert not ask(nw.Workload.ranges(40))
    assert not ask(nw.Workload.ranges(3000))
    monkeypatch.setattr(optimal, "_known_extra", lambda query, gram: gram)
    assert not ask(nw.Workload.ranges(700))


def test_brackets_of_many_different_releases_are_told_of(told: Any):
    different = [f"laplace(scale={40 + i})" for i in range(900)]
    assert told(lambda: nw.compose(different).bracket(delta="1e-6"))
    assert not told(lambda: nw.compose(different[:100]).bracket(delta="1e-6"))
    assert not told(lambda: nw.compose([(menu, 10**5) for menu in different[:3]]).bracket(delta="1e-6"))


def test_a_minute_is_not_long_and_more_is_said_in_whole_minutes():
    tell_if_long("this", 60, "less")
    with pytest.warns(nw.errors.LongWorkWarning, match=r"^this may take about 2 minutes; less takes less\.$"):
        tell_if_long("this", 61, "less takes less")


def test_the_command_line_says_so_in_a_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    designer = designer_for(nw.Scalar(1), nw.PureDP(1), SQUARED)
    monkeypatch.setattr(type(designer), "seconds", lambda *_: 200.0)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["design", "--epsilon", "1", "--sensitivity", "1", "--utility", "squared-error"]) == 0
    assert capsys.readouterr().err.startswith("this design may take about 4 minutes; fewer")
