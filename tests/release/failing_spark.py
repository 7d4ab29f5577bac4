"""A programme that releases a table of Spark and is harmed: `python -m tests.release.failing_spark KIND COUNT FOLDER`.

It runs in a process of its own, because a process has one session of Spark. More words are the points, taken by turns.
What it found is its last line, as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import noisewright as nw
from noisewright.app.cli import commands as cli
from tests.release.failing import POINTS, Trigger, require_finished, require_ledger, struck, triggered
from tests.release.pressing import at_any_moment
from tests.spark_session import Sparks

SPARK_POINTS = tuple(point for point in POINTS if point != "rehearsing")
"""A rehearsal on no rows starts no job that could be harmed."""
MOSTLY = ("aggregating", *SPARK_POINTS, *["aggregating"] * 5)
WARDS = nw.keys("ward", [0, 1, 2, 3])
_CLUSTER = {
    "spark.deploy.maxExecutorRetries": "-1",  # executors come back however often they are killed
    "spark.shuffle.io.maxRetries": "1",  # nobody waits long for what the dead had
    "spark.shuffle.io.retryWait": "100ms",
    "spark.locality.wait": "0",
}
_ROWS, _FILES, _PATIENCE = 100_000, 4, 120
SUMS = [_ROWS // 100 * sum(range(ward, 100, 4)) for ward in range(4)]
"""What the sums of the wards are."""


def written(folder: Path) -> str:
    """Files of visits: one row for each person, so that no salt changes a sum."""
    place = folder / "visits"
    place.mkdir(exist_ok=True)
    each = _ROWS // _FILES
    for number in range(_FILES):
        ids = list(range(number * each, (number + 1) * each))
        table = pa.table({"id": ids, "ward": [i % 4 for i in ids], "x": [i % 100 for i in ids]})
        pq.write_table(table, place / f"part-{number}.parquet")
    return f"{place}/*.parquet"


def asked(path: str, ledger: str) -> Any:
    """A plan that needs a shuffle by person."""
    data = nw.Dataset(f"spark:{path}", "id", name="visits", budget=nw.PureDP(3), ledger=ledger)
    return data.plan(nw.ask.sum("x", bounds=(0, 100), step=1, by=WARDS), privacy=nw.PureDP(1))


def executors(parent: int) -> list[int]:
    """The processes of executors that a JVM has started."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                words = (place / "cmdline").read_bytes()
                above = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended meanwhile
                continue
            if b"CoarseGrainedExecutorBackend" in words and above == parent:
                found.append(int(place.name))
    return sorted(found)


class Harms:
    """What can be done to a release on a session of Spark."""

    def __init__(self, sparks: Sparks, *, workers: int) -> None:
        self._context = sparks.session.sparkContext
        self._driver = int(self._context._jvm.java.lang.ProcessHandle.current().pid())
        self._workers, self._watching, self.done = workers, threading.Thread(), Counter[str]()

    def ready(self) -> None:
        """Wait until every worker has its executor again."""
        end = time.monotonic() + _PATIENCE
        known = self._context._jsc.sc().getExecutorMemoryStatus
        while self._workers and (len(executors(self._driver)) < self._workers or known().size() <= self._workers):
            assert time.monotonic() < end, "no executor came back"
            time.sleep(0.02)

    def executor(self) -> None:
        """One executor is killed, by turns the older and the younger one."""
        os.kill(executors(self._driver)[-(self.done["executor"] % 2)], signal.SIGKILL)
        self.done["executor"] += 1

    def executors(self) -> None:
        """Every executor is killed."""
        for process in executors(self._driver):
            os.kill(process, signal.SIGKILL)
            self.done["executors"] += 1

    def cancel(self) -> None:
        """Somebody cancels every job."""
        self._context.cancelAllJobs()
        self.done["cancel"] += 1

    def interrupt(self) -> None:
        """Ctrl-C."""
        self.done["interrupt"] += 1
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def driver(self) -> None:
        """The JVM of Spark's driver is killed."""
        os.kill(self._driver, signal.SIGKILL)

    def kill(self) -> None:
        """The process that releases dies, and Spark with it."""
        os.kill(os.getpid(), signal.SIGKILL)

    def waiting(self, harm: Callable[[], None]) -> None:
        """Do harm as soon as tasks of the next job are running."""

        def watch() -> None:
            end = time.monotonic() + _PATIENCE
            tracker = self._context.statusTracker()
            while time.monotonic() < end:
                known = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                if any(info is not None and info.numActiveTasks for info in known):
                    harm()
                    return
                time.sleep(0.001)

        self._watching = threading.Thread(target=watch, daemon=True)
        self._watching.start()

    def over(self) -> None:
        """Wait until what was begun in a job is over."""
        if self._watching.ident is not None:
            self._watching.join(_PATIENCE)


