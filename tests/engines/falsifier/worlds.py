"""Tables that engines may plan wrongly for: nearly everybody has the same value, and one person another one.

What an engine knows of a column (least and greatest values, dictionaries, Bloom filters) then hangs on that person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa

KINDS: dict[str, pa.DataType] = {
    "u": pa.string(),
    "x": pa.float64(),
    "y": pa.float64(),
    "i": pa.int64(),
    "s": pa.string(),
    "k": pa.string(),
    "b": pa.bool_(),
    "d": pa.date32(),
    "ts": pa.timestamp("us"),
    "z": pa.timestamp("us", "UTC"),
}
"""The columns of the first private table; `u` is the unit, a text or a whole number."""
BILLS = ("u", "x", "i", "s")
"""Those of the second one, about the same persons."""
PUBLIC = ("x", "i", "k", "b", "d", "s")
"""Those of the public one."""
DOUBLES = [None, math.inf, -math.inf, 5e-324, 1e300, -1e300, 0.5, 5.5, 30.0, 99.95, 120.0, -7.25]
DOUBLES += [math.nan] * 4 + [0.0] * 2 + [-0.0] * 4
"""What is not compared as it looks comes more often."""
WHOLES = [None, 0, 1, -1, 7, 119, 2**62, -(2**63), 2**53 + 1, 2**63 - 1]
TEXTS = [None, "", "12", " 7 ", "1e2", "-3.5", "abc", "Ä", "A\u0308", "ß", "日本", "'; --", '"', '""', "a,b", "NULL"]
TEXTS += ["x\ny", 'x"\r\n"y', "5.5", "nan", "2024-02-29", "1e999", "long " * 400, "\\", "a\tb", "İ"]
KEYS = ["A", "a", "B", "A ", "", None]
DAYS = [None, -719_162, -1, 0, 18_262, 19_782, 20_454, 2_932_896]
"""From the year 1 to 9999."""
TIMES = [None, -62_135_596_800_000_000, -1, 0, 1_577_872_800_000_000, 1_711_846_800_000_000, 1_729_994_400_000_000]
"""Among them the hours at which summer time begins and ends in Europe."""
VALUES: dict[str, list[Any]] = {
    "x": DOUBLES,
    "y": DOUBLES,
    "i": WHOLES,
    "s": TEXTS,
    "k": KEYS,
    "b": [None, True, False],
    "d": DAYS,
    "ts": TIMES,
    "z": TIMES,
}
_MANY = 300
_HEAVY = 0.4


@dataclass(frozen=True)
class World:
    """Rows of two private tables and a public one, as lists of values by column; `persons` are the units."""

    visits: list[dict[str, Any]]
    bills: list[dict[str, Any]]
    public: list[dict[str, Any]]
    persons: list[Any]
    heavy: bool

    def alone(self, person: Any) -> World:
        """The same world with one person in it."""
        visits, bills = ([row for row in rows if row["u"] == person] for rows in (self.visits, self.bills))
        return World(visits, bills, self.public, [person], self.heavy)


def world(random: Random) -> World:
    """A few persons: some with many rows that are alike, one who is different, and rows of nobody."""
    count = random.choice([2, 2, 3])
    persons: list[Any] = [f"pérson {number}" for number in range(count)]
    if random.random() < 0.5:
        persons = [-3, 2**40, 4][:count]
    heavy = random.random() < _HEAVY
    visits, bills = _rows(random, persons, list(KINDS), heavy), _rows(random, persons, list(BILLS), heavy=False)
    public = [{name: _public(random, name, visits) for name in PUBLIC} for _ in range(random.randrange(1, 5))]
    return World(visits, bills, public, persons, heavy)


def _public(random: Random, name: str, visits: list[dict[str, Any]]) -> Any:
    """A value that somebody has, or any."""
    return random.choice(visits)[name] if random.random() < 0.6 else random.choice(VALUES[name])


def _rows(random: Random, persons: list[Any], columns: list[str], heavy: bool) -> list[dict[str, Any]]:
    alike = {name: random.choice(VALUES[name]) for name in columns[1:]}
    mixed = {name for name in columns[1:] if random.random() < 0.3}
    rows = []
    for place, person in enumerate([*persons, None]):
        odd = place == len(persons) - 1
        for _ in range(random.randrange(1, 3) if odd or person is None else random.randrange(1, 7)):
            own = {name: random.choice(VALUES[name]) if odd or name in mixed else alike[name] for name in columns[1:]}
            rows += [{"u": person, **own}] * (_MANY if heavy and not odd else 1)
    if random.random() < 0.5:
        rows.sort(key=lambda row: row["u"] != persons[-1])  # the one who is different comes first
    return rows


def arrow(rows: list[dict[str, Any]], names: tuple[str, ...] | list[str], units: list[Any]) -> pa.Table:
    """Rows as an Arrow table, with the types of `KINDS`."""
    kinds = {name: KINDS[name] for name in names}
    if "u" in kinds and not isinstance(units[0], str):
        kinds["u"] = pa.int64()
    stored = {"d": pa.int32(), "ts": pa.int64(), "z": pa.int64()}
    columns = {
        name: pa.array([row[name] for row in rows], stored.get(name, kind)).cast(kind) for name, kind in kinds.items()
    }
    return pa.table(columns)


def tables(made: World) -> tuple[pa.Table, pa.Table, pa.Table]:
    """The three tables of a world."""
    return (
        arrow(made.visits, list(KINDS), made.persons),
        arrow(made.bills, BILLS, made.persons),
        arrow(made.public, PUBLIC, made.persons),
    )
