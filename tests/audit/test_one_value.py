"""One value of a saved file changed, and every seal and certificate around it made anew: refused, or still true.

Who knows the format can say anything in a file, but not more than is proven. The places where another value is accepted
are listed: noise and questions, which are proven again, what is demanded, and words that are not read.
"""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.app.cli.saved import verify
from noisewright.ledger.chain import Row
from noisewright.mechanisms.renewed import mechanism_from_dict
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.privacy import REQUIREMENTS
from noisewright.problem.records import digest
from tests.audit import seeds
from tests.audit.forging import resealed
from tests.forgery import at, leaves, put

Data = dict[str, Any]
PROVEN_AGAIN = ("mechanism", "requirement")
FREE: dict[str, set[tuple[Any, ...]]] = {
    "plan": {
        ("parts", "#", "times"),
        ("parts", "#", "release", "sensitivity"),
        ("parts", "#", "release", "law"),
        ("neighbours",),
        ("groups",),
        ("grids",),
        ("claims", "#", "#"),
    },
    "report": {
        *(("bound",), ("bound_over",), ("why",), ("notes",)),
        *(("candidates", "#", what) for what in ("name", "value", "gap", "error", "bias", "parts")),
    },
    "release": {
        ("dataset",),
        ("questions",),
        ("privacy",),
        ("utility",),
        ("weights",),
        ("blocks", "#", "name"),
        ("blocks", "#", "why"),
    },
    "stream": {("counts",), ("measured",)},
    "mechanism": set(),
    "ledger": {
        ("time",),
        ("label",),
        ("version",),
        ("question",),
        ("answer",),
        ("budget", "requirement"),
        ("budget", "rules"),
        ("certificate", "bound"),
        ("certificate", "requirement", "epsilon"),
        ("certificate", "mechanism"),
        ("certificate", "rule"),
    },
}
"""Where another value may stand, by how the place begins; "#" is any place of a list."""
LARGER, SMALLER = {"value", "gap", "claims"}, {"bound"}
"""Numbers that claim less where they are larger, or smaller."""


def _proven_anew(data: Any) -> Any:
    """The same with every certificate proven again where that can be, then every seal."""
    if isinstance(data, list):
        return [_proven_anew(one) for one in data]
    if not isinstance(data, dict):
        return data
    made = {key: _proven_anew(value) for key, value in data.items()}
    if isinstance(made.get("certificate"), dict) and "mechanism" in made:
        with contextlib.suppress(LookupError, TypeError, ValueError, ArithmeticError, NoisewrightError):
            requirement = REQUIREMENTS.from_dict(made["certificate"]["requirement"])
            made["certificate"] = nw.certify(mechanism_from_dict(made["mechanism"]), requirement).to_dict()
        made["certificate"] = {**made["certificate"], "mechanism": digest(made["mechanism"])}
    return made


