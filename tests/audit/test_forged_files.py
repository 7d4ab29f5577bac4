"""Files of every kind, forged: each is refused in words or proven, within a gigabyte and ten seconds."""

from __future__ import annotations

import copy
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Timer
from typing import Any

import pytest

from noisewright.ledger.chain import Row, digest_of
from tests.audit import seeds
from tests.audit.forging import forged, resealed
from tests.e2e.spec_files import SPEC

ROOT = Path(__file__).resolve().parents[2]
_MOST_SECONDS = 10
"""Of the processor: what a file may cost, however busy the machine is."""
_HANGS = 150
"""Of the clock: when a file that does not end is given up."""
_LIVES = 400
"""How many files one process reads."""
KINDS = ("mechanism", "plan", "report", "page", "release", "stream", "head", "ledger", "spec", "rows", "values")


class Reader:
    """A process with a gigabyte of memory that reads one file after another."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._read = 0

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process, self._read = None, 0

    def ended(self, kind: str, path: Path) -> str:
        """How a file ended: proven, refused, or what must not be."""
        if self._process is None or self._read >= _LIVES:
            self.stop()
            command = [sys.executable, "-m", "tests.audit.reader"]
            self._process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
            )
        process, self._read = self._process, self._read + 1
        assert process.stdin is not None
        assert process.stdout is not None
        watch = Timer(_HANGS, process.kill)
        watch.start()
        try:
            process.stdin.write(json.dumps([kind, str(path)]) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        finally:
            watch.cancel()
        if not line:
            code = process.wait()
            self.stop()
            return f"the process ended ({code})"
        found, seconds = json.loads(line)
        return str(found) if seconds <= _MOST_SECONDS else f"took {seconds:.1f} seconds, then {found}"


def _written(kind: str, number: int, folder: Path) -> Path:
    """The file of this number and kind, the same every time."""
    random = Random(f"{kind} {number}")
    made = _MAKERS[kind](random, folder)
    path = folder / f"file{_ENDINGS.get(kind, '.json')}"
    if isinstance(made, Path):
        return made
    path.write_bytes(made)
    return path


def _of(listed: Callable[[Path], list[Any]]) -> Callable[[Random, Path], bytes]:
    def make(random: Random, folder: Path) -> bytes:
        known = listed(folder)
        return forged(random.choice(known), [*known, *random.sample(seeds.mechanisms(), 3)], random)

    return make


def _page(random: Random, folder: Path) -> bytes:
    return seeds.page(forged(random.choice(seeds.reports()), seeds.reports(), random))


_HEAD = {"count": 3, "digest": "0" * 64}
_ROWS = "1,2,3\n4,5,6\n0.5,1/3,-2e10\n"


def _head(random: Random, folder: Path) -> bytes:
    return forged(_HEAD, [{"count": 1, "digest": ""}], random)


def _ledger(random: Random, folder: Path) -> Path:
    """A file of SQLite with one row forged, and the chain and the head closed again after it."""
    path = folder / "forged.ledger"
    bodies = seeds.bodies(folder)
    changed = random.randrange(len(bodies))
    rows: list[Row] = []
    for place, held in enumerate(bodies):
        body = copy.deepcopy(held)
        if place == changed:
            raw = forged(body, bodies, random).decode("utf-8", "replace")
            rows.append(Row(place, '""', raw, digest_of(raw)))
        else:
            rows.append(Row.after(rows[-1].head if rows else None, body["account"], body))
    made = sqlite3.connect(path)
    seed = sqlite3.connect(folder / "seed.ledger")
    with made, seed:
        seed.backup(made)
        made.execute("DELETE FROM rows")
        made.executemany("INSERT INTO rows (place, account, body, digest) VALUES (?, ?, ?, ?)", map(_columns, rows))
    made.close()
    seed.close()
    path.with_name(path.name + ".head").write_text(json.dumps(rows[-1].head.to_dict()))
    return path


def _columns(row: Row) -> tuple[int, str, str, str]:
    return row.place, row.account, row.body, row.digest


_WORDS = (
    *(
        '"',
        "=",
        "[",
        "]",
        "[[ask]]",
        "{",
        "}",
        "1e999999999",
        "nan",
        "inf",
        "9" * 5000,
        "[" * 500,
        "a.b." * 400 + "c=1",
    ),
    *("\n", '"""', "-", "0x1F", "2025-01-01", "true", "\ud800", "\0", "1979-05-27T07:32:00Z", "epsilon = 1e400"),
)


