"""Releases of an engine beside the plain aggregate on it: the two tasks, what each does, and seconds by turns."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

GROUPS = 1000
TASKS: dict[str, dict[str, Any]] = {
    "one row per person": {"unit": "visit", "by": "ward", "goal": 1.5, "limits": {"one_row_per_person": True}},
    "limited": {"unit": "id", "by": "id, ward", "goal": 8.0, "limits": {"rows_per_group": 3, "groups_per_person": 3}},
}


def ours(source: Any, task: dict[str, Any], folder: str) -> Callable[[], Any]:
    """A release of the plan of a task, charged and drawn anew at each call."""
    import noisewright as nw  # what runs Tumult reads this file, and has no noisewright

    groups = nw.keys("ward", range(GROUPS))
    ledger = Path(tempfile.mkdtemp(dir=folder)) / "budget.ledger"
    data = nw.Dataset(source, task["unit"], budget=nw.PureDP(30), ledger=ledger, **task["limits"])
    cost = nw.ask.sum("cost", bounds=(0, 10_000), step="0.01", by=groups)
    plan = data.plan(nw.count(by=groups), cost, privacy=nw.PureDP("0.5"))
    return lambda: plan.release(fresh=True)


def plain(table: str, task: dict[str, Any]) -> str:
    """The plain aggregate of a task; pairs of person and group are not fetched, only added up."""
    query = f"SELECT {task['by']}, count(*) AS n, sum(cost) AS s FROM {table} GROUP BY {task['by']}"
    return f"SELECT sum(n), sum(s) FROM ({query}) AS pairs" if "," in task["by"] else query


def seconds(work: Callable[[], Any]) -> float:
    """Seconds on the clock."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def by_turns(aggregate: Callable[[], Any], release: Callable[[], Any], runs: int) -> list[float]:
    """The median of each over so many runs that take turns, after one that does not count."""
    pairs = [(seconds(aggregate), seconds(release)) for _ in range(runs + 1)][1:]
    return [median(column) for column in zip(*pairs, strict=True)]


def line(name: str, base: float, own: float) -> list[str]:
    """The cells of a release in a table: plain, ours, ratio."""
    return [name, f"{base:.2f} s", f"{own:.2f} s", f"{own / base:.2f}"]


def goal(name: str, base: float, own: float) -> str:
    """Whether a release reached its goal."""
    most = TASKS[name]["goal"]
    return f"goal {name}: at most {most} times: {own / base:.2f} … reached {'yes' if own <= most * base else 'no'}"
