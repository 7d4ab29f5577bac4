"""The process is killed at every marked point between validation and answer: what was granted stays."""

from __future__ import annotations

import os
import random
import signal
import time
from fractions import Fraction
from pathlib import Path

import pytest

import noisewright as nw
from noisewright.ledger import checkpoints
from tests.ledger import menu
from tests.ledger.many import forked, killed_at, outcome

CHARGED = ("committed", "settled", "drawn", "answered")
"""The points after which the charge is spent."""


def test_the_points_are_those_of_the_code_in_their_order(path: Path, monkeypatch: pytest.MonkeyPatch):
    reached: list[str] = []
    monkeypatch.setattr(checkpoints, "passed", reached.append)
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    ledger.release(menu.laplace("0.1"), 5, reason="count")
    # The answer is a second row, whose own commit comes before it is said to be answered.
    first = reached[: reached.index("drawn") + 1]
    assert (*first, reached[-1]) == checkpoints.POINTS


@pytest.mark.parametrize("point", checkpoints.POINTS)
def test_a_kill_at_any_point_loses_nothing_that_was_granted(url: str, point: str):
    _killed(url, point, times=1)


@pytest.mark.soak
@pytest.mark.parametrize("point", checkpoints.POINTS)
def test_thirteen_kills_at_each_point_of_each_store_which_are_two_hundred_and_eight(url: str, point: str):
    _killed(url, point, times=13)


def _killed(url: str, point: str, times: int) -> None:
    ledger, mechanism = nw.Ledger.create(url, budget=nw.PureDP(10)), menu.laplace("0.1")
    charges = 0
    for time_ in range(times):
        task = lambda time_=time_: nw.Ledger.open(url).release(mechanism, 5, reason=f"kill {time_}")  # noqa: E731
        assert killed_at(point, task) == -signal.SIGKILL
        charges += point in CHARGED
        again = nw.Ledger.open(url)
        assert again.spent == charges * Fraction(1, 10)
        rows = [row for row in again.rows() if row["event"] in ("charge", "answer")]
        answered = [row["charge"] for row in rows if row["event"] == "answer"]
        assert len(answered) == (charges if point == "answered" else 0)
        assert again.verify().charges == charges
    charge = ledger.charge(mechanism, reason="afterwards")
    assert ledger.spent == (charges + 1) * Fraction(1, 10)
    assert charge.place == len(list(ledger.rows())) - 1


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_kill_at_the_second_or_third_commit_leaves_a_chain_that_verifies(url: str, after: int):
    ledger, mechanism = nw.Ledger.create(url, budget=nw.PureDP(10)), menu.laplace("0.1")

    def task() -> None:
        for i in range(3):
            nw.Ledger.open(url).release(mechanism, 5, reason=str(i))

    assert killed_at("committed", task, after=2 * after) == -signal.SIGKILL
    assert ledger.verify().charges == after + 1
    assert ledger.spent == (after + 1) * Fraction(1, 10)


def _killed_sometime(url: str, seconds: float) -> list[str]:
    """Labels whose charges were granted before the kill, as the process wrote them down after each grant."""
    said = Path(f"{url.rpartition('=')[2]}.said" if "://" in url else f"{url}.said").name
    place = Path.cwd() / said

    def task() -> None:
        ledger = nw.Ledger.open(url)
        for i in range(10_000):
            ledger.charge(menu.laplace("0.0001"), reason=f"{i}")
            with place.open("a") as file:
                file.write(f"{i}\n")

    place.unlink(missing_ok=True)
    child, read = forked(task)
    while not place.exists():
        time.sleep(0.002)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    assert outcome(child, read)[0] == -signal.SIGKILL
    return place.read_text().split()


def _sometime(url: str, times: int, seed: int) -> None:
    nw.Ledger.create(url, budget=nw.PureDP(32))
    chosen, granted = random.Random(seed), 0
    for _ in range(times):
        known = {row["label"] for row in nw.Ledger.open(url).rows() if row["event"] == "charge"}
        labels = _killed_sometime(url, chosen.random() / 20)
        # A server may still be busy with the last words of the dead; one more charge waits for it.
        nw.Ledger.open(url).charge(menu.laplace("0.0001"), reason="afterwards")
        granted += 1
        found = [row["label"] for row in nw.Ledger.open(url).rows() if row["event"] == "charge"]
        granted += len(labels)
        assert len(found) - len(labels) >= 0
        assert set(labels) <= set(found) | known
        assert nw.Ledger.open(url).verify().charges == len(found)
        assert nw.Ledger.open(url).spent == len(found) * Fraction(1, 10_000)
        # At most one charge for each kill was written without anybody having heard of it.
        assert granted <= len(found) <= granted + times
    assert granted > 0


def test_a_kill_at_any_time_loses_nothing_that_was_granted(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    _sometime(url, times=3, seed=1)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_two_hundred_kills_at_any_time(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    _sometime(url, times=100, seed=2)