def _text(begin: str) -> Callable[[Random, Path], bytes]:
    """Words of the format in places where they do not belong."""

    def make(random: Random, folder: Path) -> bytes:
        text = begin
        for _ in range(random.choice((1, 2, 5))):
            place, way = random.randrange(len(text) + 1), random.randrange(4)
            word = random.choice(_WORDS)
            more = {0: word, 1: word + text[place : place + 30] * 3, 2: "", 3: "9" * random.choice((9, 400, 5000))}[way]
            text = text[:place] + more + text[place + random.choice((0, 0, 1, 12)) :]
        raw = text.encode("utf-8", "surrogatepass")
        return random.choice((raw, raw, raw, raw, text.encode("utf-16", "surrogatepass"), raw[: len(raw) // 2]))

    return make


def _values(random: Random, folder: Path) -> bytes:
    """An answer for a true mechanism, which stands beside it."""
    known = seeds.mechanisms()
    (folder / "file.json").write_text(json.dumps(random.choice(known)))
    return _text(random.choice(_ANSWERS))(random, folder)


_ANSWERS = ("3", "1,2,3", "[1, 2, 3]", '{"0": 3, "1": 1e3}', "a=1\nb=2", "0.1 0.2 0.3")
_MAKERS: dict[str, Callable[[Random, Path], bytes | Path]] = {
    "mechanism": _of(lambda _: seeds.mechanisms()),
    "plan": _of(lambda _: seeds.plans()),
    "report": _of(lambda _: seeds.reports()),
    "page": _page,
    "release": _of(seeds.releases),
    "stream": _of(lambda _: seeds.streams()),
    "head": _head,
    "ledger": _ledger,
    "spec": _text(SPEC),
    "rows": _text(_ROWS),
    "values": _values,
}
_ENDINGS = {"page": ".html", "spec": ".toml", "rows": ".csv", "values": ".txt"}


def _true(kind: str, folder: Path) -> Path:
    """A file of this kind as nobody forged it."""
    made: dict[str, Callable[[], list[Any]]] = {
        "mechanism": seeds.mechanisms,
        "plan": seeds.plans,
        "report": seeds.reports,
        "release": lambda: seeds.releases(folder),
        "stream": seeds.streams,
        "head": lambda: [_HEAD],
    }
    path = folder / f"true{_ENDINGS.get(kind, '.json')}"
    if kind == "ledger":
        seeds.bodies(folder)
        return folder / "seed.ledger"
    if kind in made:
        path.write_text(json.dumps(made[kind]()[0]), encoding="utf-8")
    elif kind == "page":
        path.write_bytes(seeds.page(json.dumps(seeds.reports()[0]).encode()))
    else:
        path.write_text({"spec": SPEC, "rows": _ROWS, "values": "3"}[kind], encoding="utf-8")
        path.with_suffix(".json").write_text(json.dumps(seeds.named("law-laplace-pure")), encoding="utf-8")
    return path


def _require_words(kind: str, numbers: range, folder: Path) -> None:
    wrong = []
    with Reader() as reader:
        assert reader.ended(kind, _true(kind, folder)) == "proven"
        for number in numbers:
            found = reader.ended(kind, _written(kind, number, folder))
            if not found.startswith(("proven", "refused")):
                wrong.append(f"{kind} {number}: {found}")
    assert not wrong, "\n".join(wrong[:20])


def _scaled(name: str, field: str, value: str) -> dict[str, Any]:
    """A saved mechanism with another parameter of its law, sealed again."""
    changed = copy.deepcopy(seeds.named(name))
    changed["mechanism"]["law"][field] = value
    return dict(resealed(changed))


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("law-gaussian-approximate", "std", "1000000"),
        ("law-gaussian-approximate", "std", "1" + "0" * 200),
        ("law-discrete-gaussian-approximate", "std", "30000"),
        ("law-generalized-gaussian-renyi", "scale", "1/1" + "0" * 40),
    ],
)
def test_small_files_of_extreme_scales_are_refused_within_memory(name: str, field: str, value: str, tmp_path: Path):
    path = tmp_path / "file.json"
    path.write_text(json.dumps(_scaled(name, field, value)), encoding="utf-8")
    assert path.stat().st_size < 1200
    with Reader() as reader:
        assert reader.ended("mechanism", path).startswith("refused")


@pytest.mark.parametrize("kind", KINDS)
def test_forged_files_are_refused_in_words_or_proven(kind: str, tmp_path: Path):
    _require_words(kind, range(12), tmp_path)


_MANY = {"mechanism": 4000, "plan": 1500, "report": 800, "release": 1200, "page": 400, "stream": 700, "ledger": 500}


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_forged_files_are_refused_in_words_or_proven(kind: str, tmp_path: Path):
    _require_words(kind, range(_MANY.get(kind, 300)), tmp_path)
