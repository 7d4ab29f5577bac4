"""Names of columns: which are there, and which of them an engine takes for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from noisewright.problem.errors import InvalidTableError

if TYPE_CHECKING:
    import ibis.expr.types as ir

_DOTTED = "\u0130"
"""The one letter whose small form is two; engines that go letter by letter take the first."""


def folded(name: str) -> str:
    """The same for two names that an engine may take for one because it does not tell upper from lower case.

    Valid for: DuckDB, which folds the letters of ASCII, and Spark, which goes through the letters one by one, each as
    the small form of its large one. Names that are the same for either are the same here.
    """
    return "".join(map(_letter, name)).casefold()


def _letter(letter: str) -> str:
    large = letter.upper()
    large = large if len(large) == 1 else letter
    return "i" if large == _DOTTED else large.lower()


def require_distinct(names: Sequence[str], known_as: Callable[[str], str] = folded) -> None:
    """Refuse names that an engine takes for one, by what it knows each as; a NUL would end them."""
    if any("\0" in name for name in names):
        raise InvalidTableError("a column has a name with a NUL in it, which no engine can write; rename it.")
    if any("\ud800" <= letter <= "\udfff" for name in names for letter in name):
        raise InvalidTableError("a column has a name that is no UTF-8, which no engine can write; rename it.")
    seen: dict[str, str] = {}
    for name in names:
        known = known_as(name)
        if known in seen:
            raise InvalidTableError(
                "two columns have the same name up to upper and lower case, or up to the length at which names are"
                f" cut ({seen[known]!r} and {name!r}); rename one.",
                column=name,
            )
        seen[known] = name


def require_column(table: ir.Table, column: str) -> None:
    """Refuse a column that is not there, and name the nearest ones."""
    from difflib import get_close_matches

    if column not in table.columns:
        near = get_close_matches(column, table.columns, 3) or list(table.columns)[:8]
        raise InvalidTableError(
            f"there is no column {column!r}; there are {', '.join(map(repr, near))}.", column=column
        )
