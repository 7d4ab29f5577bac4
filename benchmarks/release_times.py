"""Seconds and memory of releases over large tables, beside the plain aggregate and OpenDP.

    python benchmarks/release_times.py

Count and sum of each of 1,000 groups of a Parquet file. With one row per person declared, beside the same GROUP BY in
DuckDB; with every person limited to 3 rows in a group and 3 groups, beside GROUP BY person and group. Ours is all of
`plan.release(fresh=True)`: rehearsal, charge, aggregate, draw, store, frame. Figures are medians of runs that take
turns in one process, after one that does not count; seconds of processors (user and system) stand in brackets, because
a busy machine changes them less. Peak memory is that of a fresh process that releases once and does nothing else.

    python benchmarks/release_times.py --large 0        # without the table of one hundred million rows
    python benchmarks/release_times.py --texts          # that table with units of text too
    python benchmarks/release_times.py --no-peer        # without OpenDP, which is installed into a cache folder
    python benchmarks/release_times.py --before SRC     # beside the src folder of another commit, in each form

With `--before` the same releases are timed with the package of another folder (of an earlier commit, in a work tree
of git): from Parquet, CSV, a frame and a DuckDB database, in processes that take turns. It says what reading behind the
scan barrier costs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from needed import needed
from tables import as_markdown

HERE = Path(__file__).resolve().parent
GROUPS = 1000
AT_ONCE = 10_000_000
PEER = ("opendp[polars]==0.16.0",)
TASKS: dict[str, dict[str, Any]] = {
    "one row per person, whole keys": {"unit": "visit", "key": "ward"},
    "one row per person, keys of text": {"unit": "visit", "key": "name"},
    "limited, whole units": {"unit": "id", "key": "ward", "limited": True},
    "limited, units of text": {"unit": "person", "key": "ward", "limited": True},
}


def made(folder: Path, rows: int, *, texts: bool) -> str:
    """Visits of a fifth as many persons, in files of at most ten million rows; returns the glob of its files."""
    duckdb = needed("duckdb")

    connection = duckdb.connect()
    words = f"""(hash(i * 7 + 1) % {GROUPS})::BIGINT AS ward, (hash(i * 11 + 3) % 1000000) / 100.0::DOUBLE AS cost"""
    more = f", 'ward ' || (hash(i * 7 + 1) % {GROUPS}) AS name, 'person ' || (hash(i) % {rows // 5}) AS person"
    for place, start in enumerate(range(0, rows, AT_ONCE)):
        stop = min(start + AT_ONCE, rows)
        connection.execute(
            f"COPY (SELECT i AS visit, (hash(i) % {rows // 5})::BIGINT AS id, {words}{more if texts else ''}"
            f" FROM range({start}, {stop}) r(i)) TO '{folder}/visits-{rows}-{place:03}.parquet' (FORMAT parquet)"
        )
    return f"{folder}/visits-{rows}-*.parquet"


def ours(task: dict[str, Any]) -> Callable[[], Any]:
    """A release of the plan of a task, charged and drawn anew at each call."""
    import noisewright as nw

    values: Any = [f"ward {i}" for i in range(GROUPS)] if task["key"] == "name" else range(GROUPS)
    groups = nw.keys(task["key"], values)
    limits: Any = {"rows_per_group": 3, "groups_per_person": 3} if "limited" in task else {"one_row_per_person": True}
    ledger = Path(tempfile.mkdtemp(dir=task["folder"])) / "budget.ledger"
    data = nw.Dataset(**of_form(task), unit=task["unit"], budget=nw.PureDP(30), ledger=ledger, **limits)
    plan = data.plan(
        nw.count(by=groups),
        nw.ask.sum("cost", bounds=(0, 10_000), step="0.01", by=groups),
        privacy=nw.PureDP(1),
    )
    return lambda: plan.release(fresh=True)


FORMS = ("parquet", "csv", "frame", "duckdb")


def in_forms(folder: Path, path: str) -> dict[str, str]:
    """The visits of Parquet files, also as a CSV file and as a table of a DuckDB database."""
    duckdb = needed("duckdb")

    columns = f"SELECT visit, id, ward, cost FROM '{path}'"
    with duckdb.connect(f"{folder}/visits.duckdb") as connection:
        connection.execute(f"CREATE TABLE visits AS {columns}")
        connection.execute(f"COPY visits TO '{folder}/visits.csv' (HEADER, DELIMITER ',')")
    return {
        "parquet": path,
        "csv": f"{folder}/visits.csv",
        "frame": path,
        "duckdb": f"{folder}/visits.duckdb::visits",
    }


def of_form(task: dict[str, Any]) -> dict[str, Any]:
    """The source of a task: a path, or the frame that is read from it before anything is timed."""
    if task.get("form") == "frame":
        ds = needed("pyarrow.dataset")

        return {
            "source": ds.dataset(sorted(map(str, Path(task["path"]).parent.glob(Path(task["path"]).name)))).to_table(
                columns=["visit", "id", "ward", "cost"]
            ),
            "name": "visits",
        }
    typed = {"visit": "integer", "id": "integer", "ward": "integer", "cost": "number"}
    return {"source": task["path"], "types": typed} if task.get("form") == "csv" else {"source": task["path"]}


def before_and_after(task: dict[str, Any], before: str, runs: int) -> list[str]:
    """One line: seconds with the package of another folder and with this one, in processes that take turns."""
    found: dict[str, list[list[float]]] = {"before": [], "after": []}
    for _ in range(runs):
        for name, source in (("before", before), ("after", str(HERE.parent / "src"))):
            answer = asked(sys.executable, "release_times.py", {**task, "warm": 1}, "--child", source=source)
            if "missing" in answer:
                return [task["name"], task["form"], answer["missing"], "", ""]
            found[name] += answer["ours"]
    (old, old_own), (new, new_own) = middle(found["before"]), middle(found["after"])
    ratio = f"{new / old:.2f} ({new_own / old_own:.2f})"
    return [task["name"], task["form"], cell(found["before"]), cell(found["after"]), ratio]


def plain(task: dict[str, Any]) -> Callable[[], Any]:
    """The plain aggregate of a task in DuckDB."""
    duckdb = needed("duckdb")

    connection = duckdb.connect()
    by = f"{task['unit']}, {task['key']}" if "limited" in task else task["key"]
    query = f"SELECT {by}, count(*) AS n, sum(cost) AS s FROM '{task['path']}' GROUP BY {by}"
    # Ten million pairs of person and group are not fetched, only added up.
    query = f"SELECT sum(n), sum(s) FROM ({query})" if "limited" in task else query
    return lambda: connection.execute(query).fetchall()


def spent() -> float:
    """Seconds of processors that this process has used so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds on the clock, and of processors."""
    start, before = time.perf_counter(), spent()
    work()
    return time.perf_counter() - start, spent() - before


def peak() -> float:
    """The largest memory that this process has had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def child(task: dict[str, Any]) -> dict[str, Any]:
    """What one process finds out: memory (with the seconds of one release), or the seconds of both in turns."""
    release = ours(task)
    for _ in range(task.get("warm", 0)):
        release()
    if task["runs"] == 0:
        once = timed(release)
        return {"ours": [once], "peak": peak()}
    aggregate = plain(task)
    found: dict[str, Any] = {"plain": [], "ours": []}
    for run in range(task["runs"] + 1):
        for name, work in (("plain", aggregate), ("ours", release)):
            once = timed(work)
            found[name] += [once] if run else []
    return found


