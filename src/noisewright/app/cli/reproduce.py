"""`noisewright reproduce`: the papers' figures and claims, beside what is found here, on one page."""

from __future__ import annotations

import csv
import multiprocessing
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.app.cli.options import option
from noisewright.app.cli.output import remark, say, writing
from noisewright.problem.errors import InvalidInputError, NoisewrightError
from noisewright.search.report.progress import Advance, progress_bar

if TYPE_CHECKING:
    from noisewright.lab.reproductions import Entry, Reproduction


ALL = "all"
PAGE = "index.html"
_MOST_JOBS = 2


def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which paper, or all of them; see --list.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show what can be reproduced, and exit.")] = False,
    out: Annotated[
        Path | None,
        option("FOLDER", "Where the page, pictures and tables go; by default a folder NAME here, or papers for all."),
    ] = None,
    jobs: Annotated[
        int | None, option("N", "How many papers run at once; by default two, or one where there is one core.")
    ] = None,
) -> None:
    """Make a paper's figures and tables anew and say of each of its claims whether it holds.

    Runs on the paper's data where they are to be had (the folder named by NOISEWRIGHT_DATA) and on data of its own
    otherwise, and says which. The page index.html shows every figure with its caption, the claims about it, their
    verdicts and the numbers behind them; `all` puts the papers on one page, in about four minutes on two cores.
    """
    from noisewright.lab.reproductions import REPRODUCTIONS

    if listed:
        width = max(len(each) for each in (*REPRODUCTIONS, ALL))
        titles = {each: entry.title for each, entry in REPRODUCTIONS.items()} | {ALL: "All of them, on one page"}
        say("\n".join(f"{each:<{width}}  {title}" for each, title in titles.items()))
        return
    known = ", ".join([*REPRODUCTIONS, ALL])
    if name is None:
        raise InvalidInputError(f"nothing says which paper; give one of {known}, or --list.")
    if name not in (*REPRODUCTIONS, ALL):
        raise InvalidInputError(f"there is no reproduction named {name!r}; give one of {known}.")
    if jobs is not None and jobs < 1:
        raise InvalidInputError(f"--jobs is {jobs}; give a number of at least 1.")
    folder = out or Path("papers" if name == ALL else name)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)

    chosen = {name: REPRODUCTIONS[name]} if name != ALL else REPRODUCTIONS
    results = run_all(chosen, folder, jobs or min(os.cpu_count() or 1, _MOST_JOBS), apart=name == ALL)
    for each, result in results.items():
        _write_claims(result, folder / each if name == ALL else folder)
    _write_page(results, folder)
    say("\n\n".join(_claims_text(result) for result in results.values()))
    files = sum(len(result.files) + 1 for result in results.values()) + 1
    remark(f"{files} files are in {folder}; {folder / PAGE} shows them all.")


def _write_page(results: dict[str, Reproduction], folder: Path) -> None:
    from noisewright.lab.page import page

    path = folder / PAGE
    with writing(path):
        path.write_text(page(results, folder), encoding="utf-8")


def _write_claims(result: Reproduction, folder: Path) -> None:
    from noisewright.lab.reproductions import HEADER

    path = folder / "claims.csv"
    with writing(path), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(claim.row for claim in result.claims)


def _claims_text(result: Reproduction) -> str:
    from noisewright.lab.page import counts

    lines = [result.title, ""]
    lines += [f"Data: {text}" for text in result.data]
    for claim in result.claims:
        lines += ["", f"{claim.where}: {claim.says}", f"  {claim.verdict}: {claim.found}"]
    found = counts(result.claims)
    lines += ["", "Verdicts: " + ", ".join(f"{verdict} {count}" for verdict, count in found.items()) + "."]
    return "\n".join(lines)


# Running several reproductions at once, each in a process of its own, with one progress bar for all.


_WAIT = 0.2
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def run_all(entries: Mapping[str, Entry], out: Path, jobs: int, *, apart: bool) -> dict[str, Reproduction]:
    """Every reproduction, `jobs` at a time, into `out` or, with `apart`, into a folder of its own below it.

    With one job all run in this process. What one of them raises ends the whole, naming the paper.
    """
    places = {name: out / name if apart else out for name in entries}
    steps = sum(entry.steps for entry in entries.values())
    with progress_bar("reproducing", steps) as step:
        if jobs == 1 or len(entries) == 1:
            return {name: _run(name, entry, places[name], step) for name, entry in entries.items()}
        return _side_by_side(entries, places, jobs, step)


def _side_by_side(
    entries: Mapping[str, Entry], places: dict[str, Path], jobs: int, step: Advance
) -> dict[str, Reproduction]:
    # A fresh process shares no locks or threads with this one.
    fresh = multiprocessing.get_context("spawn")
    # The longest first, so that no core waits for a late one.
    order = sorted(entries, key=lambda name: -entries[name].steps)
    with _one_thread_each(), fresh.Manager() as manager, ProcessPoolExecutor(jobs, mp_context=fresh) as pool:
        told = manager.Queue()
        running: dict[str, Future[Reproduction]] = {
            name: pool.submit(_run_and_tell, name, entries[name], places[name], told) for name in order
        }
        try:
            while not all(future.done() for future in running.values()):
                try:
                    step(told.get(timeout=_WAIT))
                except Empty:
                    continue
                finally:
                    for future in running.values():
                        if future.done():
                            future.result()
            return {name: running[name].result() for name in entries}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that share the cores do not also split their matrix products."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update({name: value or "1" for name, value in before.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)


def _run_and_tell(name: str, entry: Entry, out: Path, told: Any) -> Reproduction:
    return _run(name, entry, out, told.put)


def _run(name: str, entry: Entry, out: Path, step: Advance) -> Reproduction:
    out.mkdir(parents=True, exist_ok=True)
    try:
        return entry.run(out, lambda what: step(f"{name}: {what}"))
    except NoisewrightError as error:
        raise NoisewrightError(f"the reproduction {name} stopped: {error}") from None
