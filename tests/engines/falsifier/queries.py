"""Random queries that may stand before a private answer: filters, casts, cases, joins, groups, windows, unions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

import ibis

from tests.engines.falsifier.worlds import DAYS, DOUBLES, KEYS, TEXTS, WHOLES

_NAMES = (
    "n1",
    "n2",
    "X",
    "K",
    "u2",
    "t0",
    "t1",
    "U",
    "I",
    "a long name " * 6 + "1",
    "a long name " * 6 + "2",
    "k\u0131",
)
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Asked:
    """A query so far: the table, and the column that carries the unit."""

    table: Any
    unit: str

    def of(self, kind: str) -> list[str]:
        """The columns of a kind, without the unit."""
        fits: dict[str, Callable[[Any], bool]] = {
            "double": lambda held: bool(held.is_floating()),
            "whole": lambda held: bool(held.is_integer()),
            "text": lambda held: bool(held.is_string()),
            "boolean": lambda held: bool(held.is_boolean()),
            "date": lambda held: bool(held.is_date()),
            "time": lambda held: bool(held.is_timestamp() and held.timezone is None),
            "instant": lambda held: bool(held.is_timestamp() and held.timezone is not None),
        }
        return [name for name, held in self.table.schema().items() if name != self.unit and fits[kind](held)]

    def some(self, random: Random, kind: str) -> Any:
        """One of them as a value, or a constant where there is none."""
        names = self.of(kind)
        return self.table[random.choice(names)] if names else constant(random, kind)


def constant(random: Random, kind: str) -> Any:
    """A constant that a person could write."""
    values: dict[str, list[Any]] = {
        "double": [0.0] * 5 + [value for value in DOUBLES if value is not None and not math.isnan(value)],
        "whole": [value for value in WHOLES if value is not None],
        "text": [value for value in TEXTS if value is not None],
        "boolean": [True, False],
        "date": [_EPOCH.date() + timedelta(days=day) for day in DAYS if day is not None and abs(day) < 10**5],
        "time": [_EPOCH + timedelta(hours=hours) for hours in (0, 1, 475_513)],
    }
    return ibis.literal(random.choice(values[kind]))


def predicate(random: Random, asked: Asked) -> Any:
    """A condition on one row."""
    kind = random.choice(["double"] * 5 + ["whole", "text", "boolean", "date", "time"])
    value = asked.some(random, kind)
    if kind == "boolean":
        return random.choice([value, ~value, value.isnull()])
    other = constant(random, kind) if random.random() < 0.8 else asked.some(random, kind)
    found = [value == other, value != other, value > other, value >= other, value < other, value <= other]
    found += [value.isnull(), value.notnull(), value.between(other, constant(random, kind))]
    found += [value.isin([constant(random, kind), other])]
    if kind == "double":
        found += [value == 0.0] * 4
        found += [value.isnan(), ~value.isnan(), value.isinf(), value + 1 > other]
    if kind == "text":
        found += [value.contains("A"), value.startswith("1"), value.length() > 3]
    one = random.choice(found)
    return random.choice([one, one, ~one, one | value.isnull()])


def derived(random: Random, asked: Asked) -> Any:
    """A value made of one row."""
    x, y, i = asked.some(random, "double"), asked.some(random, "double"), asked.some(random, "whole")
    s, d, t = asked.some(random, "text"), asked.some(random, "date"), asked.some(random, "time")
    return random.choice(
        [
            lambda: x + y,
            lambda: x * 2,
            lambda: x / y,
            lambda: -x,
            lambda: x.abs(),
            lambda: x.sqrt(),
            lambda: x.ln(),
            lambda: x.floor(),
            lambda: x.round(),
            lambda: x**2,
            lambda: x.cast("int64"),
            lambda: x.cast("int8"),
            lambda: i.cast("float64"),
            lambda: i.cast("string"),
            lambda: i % 7,
            lambda: i + 1,
            lambda: s.cast("float64"),
            lambda: s.cast("int64"),
            lambda: s.cast("date"),
            lambda: s.upper().strip(),
            lambda: s.length(),
            lambda: s.substr(0, 3),
            lambda: s + "!",
            lambda: d.year(),
            lambda: d.day_of_week.index(),
            lambda: t.hour(),
            lambda: t.date(),
            lambda: ibis.cases((predicate(random, asked), x), else_=y),
            lambda: ibis.coalesce(x, y, 5.5),
            lambda: ibis.greatest(x, y),
            lambda: ibis.least(x, 3.0),
            lambda: x.nullif(0.0),
            lambda: x.isnan(),
            lambda: x.fill_null(30.0),
            lambda: constant(random, "double"),
            lambda: constant(random, "whole"),
        ]
    )()


def _name(random: Random, asked: Asked) -> str:
    """A name for what is derived, sometimes one that an engine may take for that of another column."""
    return random.choice([*_NAMES, asked.unit.upper(), asked.unit.swapcase(), "x", "k"])


def _filtered(random: Random, asked: Asked, tables: Any) -> Asked:
    return Asked(asked.table.filter(predicate(random, asked)), asked.unit)


def _mutated(random: Random, asked: Asked, tables: Any) -> Asked:
    name = _name(random, asked)
    name = "n1" if name == asked.unit else name
    return Asked(asked.table.mutate(**{name: derived(random, asked)}), asked.unit)


def _selected(random: Random, asked: Asked, tables: Any) -> Asked:
    others = [name for name in asked.table.columns if name != asked.unit]
    kept = random.sample(others, random.randrange(1, len(others) + 1)) if others else []
    own = {_name(random, asked) if random.random() < 0.3 else name: asked.table[name] for name in kept}
    unit = random.choice([asked.unit, "person"])
    own.pop(unit, None)
    values = {**own, unit: asked.table[asked.unit]}
    order = random.sample(sorted(values), len(values))
    return Asked(asked.table.select(**{name: values[name] for name in order}), unit)


def _grouped(random: Random, asked: Asked, tables: Any) -> Asked:
    table, unit = asked.table, asked.unit
    keys: dict[str, Any] = {unit: table[unit]}
    others = [name for name in table.columns if name != unit]
    for _ in range(random.randrange(0, 3)):
        if random.random() < 0.4:
            keys.setdefault(_name(random, asked), derived(random, asked))
        elif others:
            name = random.choice(others)
            keys[name] = table[name]
    if random.random() < 0.5:
        keys = dict(reversed(keys.items()))
    x, i, b = asked.some(random, "double"), asked.some(random, "whole"), asked.some(random, "boolean")
    summaries = {
        "n": table.count(),
        "least": x.min() if asked.of("double") else table.count(),
        "most": i.max() if asked.of("whole") else table.count(),
        "several": i.nunique() if asked.of("whole") else table.count(),
        "any": b.any() if asked.of("boolean") else table.count(),
        "some": table.count(where=predicate(random, asked)),
    }
    names = random.sample(sorted(set(summaries) - set(keys)), 2)
    return Asked(table.group_by(**keys).agg(**{name: summaries[name] for name in names}), unit)


def _windowed(random: Random, asked: Asked, tables: Any) -> Asked:
    table, own = asked.table, ibis.window(group_by=asked.table[asked.unit])
    found = [table.count().over(own)]
    found += [table[name].max().over(own) for name in asked.of("double")[:1]]
    found += [table[name].min().over(own) for name in asked.of("date")[:1]]
    name = _name(random, asked)
    return Asked(table.mutate(**{"n2" if name == asked.unit else name: random.choice(found)}), asked.unit)


def _united(random: Random, asked: Asked, tables: Any) -> Asked:
    table = asked.table
    doubles = asked.of("double")
    other = table.filter(predicate(random, asked))
    if len(doubles) > 1:
        one, two = doubles[:2]
        other = random.choice([other, table.mutate(**{one: table[two]})])
    return Asked(ibis.union(table, other, distinct=False), asked.unit)


def _with_public(random: Random, asked: Asked, tables: Any) -> Asked:
    public = tables[2]
    held, theirs = asked.table.schema(), public.schema()
    fits = [(m, t) for m in held.names if m != asked.unit for t in theirs.names if held[m] == theirs[t]]
    doubles = [pair for pair in fits if held[pair[0]].is_floating()]
    if not fits:
        return asked
    mine, other = random.choice(doubles if doubles and random.random() < 0.6 else fits)
    how = random.choice(["inner", "left", "semi", "anti"])
    found = asked.table.join(public, asked.table[mine] == public[other], how=how, rname="{name}_public")
    return Asked(found.select(*found.columns), asked.unit)


def _with_private(random: Random, asked: Asked, tables: Any) -> Asked:
    bills = tables[1]
    on = [asked.table[asked.unit] == bills.u]
    if "i" in asked.of("whole") and random.random() < 0.4:
        on.append(asked.table.i == bills.i)
    how = random.choice(["inner", "left", "semi", "anti"])
    found = asked.table.join(bills, on, how=how, rname="{name}_bills")
    return Asked(found.select(*found.columns), asked.unit)


_STEPS = [_filtered] * 4 + [_mutated] * 3 + [_selected] * 2 + [_grouped] * 2 + [_windowed, _united]
_STEPS += [_with_public] * 4 + [_with_private]


def query(random: Random, tables: tuple[Any, Any, Any], *, heavy: bool) -> Asked:
    """A query over a private table, another one and a public one, and the column of the unit in what it gives."""
    asked, joined = Asked(tables[0], "u"), heavy
    for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3, 4])):
        step = random.choice(_STEPS)
        if step is _with_private:
            step, joined = (_filtered if joined else step), True
        asked = step(random, asked, tables)
    return asked


def questions(random: Random, asked: Asked) -> list[Any]:
    """What is asked of the rows that a query gives: counts by keys, sums, bins, by columns that are there."""
    import noisewright as nw

    found: list[Any] = [nw.count(name="rows"), nw.ask.persons(name="persons")]
    for name in asked.of("double")[:2]:
        found.append(nw.ask.sum(name, bounds=(-10, 100), step="0.5", name=f"sum {name}"))
        found.append(nw.ask.histogram(name, edges=[-10, 0, 10, 50], name=f"bins {name}"))
    for name in asked.of("whole")[:2]:
        found.append(nw.ask.sum(name, bounds=(-5, 200), step=1, name=f"sum {name}"))
        found.append(nw.count(by=nw.keys(name, [0, 1, 7]), name=f"by {name}"))
    for name in asked.of("text")[:2]:
        keys = [key for key in (*KEYS, "12") if key is not None]
        found.append(nw.count(by=nw.keys(name, keys), name=f"by {name}"))
        found.append(nw.ask.sum(name, bounds=(-5, 200), step=1, name=f"sum {name}"))
    for name in asked.of("date")[:1]:
        found.append(nw.ask.histogram(name, every="month", start="2024-01-01", end="2026-02-01", name="months"))
    for name in asked.of("instant")[:1]:
        days = nw.ask.histogram(
            name, every="day", start="2024-03-25", end="2024-04-05", zone="Europe/Berlin", name="days"
        )
        found.append(days)
    return random.sample(found, 2)