def asked(
    python: Path | str, script: str, task: dict[str, Any], *more: str, source: str | None = None
) -> dict[str, Any]:
    """The answer of a process of its own, with the package of a folder; says what went wrong if there is none."""
    command = [str(python), str(HERE / script), *more, json.dumps(task)]
    around = {**os.environ, "PYTHONPATH": source} if source else None
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=around)
    if done.returncode:
        return {"missing": "failed: " + (done.stderr.strip().splitlines() or ["no message"])[-1][:80]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def environment(folder: Path) -> Path:
    """The Python of an environment with OpenDP, made once."""
    place = folder / "opendp"
    python, ready = place / "bin" / "python", place / "ready"
    if not ready.is_file() or ready.read_text(encoding="utf-8") != " ".join(PEER):
        print(f"making an environment for OpenDP in {place}", file=sys.stderr)
        venv.create(place, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER], check=True)
        ready.write_text(" ".join(PEER), encoding="utf-8")
    return python


def middle(runs: list[list[float]]) -> tuple[float, float]:
    """The medians of seconds on the clock and of processors."""
    return median(one[0] for one in runs), median(one[1] for one in runs)


def cell(runs: list[list[float]] | None) -> str:
    """Seconds on the clock, and those of processors in brackets."""
    if not runs:
        return "–"
    wall, own = middle(runs)
    return f"{wall:.2f} s ({own:.2f})"


