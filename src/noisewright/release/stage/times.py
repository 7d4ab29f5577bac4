"""Bins of time: the hours, days, weeks, months, quarters or years of a calendar, as exact instants.

Without a zone the bins follow the clock on the wall, and a column of dates or of times without a zone is compared with
it as it is. With a zone they are the hours and days of that place: a day begins at the first instant whose wall time
there is at or after its midnight. Where the clock is set back over midnight that is the first of the two; where it is
set forward over midnight, the instant of the jump. A day of 23 or 25 hours is one bin; a day that a place skipped is an
empty one. Hours are counted in elapsed hours from the start; the last one ends at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Error, Spec, Text, derived, optional, text
from noisewright.problem.records import Record, keep, record

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

    from noisewright.release.engines.base import Engine

MOST_BINS = 2000
_EPOCH = datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)
_NANOSECONDS = 9
"""The scale of a time that counts them."""
_NANOSECOND_SECONDS = 9_223_372_036
"""As many whole seconds from 1970 as 64 bits of nanoseconds hold, either way."""

Moment: TypeAlias = Spec[date | str, datetime]


def _read(value: Any, name: str, error: Error) -> datetime:
    plain = value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value
    if isinstance(plain, str):
        try:
            plain = datetime.fromisoformat(plain)
        except ValueError:
            raise error(f'{name} is {plain!r}; give a date such as "2026-01-01".') from None
    if isinstance(plain, datetime):
        if plain.tzinfo is not None:
            raise error(f"{name} has a zone of its own; give the wall time, and say the zone with zone=.")
        return datetime(plain.year, plain.month, plain.day, plain.hour, plain.minute, plain.second, plain.microsecond)
    if isinstance(plain, date):
        return datetime(plain.year, plain.month, plain.day)
    raise error(f'{name} is of type {type(plain).__name__}; give a date such as "2026-01-01".')


def _load(plain: object) -> datetime:
    return _read(str(plain), "moment", InvalidQueryError)


def _months(moment: datetime, count: int) -> datetime:
    place = moment.year * 12 + moment.month - 1 + count
    return moment.replace(year=place // 12, month=place % 12 + 1)


_NEXT: dict[str, Callable[[datetime], datetime]] = {
    "hour": lambda moment: moment + timedelta(hours=1),
    "day": lambda moment: moment + timedelta(days=1),
    "week": lambda moment: moment + timedelta(days=7),
    "month": lambda moment: _months(moment, 1),
    "quarter": lambda moment: _months(moment, 3),
    "year": lambda moment: _months(moment, 12),
}
_BEGINS: dict[str, tuple[Callable[[datetime], bool], str]] = {
    "hour": (lambda m: not (m.minute or m.second or m.microsecond), "on the hour"),
    "day": (lambda m: m.time() == m.min.time(), "at midnight: give a date"),
    "week": (lambda m: m.time() == m.min.time() and m.weekday() == 0, "on a Monday"),
    "month": (lambda m: m.time() == m.min.time() and m.day == 1, "on the first of a month"),
    "quarter": (lambda m: m.time() == m.min.time() and m.day == 1 and m.month % 3 == 1, "in January, April, July or "
                "October, on the first"),
    "year": (lambda m: m.time() == m.min.time() and (m.month, m.day) == (1, 1), "on the first of January"),
}  # fmt: skip
EVERY = tuple(_NEXT)


@record("time bins", error=InvalidQueryError)
class TimeBins(Record):
    """Bins of a column of dates or times, from `start` up to, but without, `end`; `every` hour, day, week, and so on.

    `zone` is a name such as "Europe/Berlin", for columns of instants; without one, bins are of wall time. `edges` are
    whole seconds from the beginning of 1970, in UTC with a zone and on the wall without. Values outside of all bins,
    infinite ones and NULL are in none.
    """

    column: Text = text()
    every: Text = text(among=EVERY)
    start: Moment = Spec(_read, lambda moment: moment.isoformat(), _load)
    end: Moment = Spec(_read, lambda moment: moment.isoformat(), _load)
    zone: Spec[str | None, str | None] = optional(text(), default=None, absent=None)
    edges: tuple[int, ...] = derived()
    labels: tuple[str, ...] = derived()

    def __post_init__(self) -> None:
        begins, told = _BEGINS[self.every]
        for name, moment in (("start", self.start), ("end", self.end)):
            if not begins(moment):
                raise InvalidQueryError(f"{name} is {moment.isoformat()}; every {self.every} begins {told}.")
        if not self.start < self.end:
            raise InvalidQueryError(f"start is {self.start.isoformat()} and end {self.end.isoformat()}; end is later.")
        if self.zone is None:
            walls = list(_steps(self.start, self.end, self.every))
            found = [(wall - _EPOCH) // _SECOND for wall in walls], [_label(wall, self.every) for wall in walls[:-1]]
        else:
            found = _in_zone(self.start, self.end, self.every, _zone(self.zone))
        keep(self, edges=tuple(found[0]), labels=tuple(found[1]))

    @property
    def count(self) -> int:
        """How many bins there are."""
        return len(self.labels)

    def refusal(self, kind: dt.DataType) -> str | None:
        """Why a column of this type (of Ibis) has no such bins; None if it has."""
        if kind.is_string():
            return f'it holds text; say how it is read, with types={{"{self.column}": "date"}}, "time" or "instant"'
        if not (kind.is_date() or kind.is_timestamp()):
            return f"it holds {kind}, and time bins need dates or times"
        if kind.is_timestamp() and kind.timezone is not None:
            return None if self.zone else 'it holds instants; say whose hours and days, such as zone="Europe/Berlin"'
        if self.zone is not None:
            what = "dates" if kind.is_date() else "times without a zone"
            return f"it holds {what}, which are compared as they are written; leave zone= out"
        return "a date has no hours; ask for every day or longer" if kind.is_date() and self.every == "hour" else None

    def moments(self, *, nanoseconds: bool) -> list[datetime]:
        """The edges as times without a zone; within what 64 bits of nanoseconds hold, where a column counts in them.

        What lies in the last second of that, and infinity, which is its last value, is then in no bin.
        """
        most = _NANOSECOND_SECONDS if nanoseconds else 10**12
        return [_EPOCH + _SECOND * min(max(edge, -most), most) for edge in self.edges]

    def place_of(self, column: ir.Value, engine: Engine) -> ir.Value:
        """The place of the bin that holds a value of a column; NULL where none does.

        Times are compared with times of their own type: a cast of the column could fail on a value.
        """
        import ibis

        from noisewright.release.stage.expressions import first_below

        kind = column.type()
        moments = self.moments(nanoseconds=kind.is_timestamp() and kind.scale == _NANOSECONDS)
        if kind.is_date():
            ends = [ibis.literal(moment.date()) for moment in moments]
        elif kind.timezone is None:
            ends = [ibis.literal(moment).cast(kind) for moment in moments]
        else:
            ends = [ibis.literal(moment.replace(tzinfo=UTC), "timestamp('UTC')") for moment in moments]
        return first_below(column, ends[1:-1], (column >= ends[0]) & (column < ends[-1]))

    def __str__(self) -> str:
        return f"{self.count} times ({self.every}) of {self.column}"


def _steps(start: datetime, end: datetime, every: str) -> Iterator[datetime]:
    """Each beginning from start to end, both included; refuses more bins than are allowed."""
    moment = start
    for _ in range(MOST_BINS + 1):
        yield moment
        if moment >= end:
            return
        try:
            moment = _NEXT[every](moment)
        except (OverflowError, ValueError):
            raise InvalidQueryError(f"end is {end.isoformat()}; times end with the year 9999.") from None
    raise InvalidQueryError(
        f"from {start.isoformat()} to {end.isoformat()} there are more than {MOST_BINS} times every {every}; ask for"
        " longer ones, or for less at once."
    )


def _in_zone(start: datetime, end: datetime, every: str, zone: tzinfo) -> tuple[list[int], list[str]]:
    """Edges in seconds of UTC, and labels."""
    if every != "hour":
        walls = list(_steps(start, end, every))
        return [_instant(wall, zone) for wall in walls], [_label(wall, every) for wall in walls[:-1]]
    first, last = _instant(start, zone), _instant(end, zone)
    inside = [*_steps(_EPOCH + first * _SECOND, _EPOCH + last * _SECOND, every)][:-1]
    edges = [(moment - _EPOCH) // _SECOND for moment in inside]
    shown = [_local(edge, zone) for edge in edges]
    return [*edges, last], [f"{local:%Y-%m-%d %H:%M}{_offset(local)}" for local in shown]


def _instant(wall: datetime, zone: tzinfo) -> int:
    """The first instant whose wall time in the zone is at or after this one, in seconds of UTC."""
    early = wall.replace(tzinfo=zone, fold=0)
    late = wall.replace(tzinfo=zone, fold=1)
    found = sorted((wall - _EPOCH - (one.utcoffset() or timedelta())) // _SECOND for one in (early, late))
    if early.utcoffset() == late.utcoffset() or _local(found[0], zone).replace(tzinfo=None) == wall:
        return found[0]
    # The wall never showed it: the clock jumped over it, somewhere between the two readings.
    low, high = found[0] - 1, found[1]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _local(middle, zone).replace(tzinfo=None) >= wall else (middle, high)
    return high


def _local(seconds: int, zone: tzinfo) -> datetime:
    return (_EPOCH + seconds * _SECOND).replace(tzinfo=UTC).astimezone(zone)


def _offset(local: datetime) -> str:
    """The distance to UTC, as +02:00."""
    written = f"{local:%z}"
    return f"{written[:3]}:{written[3:5]}"


def _label(wall: datetime, every: str) -> str:
    if every == "week":
        year, week, _ = wall.isocalendar()
        return f"{year:04d}-W{week:02d}"
    return {
        "hour": f"{wall:%Y-%m-%d %H:%M}",
        "day": wall.date().isoformat(),
        "month": wall.date().isoformat()[:7],
        "quarter": f"{wall.year:04d}-Q{(wall.month + 2) // 3}",
        "year": f"{wall.year:04d}",
    }[every]


def _zone(name: str) -> tzinfo:
    problem = ""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        problem = type(error).__name__
    raise InvalidQueryError(
        f'zone is {name!r}, which this machine does not know ({problem}); give a name such as "Europe/Berlin" or "UTC"'
        " (pip install tzdata brings the zones where the system has none)."
    )