def harmed(harms: Harms, path: str, folder: Path, how: str, point: str) -> bool:
    """Harm a release at a point, look at the ledger, finish the same plan; whether it had failed."""
    failed = begun(harms, path, folder, how, point)
    finished(path, folder, point, failed=failed)
    return failed


def begun(harms: Harms, path: str, folder: Path, how: str, point: str) -> bool:
    """Harm a release at a point, and look at the ledger; whether it failed."""
    folder.mkdir()
    kept, draws = str(folder / "visits.ledger"), folder / "draws"
    draws.write_text("")
    plan = asked(path, kept)
    harms.ready()
    error = struck(plan, harms, how, point, draws, SUMS)
    assert error is None or how != "interrupt" or isinstance(error, KeyboardInterrupt), "Ctrl-C is heard as what it is"
    require_ledger(kept, point, failed=error is not None)
    return error is not None


def finished(path: str, folder: Path, point: str, *, failed: bool) -> None:
    """Finish the plan of a release that was harmed."""
    kept, draws = str(folder / "visits.ledger"), folder / "draws"
    with triggered(Trigger.never(), draws, SUMS):
        require_finished(asked(path, kept), kept, draws, point, failed=failed)


SPEC = """
[dataset]
source = "spark:{path}"
unit = "id"
budget = {{ epsilon = 3 }}
ledger = "visits.ledger"

[privacy]
epsilon = 1

[[ask]]
kind = "count"
"""


def commanded(harms: Harms, path: str, folder: Path, point: str) -> int:
    """Press Ctrl-C at a point of `noisewright release`; how it ends. What it says goes to standard error."""
    folder.mkdir()
    (folder / "visits.toml").write_text(SPEC.format(path=path))
    with contextlib.chdir(folder), triggered(Trigger(point, harms.interrupt, harms.waiting), folder / "draws"):
        return cli.main(["release", "visits.toml"])


def main(kind: str, count: int, folder: Path, *points: str) -> dict[str, Any]:
    """Harm so many releases, and say how many failed where; "finish" finishes one that another process left."""
    workers = 2 if kind in ("executor", "executors") else 0
    settings = {**(_CLUSTER if workers else {}), **({"spark.task.maxFailures": "1"} if kind == "executors" else {})}
    sparks = Sparks("local-cluster[2,1,1024]" if workers else "local[2]", **settings)
    path, failed = written(folder), Counter[str]()
    harms = Harms(sparks, workers=workers)
    if kind == "driver":
        failed[points[0]] += begun(harms, path, folder / "0", kind, points[0])
        return {"failed": failed}  # there is nothing left to stop
    try:
        if kind == "finish":
            finished(path, folder / "0", points[0], failed=True)
            return {"failed": failed}
        if kind == "command":
            return {point: commanded(harms, path, folder / point, point) for point in points}
        if kind == "moment":
            heard = at_any_moment(partial(asked, path), folder, count, expected=SUMS)
            return {"harmed": count, "failed": {"moment": heard}}
        asked(path, str(folder / "first.ledger")).release()  # what is warm is harmed sooner
        for number in range(count):
            point = (points or MOSTLY)[number % len(points or MOSTLY)]
            failed[point] += harmed(harms, path, folder / str(number), kind, point)
        return {"harmed": count, "done": harms.done, "failed": failed}
    finally:
        sparks.remove()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])) + "\n")
