"""Tables of the data folder, found by what is in them: a shipped name is looked at first and none is needed."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidInputError

T = TypeVar("T")
MADE = "made by the package: no table for it was found"
"""What the source of data says where no table fits."""

_ENDINGS = (".csv", ".csv.gz", ".parquet")
_MISSING = frozenset(("", "?", "na", "nan", "null", "none"))
_FEW = 10
LABELS = ("income", "class", "label", "labels", "target", "outcome", "y")
"""Names of the column that a classifier is to guess, the likeliest first; else any column of two kinds."""


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns of one length: floats where every value is a number (NaN where missing), else texts or None."""

    name: str
    columns: dict[str, NDArray[Any]]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()), ()))

    def numeric(self) -> dict[str, Floats]:
        """The columns of numbers that are not all missing."""
        return {n: v for n, v in self.columns.items() if np.issubdtype(v.dtype, np.floating) and np.isfinite(v).any()}

    def named(self, *names: str) -> str | None:
        """The first column whose name is one of these, whatever its case; None where there is none."""
        simple = {_simple(column): column for column in self.columns}
        return next((simple[_simple(name)] for name in names if _simple(name) in simple), None)


def _simple(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


@lru_cache(maxsize=16)
def read_table(path: Path) -> Table:
    """A CSV file, packed or not, or a Parquet file; InvalidInputError where it cannot be read."""
    try:
        found = _parquet(path) if path.suffix == ".parquet" else _csv(path)
    except (OSError, ValueError, UnicodeDecodeError, ImportError) as error:
        raise InvalidInputError(f"the table {path} cannot be read ({error}); mend it or take it away.") from None
    return Table(path.parent.name + "/" + path.name, found)


def _csv(path: Path) -> dict[str, NDArray[Any]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    header, *rows = [row for row in csv.reader(text.splitlines()) if row] or [[]]
    if any(len(row) != len(header) for row in rows):
        raise ValueError(f"its rows do not all have the {len(header)} fields of its header")
    return {name: _typed([row[i] for row in rows]) for i, name in enumerate(header)}


def _parquet(path: Path) -> dict[str, NDArray[Any]]:
    from pyarrow import parquet

    table = parquet.read_table(path)
    return {name: _column(table[name].to_numpy(zero_copy_only=False)) for name in table.column_names}


def _column(values: NDArray[Any]) -> NDArray[Any]:
    if np.issubdtype(values.dtype, np.number) or values.dtype == np.bool_:
        return values.astype(np.float64)
    if np.issubdtype(values.dtype, np.datetime64):
        return np.array([None if np.isnat(v) else str(v) for v in values], dtype=object)
    texts = [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values.tolist()]
    return _typed([None if v is None else str(v) for v in texts])


def _typed(texts: Sequence[str | None]) -> NDArray[Any]:
    known = [None if t is None or t.strip().lower() in _MISSING else t.strip() for t in texts]
    try:
        return np.array([np.nan if t is None else float(t) for t in known])
    except ValueError:
        return np.array(known, dtype=object)


def table_paths(first: Iterable[str] = ()) -> Iterator[Path]:
    """The tables of the data folder, those of `first` (such as "adult/adult.parquet") before all others."""
    folder = data_folder()
    if folder is None:
        return
    wanted = [folder / name for name in first]
    yield from (path for path in wanted if path.is_file())
    others = (p for p in sorted(folder.rglob("*")) if p.name.lower().endswith(_ENDINGS) and p.is_file())
    yield from (path for path in others if path not in wanted)


def first_fit(first: Iterable[str], fits: Callable[[Table], T | None]) -> tuple[Table, T] | None:
    """The first table, shipped names before others, of which `fits` makes something; None where there is none."""
    return next(iter(all_fits(first, fits)), None)


def all_fits(first: Iterable[str], fits: Callable[[Table], T | None]) -> Iterator[tuple[Table, T]]:
    """Every table that fits, in the same order."""
    for path in table_paths(first):
        table = read_table(path)
        made = fits(table) if table.rows else None
        if made is not None:
            yield table, made


def numeric_columns(
    wanted: Sequence[tuple[str, str]], count: int
) -> list[tuple[str, str, str, tuple[float, ...], bool]]:
    """Columns of numbers: file, table, column, values, and whether it is one of `wanted`; other tables fill up."""
    folder = data_folder()
    found, used = [], set()
    for path, name in wanted:
        place = folder / path if folder else None
        if place is not None and place.is_file() and name in (numeric := read_table(place).numeric()):
            found.append((path, read_table(place).name, name, _finite(numeric[name]), True))
            used.add(place)
    if len(found) >= count:
        return found[:count]
    rest = [p for p in table_paths() if p not in used]
    for turn in range(count):
        for other in rest:
            spread = [(n, v) for n, v in read_table(other).numeric().items() if len(np.unique(v)) >= _FEW]
            if turn < len(spread) and len(found) < count:
                name, values = spread[turn]
                found.append((str(other), read_table(other).name, name, _finite(values), False))
    return found


def _finite(values: Floats) -> tuple[float, ...]:
    return tuple(float(v) for v in values[np.isfinite(values)])


def label_of(table: Table) -> str | None:
    """The column to guess: one with a usual name, else the last of exactly two kinds; None where there is none."""
    named = table.named(*LABELS)
    if named is not None and 2 <= len(kinds_of(table.columns[named])) <= max(50, table.rows // 100):
        return named
    pairs = [n for n, v in table.columns.items() if _simple(n) != "split" and len(kinds_of(v)) == 2]
    return pairs[-1] if pairs else None


def kinds_of(values: NDArray[Any]) -> list[Any]:
    """The different values that are not missing, sorted."""
    if np.issubdtype(values.dtype, np.floating):
        return list(np.unique(values[np.isfinite(values)]))
    return sorted({v for v in values.tolist() if v is not None})


def positive(values: NDArray[Any]) -> NDArray[np.int64]:
    """Two classes out of any number: 1 for what is neither called normal nor, without that name, most frequent."""
    texts = np.array([str(v).strip().rstrip(".") for v in values.tolist()])
    kinds, counts = np.unique(texts, return_counts=True)
    normal = [k for k in kinds if k.lower().startswith("normal")]
    usual = normal[0] if normal else kinds[int(np.argmax(counts))]
    return np.asarray(texts != usual, dtype=np.int64)


# Where the datasets of reproductions are looked for.


def data_folder() -> Path | None:
    """The folder named by NOISEWRIGHT_DATA, else shared/data beside the repository, else None."""
    named = os.environ.get("NOISEWRIGHT_DATA")
    if named:
        return Path(named) if Path(named).is_dir() else None
    beside = Path(__file__).resolve().parents[4] / "shared" / "data"
    return beside if beside.is_dir() else None


def dataset(name: str) -> Path | None:
    """A file of the data folder such as "adult/adult.parquet", or None if it is not to be had here."""
    folder = data_folder()
    found = folder / name if folder else None
    return found if found and found.is_file() else None
