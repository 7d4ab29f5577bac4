"""Reading the tables of a TOML file: what is missing, unknown or of another kind is refused, and the place is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from difflib import get_close_matches
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from noisewright.problem.errors import InvalidInputError, InvalidTableError, NoisewrightError
from noisewright.release.engines.registry import is_address

VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)

Table = Mapping[str, Any]
Readers = Mapping[str, Callable[[Any], Any]]


def arguments(function: Callable[..., Any], given: Table, readers: Readers, skip: Iterable[str] = ()) -> Table:
    """What a function is called with: exactly its parameters, each read; missing and unknown ones are refused."""
    known = {
        name: one
        for name, one in signature(function).parameters.items()
        if one.kind not in VARIADIC and name not in skip
    }
    require_known(given, list(known), "this table")
    for name, one in known.items():
        if one.default is Parameter.empty and name not in given:
            raise InvalidInputError(f"{name} is missing; it takes {', '.join(known)}.")
    return {name: readers[name](value) if name in readers else value for name, value in given.items()}


def require_known(given: Table, known: Iterable[str], where: str) -> None:
    """Refuse keys that are not known, with the nearest that is."""
    names = list(known)
    for name in given:
        if name not in names:
            raise InvalidInputError(
                f"{where} has a key {name!r}, which is not known{nearest(name, names)}; known are {', '.join(names)}."
            )


def nearest(name: str, names: Iterable[str]) -> str:
    """The nearest of some names, as a remark; nothing if none is near."""
    near = get_close_matches(name, list(names), 1, 0.5)
    return f" (the nearest is {near[0]!r})" if near else ""


def one_among(value: Any, names: Iterable[str], what: str) -> str:
    """One of some words."""
    text = text_of(value, what)
    if text not in names:
        raise InvalidInputError(f"{what} is {text!r}{nearest(text, names)}; give one of {', '.join(names)}.")
    return text


def place_from(value: Any, name: str, folder: Path) -> str:
    """A path from the folder of the spec; addresses of tables stay as they are."""
    text = text_of(value, name)
    return text if is_address(text) else str(folder / text)


def text_of(value: Any, name: str) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value or "\0" in value:
        raise InvalidInputError(f"{name} is {_shown(value)}; give a text.")
    return value


def texts_of(value: Any, name: str) -> list[str]:
    """A list of texts."""
    if not isinstance(value, list):
        raise InvalidInputError(f'{name} is {_shown(value)}; give a list of texts: ["…", "…"].')
    return [text_of(one, f"an item of {name}") for one in value]


def table_of(value: Any, name: str) -> Table:
    """A table of the file."""
    if not isinstance(value, dict):
        raise InvalidInputError(f"{name} is {_shown(value)}; give a table, such as {{ epsilon = 1 }} in one line.")
    return value


def tables_of(value: Any, name: str) -> list[Table]:
    """A list of tables."""
    if not isinstance(value, list):
        raise InvalidInputError(f"{name} is {_shown(value)}; begin each with [[{name}]].")
    return [table_of(one, name) for one in value]


def _shown(value: Any) -> str:
    """A value as it looks in the file, as far as it is short."""
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'table'}"
    return repr(value) if isinstance(value, str) else str(value) if isinstance(value, date) else f"{value}".lower()


@contextmanager
def about(where: str) -> Iterator[None]:
    """Say where in the file an error is."""
    told: NoisewrightError | None = None
    try:
        yield
    except (InvalidInputError, InvalidTableError) as error:
        told = type(error)(f"{where}: {error.message}", **error.fields)
    if told is not None:
        raise told