def _others(value: Any) -> list[Any]:
    """Values of the same form: more, and less."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value * 1.25, value * 0.8]
    try:
        exact = Fraction(value)
    except (TypeError, ValueError):
        return ["x" if value is None else value + "x"]
    return [str(exact * 2), str(exact / 2), str(exact + 1), str(-exact - 1)]


def _changed(data: Data) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """A value for each sort of place, and what stands there then: the first and the last place of a list are one."""
    seen: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for path in leaves(data):
        if path[-1] not in ("digest", "previous", "place"):
            seen[_sort(path)] = path
    for path in seen.values():
        for other in _others(at(data, path)):
            if other != at(data, path):
                yield path, at(data, path), other


def _sort(path: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple("#" if isinstance(key, int) else key for key in path)


def _allowed(kind: str, path: tuple[Any, ...], before: Any, after: Any) -> bool:
    """Whether a change that was accepted is one that claims no more than is proven."""
    sort = _sort(path)
    if "certified" in sort or kind == "mechanism":
        return sort[-1] not in ("rule", "bound", "neighbours", "format", "kind") and any(
            part in sort for part in PROVEN_AGAIN
        )
    if kind != "ledger" and (below := LARGER & set(sort)) | (SMALLER & set(sort)):
        return (after > before if isinstance(after, float) else Fraction(after) > Fraction(before)) == bool(below)
    return any(sort[: len(begin)] == begin for begin in FREE[kind])


def _require_refused(kind: str, data: Data, read: Callable[[Data], object]) -> None:
    """Change each sort of value; whatever is accepted is listed, and nothing is refused for its seal."""
    read(resealed(data))
    wrong, refused = [], 0
    for path, before, after in _changed(data):
        for made in (resealed(put(data, path, after)), resealed(_proven_anew(put(data, path, after)))):
            if made == data:
                continue
            try:
                read(made)
            except NoisewrightError as error:
                refused += 1
                if "digest" in str(error) and "certificate" not in path:
                    wrong.append(f"{path}: {after!r:.40} is refused for its seal: {error}")
            else:
                if not _allowed(kind, path, before, after) and at(made, path) == after:
                    wrong.append(f"{path}: {after!r:.40} instead of {before!r:.40} is accepted")
    assert refused
    assert not wrong, "\n".join(wrong)


def _verified(folder: Path) -> Callable[[Data], object]:
    path = folder / "file.json"

    def read(data: Data) -> None:
        path.write_text(json.dumps(data), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()):
            verify(path, "20")

    return read


NAMES = ("law-laplace-pure", "law-gaussian-approximate", "law-piecewise-real")


@pytest.mark.parametrize("name", NAMES)
def test_one_value_of_a_mechanism_is_proven_again_or_refused(name: str, tmp_path: Path):
    _require_refused("mechanism", seeds.named(name), _verified(tmp_path))


@pytest.mark.parametrize("kind", ["plan", "report", "release"])
def test_one_value_of_a_plan_a_report_or_a_release_is_proven_again_or_refused(kind: str, tmp_path: Path):
    listed = {"plan": seeds.plans, "report": seeds.reports}
    made = listed[kind]() if kind in listed else seeds.releases(tmp_path)
    _require_refused(kind, json.loads(json.dumps(made[0])), _verified(tmp_path))


def test_one_value_of_a_stream_is_proven_again_or_refused():
    _require_refused("stream", seeds.streams()[0], nw.mechanisms.CountStream.from_dict)


def test_one_value_of_a_ledger_is_refused_unless_nothing_is_promised_by_it(tmp_path: Path):
    bodies = seeds.bodies(tmp_path)
    for place, body in enumerate(bodies):

        def read(data: Data, place: int = place) -> None:
            rows: list[Row] = []
            for content in (*bodies[:place], data, *bodies[place + 1 :]):
                rows.append(Row.after(rows[-1].head if rows else None, content["account"], content))
            path = _stored(tmp_path, rows)
            nw.Ledger.open(path).verify()

        _require_refused("ledger", body, read)


def _stored(folder: Path, rows: list[Row]) -> Path:
    """A file of SQLite with these rows, and its head."""
    path = folder / "one.ledger"
    path.unlink(missing_ok=True)
    made, seed = sqlite3.connect(path), sqlite3.connect(folder / "seed.ledger")
    with made, seed:
        seed.backup(made)
        made.execute("DELETE FROM rows")
        held = [(row.place, row.account, row.body, row.digest) for row in rows]
        made.executemany("INSERT INTO rows (place, account, body, digest) VALUES (?, ?, ?, ?)", held)
    made.close()
    seed.close()
    path.with_name(path.name + ".head").write_text(json.dumps(rows[-1].head.to_dict()))
    return path


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["mechanism", "plan", "report", "release", "stream"])
def test_one_value_of_every_file_is_proven_again_or_refused(kind: str, tmp_path: Path):
    listed: dict[str, Callable[[], list[Data]]] = {
        "mechanism": seeds.mechanisms,
        "plan": seeds.plans,
        "report": seeds.reports,
        "release": lambda: seeds.releases(tmp_path),
        "stream": seeds.streams,
    }
    for data in listed[kind]():
        read = nw.mechanisms.CountStream.from_dict if kind == "stream" else _verified(tmp_path)
        _require_refused(kind, json.loads(json.dumps(data)), read)
