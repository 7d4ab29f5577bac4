"""Group keys: every group that may appear in an answer, listed before anything is read or chosen privately."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from noisewright.problem.errors import InvalidQueryError, InvalidTableError
from noisewright.problem.fields import Error, Flag, Spec, Texts, derived, flag, is_list, text, tuple_of
from noisewright.problem.records import Record, keep, record
from noisewright.release.engines.registry import is_source
from noisewright.release.table.locations import NOWHERE, Locations, everywhere, of_memory
from noisewright.release.table.public import distinct_rows

if TYPE_CHECKING:
    import ibis.expr.types as ir

Value: TypeAlias = str | bool | int | date
Row: TypeAlias = tuple[Value, ...]

MOST_GROUPS = 1_000_000
_LARGEST_WHOLE = 2**63
_KINDS: dict[type, str] = {str: "text", bool: "boolean", int: "integer", date: "date"}


def _read(value: Any, name: str, error: Error) -> Value:
    plain = value.item() if hasattr(value, "dtype") and getattr(value, "shape", None) == () else value
    kind = next((kind for kind in (bool, int, str) if isinstance(plain, kind)), None)
    if kind is not None:
        found: Value = kind(plain)
        if isinstance(found, int) and not -_LARGEST_WHOLE <= found < _LARGEST_WHOLE:
            raise error(f"{name} is {found}; whole keys have at most 64 bits.")
        if isinstance(found, str) and not _writable(found):
            raise error(f"{name} is a text that UTF-8 cannot write; give plain text.")
        return found
    if isinstance(plain, date) and not isinstance(plain, datetime):
        return date(plain.year, plain.month, plain.day)
    raise error(
        f"{name} is of type {type(plain).__name__}; keys are text, whole numbers, truth values or dates"
        " (a float is no key: make bins with nw.ask.histogram, or round it to text in the table)."
    )


def _writable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _plain(value: Value) -> Any:
    return {"date": value.isoformat()} if isinstance(value, date) else value


def _kept(plain: object) -> Value:
    if isinstance(plain, Mapping):
        return date.fromisoformat(plain["date"])
    return _read(plain, "key", InvalidQueryError)


@record("keys", error=InvalidQueryError)
class Keys(Record):
    """The groups of an answer: `columns` and one row of values for each group, none twice.

    Guarantees: the groups of a release are exactly these, whoever is in the table; a group nobody is in gets noise
    around zero. With `private` no row is listed: the release chooses groups of enough persons, and pays for it. Keys
    are compared byte by byte: "A" and "a" are two groups.
    """

    columns: Texts = tuple_of(text(), least=1, distinct=True)
    rows: Spec[Iterable[Iterable[Value]], tuple[Row, ...]] = tuple_of(
        tuple_of(Spec(_read, _plain, _kept), each="key"), most=MOST_GROUPS
    )
    private: Flag = flag(default=False, absent=False)
    locations: Locations = derived()
    """Where the rows are that they were listed from; nowhere if they were written."""

    def __post_init__(self) -> None:
        if self.private == bool(self.rows):
            told = "keys that are chosen privately have none" if self.private else "give at least 1"
            raise InvalidQueryError(f"rows has {len(self.rows)} items; {told}.")
        if any(len(row) != len(self.columns) for row in self.rows):
            raise InvalidQueryError(f"each row of keys has {len(self.columns)} values, one for each column.")
        for place, column in enumerate(self.columns):
            kinds = {type(row[place]) for row in self.rows}
            if len(kinds) > 1:
                names = " and ".join(sorted(_KINDS[kind] for kind in kinds))
                raise InvalidQueryError(f"the keys of {column!r} are {names}; give values of one kind.")
        keep(self, rows=tuple(dict.fromkeys(self.rows)), locations=NOWHERE)

    @property
    def count(self) -> int:
        """How many groups are listed; where none is, the one of each key that may come."""
        return max(1, len(self.rows))

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the values of each column are: text, boolean, integer or date."""
        return tuple(_KINDS[type(value)] for value in self.rows[0])

    def kinds_in(self, table: ir.Table) -> list[str]:
        """What the columns of a table hold, in which groups are chosen privately; refuses what is no key."""
        from noisewright.release.table.kinds import key_kind

        found = []
        for column in self.columns:
            held = table[column].type()
            kind = key_kind(held)
            if kind is None:
                raise InvalidTableError(
                    f"{column!r} holds {held}; keys that are chosen privately are text, whole numbers, truth values or"
                    " dates. Derive such a column with dataset.mutate(...), or make bins with nw.ask.histogram.",
                    column=column,
                )
            found.append(kind)
        return found

    def require(self, table: ir.Table) -> None:
        """Refuse a table with other kinds of keys: text for text, whole for whole, and so on."""
        from noisewright.release.table.kinds import key_kind

        if self.private:
            self.kinds_in(table)
            return
        for column, kind in zip(self.columns, self.kinds, strict=True):
            held = table[column].type()
            if key_kind(held) != kind:
                raise InvalidTableError(
                    f"the keys of {column!r} are {kind}, but the column holds {held}; give keys of its type, or say how"
                    f' text is read with types={{"{column}": "{kind}"}}.',
                    column=column,
                )

    def __reduce__(self) -> tuple[Any, ...]:
        return _listed_from, (self.columns, self.rows, self.private, self.locations)

    def __str__(self) -> str:
        return f"{', '.join(self.columns)} ({'chosen privately' if self.private else f'{len(self.rows)} groups'})"


