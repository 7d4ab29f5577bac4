"""The whole numbers of a plan in plain Python, written from the rules in words; it shares no code with the package.

A row is a dict. Values may be None, floats with NaN and infinities, whole numbers or text.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import defaultdict
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

_NUMBER = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[01]?[0-9]{1,2})?")
_WORD = 2**64


def number(value: Any) -> float | None:
    """A value as a double; None where it is missing, NaN or text that is no number."""
    if value is None:
        return None
    if isinstance(value, str):
        plain = value.strip(" \t\n\r\v\f")
        return float(plain) if _NUMBER.fullmatch(plain) else None
    found = float(value)
    return None if math.isnan(found) else found


def lattice(value: float, low: Fraction, high: Fraction, step: Fraction) -> int:
    """floor(x/step + 1/2) of the clamped value, then clamped to the whole numbers of the bounds."""
    ends = [math.floor(end / step + Fraction(1, 2)) for end in (low, high)]
    inside = min(max(value, float(low)), float(high))
    index = math.floor(inside * float(step.denominator) / float(step.numerator) + 0.5)
    return min(max(index, ends[0]), ends[1])


def term(kind: str, row: dict[str, Any], column: str, bounds: tuple[int, int], step: Fraction) -> int:
    """What a row adds to a number of one kind."""
    value = number(row[column])
    if kind == "present":
        return int(value is not None)
    if value is None:
        return 0
    low, high = map(Fraction, bounds)
    first, last = (math.floor(end / step + Fraction(1, 2)) for end in (low, high))
    centre = (first + last) // 2
    index = lattice(value, low, high, step)
    if kind == "sum":
        return index
    if kind == "centred":
        return index - centre
    reach = max(last - centre, centre - first)
    return (index - centre) ** 2 - reach**2 // 2


def mixed(salt: int, words: list[int]) -> int:
    """The upper 32 bits of the chained finaliser of SplitMix64."""
    state = salt
    for word in words:
        state = (state * 3 + word + 0x9E3779B97F4A7C15) % _WORD
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % _WORD
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) % _WORD
        state = state ^ (state >> 31)
    return state >> 32


def digested(salt: int, unit: str | int, words: list[int]) -> str:
    """The MD5 of a text of the salt, the unit's bytes (or a whole unit itself) and whole numbers."""
    own = unit.encode().hex().upper() if isinstance(unit, str) else str(unit)
    parts = [f"{salt:016x}", own, *map(str, words)]
    return hashlib.md5(",".join(parts).encode()).hexdigest()


def word(unit: str) -> int:
    """53 bits of the MD5 of the bytes of a unit."""
    return int.from_bytes(hashlib.md5(unit.encode()).digest(), "little") % 2**53


def limited(
    rows: list[tuple[Any, int, tuple[int, ...]]],
    salt: int,
    most_rows: int,
    most_groups: int,
    in_process: bool = True,
) -> list[tuple[Any, int, tuple[int, ...]]]:
    """The rows (unit, group, terms) that stay; in this process they are chosen by other hashes than on a server."""
    kept = []
    by_unit: dict[Any, dict[int, list[tuple[int, ...]]]] = defaultdict(lambda: defaultdict(list))
    for unit, group, terms in rows:
        by_unit[unit][group].append(terms)

    def mix(unit: Any, words: list[int]) -> Any:
        own = word(unit) if isinstance(unit, str) else unit
        return mixed(salt, [own, *words]) if in_process else digested(salt, unit, words)

    for unit, groups in by_unit.items():
        order = sorted(groups, key=lambda group: (mix(unit, [group]), group))
        for group in order[:most_groups]:
            copies: dict[tuple[int, ...], int] = defaultdict(int)
            numbered = []
            for terms in groups[group]:
                numbered.append((terms, copies[terms]))
                copies[terms] += 1
            numbered.sort(key=lambda one: (mix(unit, [group, *one[0], one[1]]), *one))
            kept += [(unit, group, terms) for terms, _ in numbered[:most_rows]]
    return kept


def by_person(rows: list[tuple[Any, int, tuple[int, ...]]], group: int, units: set[Any], place: int) -> list[list[int]]:
    """The terms of one number of all rows of each of the units in a group."""
    return [[terms[place] for own, where, terms in rows if own == unit and where == group] for unit in units]


def clamped(total: int, low: Fraction, high: Fraction, step: Fraction) -> int:
    """A sum of steps clamped to the whole numbers of a person's bounds."""
    first, last = (math.floor(end / step + Fraction(1, 2)) for end in (low, high))
    return min(max(total, first), last)


def bin_of(value: Any, edges: list[Fraction], *, endless: bool = False) -> int | None:
    """The bin that holds a value: from each edge up to the next; the last edge belongs to the last bin."""
    found = number(value)
    if endless and found is not None:
        return sum(found >= edge for edge in edges[1:-1])
    if found is None or math.isinf(found) or not edges[0] <= Fraction(found) <= edges[-1]:
        return None
    return max(i for i in range(len(edges) - 1) if edges[i] <= Fraction(found))


def time_label(value: int | None, days: bool, every: str, zone: str | None) -> str | None:
    """What the clock on the wall of a place calls the hour, day, and so on of a value: days or microseconds from 1970.

    None for what no calendar of Python half_widths. Valid for: zones that set their clock by whole hours, by day.
    """
    if value is None or abs(value) > 2_900_000 * (1 if days else 86_400_000_000):
        return None
    utc = datetime(1970, 1, 1, tzinfo=ZoneInfo("UTC"))
    moment = utc + (timedelta(days=value) if days else timedelta(microseconds=value))
    wall = moment if zone is None else moment.astimezone(ZoneInfo(zone))
    if every == "hour":
        offset = "" if zone is None else f"{wall:%z}"[:3] + ":" + f"{wall:%z}"[3:]
        return f"{wall:%Y-%m-%d %H}:00{offset}"
    if every == "week":
        return f"{wall.isocalendar().year}-W{wall.isocalendar().week:02d}"
    names = {"day": "%Y-%m-%d", "month": "%Y-%m", "quarter": f"%Y-Q{1 + (wall.month - 1) // 3}", "year": "%Y"}
    return wall.strftime(names[every])
