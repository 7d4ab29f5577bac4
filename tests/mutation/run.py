"""Plants every bug in a copy of the repository and runs the tests that should notice it.

`script/mutants` runs it. A mutant is caught if one of its tests fails, and survives if all of them pass.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import py_compile
import queue
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import ROOT, DoesNotApplyError, Mutant, packages, planted, read, source

CAUGHT, SURVIVED, MISFIT = "caught", "SURVIVED", "does not apply"
ALL_CAUGHT = {"proof", "sample", "accounting", "mechanisms"}
"""Packages in which every planted bug must be noticed; elsewhere LEAST_SHARE of them."""
LEAST_SHARE = 0.95
_PASSED, _FAILED, _BROKEN = 0, 1, 2
_NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "venv", "build", "dist", "site", "noisewright-demo", "__pycache__", "*_cache", ".*_cache"
)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one mutant, why, and the seconds it took."""

    mutant: Mutant
    outcome: str
    remark: str
    seconds: float


class Bench:
    """A copy of the repository in which bugs are planted one after the other."""

    def __init__(self, place: Path, origin: Path = ROOT) -> None:
        self.root = place / "copy"
        shutil.copytree(origin, self.root, ignore=_NOT_COPIED)
        # Compiled once, and valid only for the very text it was compiled from: a planted bug is always read.
        checked = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(self.root / "src", quiet=2, invalidation_mode=checked)
        self._printed = place / "printed"
        path = os.pathsep.join([str(self.root / "src"), str(ROOT)])
        self._warm = subprocess.Popen(
            [sys.executable, "-m", "tests.mutation.warm"],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def close(self) -> None:
        """End the process that tests are run from."""
        self._warm.communicate()

    def _told(self, name: str, seconds: float | None = None) -> int | None:
        """The next word of that process; None if it does not come in time."""
        assert self._warm.stdout is not None
        if not select.select([self._warm.stdout], [], [], seconds)[0]:
            return None
        return int(json.loads(self._warm.stdout.readline())[name])

    def run(self, tests: Sequence[str], seconds: float) -> tuple[int | None, str]:
        """Exit status of pytest, None if it ran out of time, and what it printed."""
        assert self._warm.stdin is not None
        self._warm.stdin.write(json.dumps({"tests": list(tests), "printed": str(self._printed)}) + "\n")
        self._warm.stdin.flush()
        process, status = self._told("process"), None
        assert process is not None
        try:
            status = self._told("status", seconds)
        finally:
            # Its children too, and also when the whole run is interrupted.
            if status is None:
                with suppress(ProcessLookupError):
                    os.killpg(process, signal.SIGKILL)
                self._told("status")
        return status, self._printed.read_text(encoding="utf-8", errors="replace")

    def result(self, mutant: Mutant, seconds: float = 120.0) -> Result:
        """Plant, test, and put the file back as it was."""
        began = time.monotonic()
        try:
            path, changed = source(mutant, self.root), planted(mutant, self.root)
        except DoesNotApplyError as reason:
            return Result(mutant, MISFIT, str(reason), time.monotonic() - began)
        before = path.read_text(encoding="utf-8")
        try:
            path.write_text(changed, encoding="utf-8")
            status, printed = self.run(mutant.tests, seconds)
        finally:
            path.write_text(before, encoding="utf-8")
        outcome, remark = _judged(mutant, status, printed)
        return Result(mutant, outcome, remark, time.monotonic() - began)


def _judged(mutant: Mutant, status: int | None, printed: str) -> tuple[str, str]:
    last = next((line for line in reversed(printed.splitlines()) if line.strip()), "nothing was printed")
    if status is None:
        return (
            (CAUGHT, "out of time") if mutant.hangs else (MISFIT, "out of time; a mutant that hangs says hangs = true")
        )
    if status == _PASSED:
        return SURVIVED, mutant.survives or "not explained"
    if status in (_FAILED, _BROKEN):
        return CAUGHT, "though explained as a survivor: remove `survives`" if mutant.survives else ""
    return MISFIT, f"pytest ended with status {status}: {last}"


@contextmanager
def benches(count: int, origin: Path = ROOT) -> Iterator[list[Bench]]:
    """So many copies, removed at the end."""
    with ExitStack() as stack:
        places = [stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-")) for _ in range(count)]
        made = [Bench(Path(place), origin) for place in places]
        for bench in made:
            stack.callback(bench.close)
        yield made


def results(chosen: Sequence[Mutant], made: Sequence[Bench], seconds: float = 120.0) -> Iterator[Result]:
    """Results as they come, one bench for each worker."""
    free: queue.Queue[Bench] = queue.Queue()
    for bench in made:
        free.put(bench)

    def one(mutant: Mutant) -> Result:
        bench = free.get()
        try:
            return bench.result(mutant, seconds)
        finally:
            free.put(bench)

    with ThreadPoolExecutor(len(made)) as workers:
        pending = [workers.submit(one, mutant) for mutant in chosen]
        try:
            for future in as_completed(pending):
                yield future.result()
        finally:
            for future in pending:
                future.cancel()


def good_enough(package: str, found: Sequence[Result]) -> bool:
    """Whether the package notices as many of its bugs as it must, and every one of them could be planted."""
    caught = sum(result.outcome == CAUGHT for result in found)
    share = 1.0 if package in ALL_CAUGHT else LEAST_SHARE
    explained = all(result.outcome != SURVIVED or result.mutant.survives for result in found)
    return caught >= share * len(found) and explained and all(result.outcome != MISFIT for result in found)


def table(found: Sequence[Result]) -> str:
    """One line for each package."""
    lines = [f"{'package':<12}{'planted':>8}{'caught':>8}{'survived':>10}{'misfits':>9}{'share':>8}"]
    for package in sorted({result.mutant.package for result in found}):
        here = [result for result in found if result.mutant.package == package]
        counts = [sum(result.outcome == outcome for result in here) for outcome in (CAUGHT, SURVIVED, MISFIT)]
        verdict = "" if good_enough(package, here) else "   too few"
        share = 100 * counts[0] / len(here)
        lines.append(f"{package:<12}{len(here):>8}{counts[0]:>8}{counts[1]:>10}{counts[2]:>9}{share:>7.0f}%{verdict}")
    return "\n".join(lines)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _progress(done: int, total: int, began: float) -> None:
    if sys.stderr.isatty():
        left = (time.monotonic() - began) / done * (total - done)
        sys.stderr.write(f"\r{done} of {total}, about {left:.0f} s left ")
        sys.stderr.flush()


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/mutants", description="Plant bugs and see whether the tests notice.")
    parser.add_argument("--package", action="append", choices=packages(), help="only this package (may be repeated)")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="only the mutant of this name (may be repeated)"
    )
    parser.add_argument("--list", action="store_true", help="name the mutants and plant none")
    parser.add_argument("--jobs", type=int, default=2, help="how many at the same time (2)")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for the tests of one mutant (120)")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """The exit status: 0 if every package notices what it must."""
    options = _arguments(given)
    chosen = [mutant for package in options.package or packages() for mutant in read(package)]
    if options.only:
        chosen = [mutant for mutant in chosen if mutant.name in options.only]
    if not chosen:
        _say("no such mutant; --list names them")
        return 2
    if options.list:
        for mutant in chosen:
            _say(f"{mutant.package:<12}{mutant.name:<56}{mutant.breaks:<9}{mutant.function}")
        return 0
    with benches(max(1, min(options.jobs, len(chosen)))) as made:
        tests = sorted({test for mutant in chosen for test in mutant.tests})
        _say(f"{len(chosen)} mutants; first their {len(tests)} tests without any")
        status, printed = made[0].run(tests, 1800.0)
        if status != _PASSED:
            _say(printed)
            _say("these must pass before a bug is planted")
            return 1
        found: list[Result] = []
        began = time.monotonic()
        for result in results(chosen, made, options.timeout):
            found.append(result)
            remark = f"   {result.remark}" if result.remark else ""
            mutant = result.mutant
            _say(f"{result.outcome:<16}{mutant.package:<12}{mutant.name:<56}{result.seconds:5.1f} s{remark}")
            _progress(len(found), len(chosen), began)
    _say("\n" + table(found))
    by_package = {package: [result for result in found if result.mutant.package == package] for package in packages()}
    return 0 if all(good_enough(package, here) for package, here in by_package.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