def line(name: str, found: dict[str, Any], memory: dict[str, Any], peer: dict[str, Any]) -> list[str]:
    """One line of the table."""
    if missing := found.get("missing") or memory.get("missing"):
        return [name, missing, "", "", "", ""]
    ratio = "–"
    if "plain" in found:
        (wall, own), (base, base_own) = middle(found["ours"]), middle(found["plain"])
        ratio = f"{wall / base:.2f} ({own / base_own:.2f})"
    theirs = peer.get("missing") or (f"{cell(peer['runs'])}, {peer['peak']:.2f} GiB" if peer else "–")
    return [name, cell(found.get("plain")), cell(found["ours"]), ratio, f"{memory['peak']:.2f} GiB", theirs]


def verdicts(found: dict[str, dict[str, Any]], memory: dict[str, dict[str, Any]]) -> list[str]:
    """Each goal and whether it was reached, on the clock and in seconds of processors."""
    lines = []
    for name, figures in found.items():
        if "plain" in figures:
            factor, more = (8.0, 0.0) if "limited" in name else (1.3, 0.5)
            goal = "8 times GROUP BY person, group" if "limited" in name else "1.3 times the plain aggregate + 0.5 s"
            pairs = list(zip(middle(figures["ours"]), middle(figures["plain"]), strict=True))
            wall, own = (f"{a:.2f} s of {factor * b + more:.2f} s" for a, b in pairs)
            reached = ["yes" if a <= factor * b + more else "no" for a, b in pairs]
            lines.append(
                f"goal {name}: at most {goal}: {wall} … reached {reached[0]} (of processors {own}: {reached[1]})"
            )
    for name, one in memory.items():
        reached = ["yes" if one.get("peak", 2) < 2 else "no"]
        shown = one.get("missing") or f"{one['peak']:.2f} GiB"
        lines.append(f"goal {name}: finishes with less than 2 GiB: {shown} … reached {reached[0]}")
    return lines


def compared(given: argparse.Namespace) -> str:
    """A table of each task in each form, before and after."""
    rows = [["release", "from", "before", "after", "ratio"]]
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        paths = in_forms(Path(place), made(Path(place), given.rows, texts=False))
        for name in ("one row per person, whole keys", "limited, whole units"):
            for form in FORMS:
                if given.only in f"{name}, {form}":
                    own = {"name": name, "form": form, "path": paths[form], "folder": place, "runs": 0}
                    rows.append(before_and_after({**TASKS[name], **own}, given.before, given.runs))
                    print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    return f"{given.rows:,} rows; medians of {given.runs} processes each\n\n{as_markdown(rows)}"


def main() -> None:
    """A line for each way, then the goals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--large", type=int, default=100_000_000, help="rows of the large table; 0 leaves it out")
    parser.add_argument("--texts", action="store_true", help="the large table with units of text too")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--no-peer", action="store_true", help="without OpenDP")
    parser.add_argument("--only", default="", help="lines whose name contains this")
    parser.add_argument(
        "--folder", type=Path, help="where the tables are made and removed; a temporary folder unless given"
    )
    parser.add_argument("--environments", type=Path, help="where environments are made; a cache folder unless given")
    parser.add_argument("--before", help="the src folder of another commit: time it beside this one, in each form")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        warnings.simplefilter("ignore")
        print(json.dumps(child(json.loads(given.child))))
        return
    if given.before:
        print(compared(given))
        return
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = (given.environments or base / "noisewright-benchmarks").resolve()
    python = None if given.no_peer else environment(folder)
    head = ["release", "plain in DuckDB", "noisewright", "ratio", "peak memory", "OpenDP"]
    rows, found, memory = [head], {}, {}
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        path = made(Path(place), given.rows, texts=True)
        for name, settings in TASKS.items():
            if given.only in name:
                task = {**settings, "path": path, "folder": place, "runs": given.runs, "rows": given.rows}
                found[name] = asked(sys.executable, "release_times.py", task, "--child")
                memory[name] = asked(sys.executable, "release_times.py", {**task, "runs": 0}, "--child")
                peer = {} if python is None or task["unit"] == "person" else asked(python, "release_peers.py", task)
                rows.append(line(name, found[name], memory[name], peer))
                print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
        units = ["whole units", "units of text"] if given.texts else ["whole units"]
        large = [kind for kind in units if given.large and given.only in f"limited, {kind}, large"]
        path = made(Path(place), given.large, texts=given.texts) if large else ""
        for kind in large:
            name = f"limited, {kind}, large: {given.large:,} rows"
            task = {**TASKS[f"limited, {kind}"], "path": path, "folder": place, "runs": 0}
            found[name] = memory[name] = asked(sys.executable, "release_times.py", task, "--child")
            rows.append(line(name, found[name], memory[name], {}))
    print(f"{given.rows:,} rows, {GROUPS:,} groups, count and sum; medians of {given.runs} runs\n")
    print(as_markdown(rows), "", *verdicts(found, memory), sep="\n")


if __name__ == "__main__":
    main()
