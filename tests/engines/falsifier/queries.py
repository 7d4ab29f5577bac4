"""Random queries that may stand before a private answer: filters, casts, cases, joins, groups, windows, unions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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
_HOURS = (0, 1, 475_513, 475_514, 480_553, 480_554)
"""Since then: among them the hours in which the clocks of Europe are changed."""
_ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu"]
"""Zones that change their clocks by an hour, by half an hour, by the moon, and not at all."""


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
        "time": [_EPOCH + timedelta(hours=hours) for hours in _HOURS],
        "instant": [_EPOCH.replace(tzinfo=UTC) + timedelta(hours=hours) for hours in _HOURS],
    }
    return ibis.literal(random.choice(values[kind]))


def predicate(random: Random, asked: Asked) -> Any:
    """A condition on one row."""
    kind = random.choice(["double"] * 5 + ["whole", "text", "boolean", "date", "time", "instant"])
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
    if kind == "time":
        found += [value.hour() >= 2, value.date() == constant(random, "date"), value.day_of_week.index() < 5]
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
            lambda: s.cast("timestamp(6)"),
            lambda: s.cast("timestamp('UTC', 6)"),
            lambda: t.minute(),
            lambda: ibis.coalesce(t, constant(random, "time")),
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
    for kind in ("double", "whole", "date", "time", "instant", "text"):
        if names := asked.of(kind):
            value = table[random.choice(names)]
            found += [value.max().over(own), value.min().over(own), value.count().over(own)]
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
    """A join by the unit, and maybe by more, with another private table, with its rows that are left or its summary."""
    bills = tables[1]
    if random.random() < 0.3:
        bills = bills.filter(predicate(random, Asked(bills, "u")))
    if random.random() < 0.3:
        bills = bills.group_by("u").agg(x=bills.x.max(), i=bills.i.min(), s=bills.s.max())
    on = [asked.table[asked.unit] == bills.u]
    for name, kind in (("i", "whole"), ("x", "double"), ("s", "text")):
        if name in asked.of(kind) and random.random() < 0.3:
            mine, other = asked.table[name], bills[name]
            on.append(random.choice([mine == other, mine >= other, mine < other, mine != other]))
    how = random.choice(["inner", "left", "semi", "anti"])
    found = asked.table.join(bills, on, how=how, rname="{name}_bills")
    return Asked(found.select(*found.columns), asked.unit)


def _with_itself(random: Random, asked: Asked, tables: Any) -> Asked:
    """A join of what there is with a summary of itself."""
    name = random.choice(asked.of("double") or asked.of("whole") or [asked.unit])
    least = asked.table.group_by(asked.unit).agg(least_of_it=asked.table[name].min()).view()
    found = asked.table.join(least, asked.table[asked.unit] == least[asked.unit], how=random.choice(["inner", "left"]))
    return Asked(found.select(*asked.table.columns, "least_of_it"), asked.unit)


def _unnested(random: Random, asked: Asked, tables: Any) -> Asked:
    """Many rows of one, which is refused."""
    words = asked.some(random, "text").split(",")
    return Asked(asked.table.mutate(word=words).unnest("word"), asked.unit)


_REFUSED = 0.02
"""How often many rows are made of one."""
_STEPS = [_filtered] * 4 + [_mutated] * 3 + [_selected] * 2 + [_grouped] * 2 + [_windowed, _united]
_STEPS += [_with_public] * 4 + [_with_private] * 2 + [_with_itself]


def query(random: Random, tables: tuple[Any, Any, Any], *, heavy: bool) -> Asked:
    """A query over a private table, another one and a public one, and the column of the unit in what it gives."""
    asked, joined = Asked(tables[0], "u"), heavy
    for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3, 4])):
        step = random.choice(_STEPS)
        if step is _with_private:
            step, joined = (_filtered if joined else step), True
        asked = step(random, asked, tables)
    return _unnested(random, asked, tables) if random.random() < _REFUSED else asked


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
        first = random.choice(["2024-03-25", "2024-10-20", "2019-12-25"])
        end = (datetime.fromisoformat(first) + timedelta(days=12)).date().isoformat()
        found.append(nw.ask.histogram(name, every="day", start=first, end=end, zone=random.choice(_ZONES), name="days"))
    for name in asked.of("time")[:1]:
        found.append(nw.ask.histogram(name, every="day", start="2024-10-20", end="2024-11-02", name="days of times"))
    return random.sample(found, 2)