def _listed_from(
    columns: Iterable[str], rows: Iterable[Iterable[Value]], private: bool = False, locations: Locations = NOWHERE
) -> Keys:
    """Keys, and where their rows were listed from."""
    found = Keys(columns, rows, private)
    keep(found, locations=locations)
    return found


def keys(
    columns: str | Iterable[str] | Mapping[str, object],
    values: object = None,
    *,
    types: Mapping[str, str] | None = None,
    private: bool = False,
) -> Keys:
    """Public keys: a column and its values, columns and their rows, or a mapping, which means every combination.

    `keys("ward", ["A", "B"])`, `keys(["sex", "smokes"], [("f", True), ("m", False)])`,
    `keys({"sex": ["f", "m"], "smokes": [True, False]})`. Values named twice count once. In place of a list stands a
    table that anybody may see, any source of a dataset: `keys("ward", "wards.csv")` lists what its column holds;
    `types` says how the text of a file is read (integer, date). Name every group that could occur, from public
    knowledge: keys taken from the data tell that somebody had them. Where nobody knows them,
    `keys("diagnosis", private=True)` publishes the groups that enough persons are in; that needs a delta.

    >>> print(nw.keys({"sex": ["f", "m"], "ward": ["A", "B"]}))
    sex, ward (4 groups)
    >>> nw.keys("ward", ["A", "B", "A"]).rows
    (('A',), ('B',))
    """
    if flag().read(private, "private", InvalidQueryError):
        return _private(columns, values, types)
    if isinstance(columns, Mapping):
        if values is not None:
            raise InvalidQueryError("give a mapping of columns to values, or columns and values; not both.")
        lists = [_column(given, name, types) for name, given in columns.items()]
        count = 1
        for one, _ in lists:
            count *= len(set(map(str, one)))
        if count > MOST_GROUPS:
            raise InvalidQueryError(f"these keys make {count} groups; at most {MOST_GROUPS} are allowed.", groups=count)
        combined = tuple(product(*(values for values, _ in lists)))
        return _listed_from(tuple(columns), combined, locations=everywhere(locations for _, locations in lists))
    if values is None:
        raise InvalidQueryError(
            "keys without values would be taken from the data, which tells who is in it; list the values that may"
            ' occur: nw.keys("ward", ["A", "B", "C"]), or choose them privately: nw.keys("ward", private=True).'
        )
    if isinstance(columns, str):
        found, locations = _column(values, columns, types)
        return _listed_from((columns,), tuple((value,) for value in found), locations=locations)
    if is_source(values):
        rows, locations = distinct_rows(values, tuple(columns), types, MOST_GROUPS)
        return _listed_from(tuple(columns), rows, locations=locations)
    rows = [tuple(_listed(row, "a row of keys")) for row in _listed(values, "keys")]
    return _listed_from(tuple(columns), rows, locations=of_memory(values))


def _private(
    columns: str | Iterable[str] | Mapping[str, object], values: object, types: Mapping[str, str] | None
) -> Keys:
    if values is not None or types is not None or isinstance(columns, Mapping):
        raise InvalidQueryError(
            'keys that are chosen privately have no values; give the columns alone: nw.keys("ward", private=True).'
        )
    return Keys((columns,) if isinstance(columns, str) else columns, (), True)


def _column(values: object, name: str, types: Mapping[str, str] | None) -> tuple[list[Any], Locations]:
    """The values of one column, those listed or those of a public table, and where they are."""
    if is_source(values):
        rows, locations = distinct_rows(values, [name], types, MOST_GROUPS)
        return [value for (value,) in rows], locations
    if types and name in types:
        raise InvalidQueryError(f"types says how text of a public table is read; the keys of {name} are listed.")
    return list(_listed(values, name)), of_memory(values)


def _listed(values: Any, name: str) -> Iterable[Any]:
    if not is_list(values):
        raise InvalidQueryError(
            f"the keys of {name} are of type {type(values).__name__}; give a list of values, or a public table: a"
            " frame, the path of a .csv or .parquet file, or a table of a database."
        )
    return list(values)
