"""Spec files: what `nw.Dataset(...)`, `dataset.plan(...)` and `nw.ask` take in Python, said in TOML by the same names.

The keys of each table are the parameters of the function that it calls, read from its signature, so that what can be
asked in Python can be asked in a file. Numbers are the decimals that were written; paths are relative to the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from noisewright.app.conditions import Condition, condition
from noisewright.app.output import read_text
from noisewright.problem.errors import InvalidInputError, InvalidTableError, NoisewrightError
from noisewright.problem.privacy import REQUIREMENTS
from noisewright.problem.utility import UTILITIES
from noisewright.release import keys as key_sets
from noisewright.release.dataset import Dataset
from noisewright.release.kinds import QUESTIONS

_LARGEST_FILE = 16
_OWN = ("dataset", "join_public", "filter", "keys", "ask", "output", "report")
_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)

Table = Mapping[str, Any]
Readers = Mapping[str, Callable[[Any], Any]]


@dataclass(frozen=True, slots=True)
class ReleaseSpec:
    """What a spec file asks for, read and checked as far as that is possible without the table."""

    path: Path
    dataset: Table
    joins: tuple[Table, ...]
    conditions: tuple[Condition, ...]
    questions: tuple[Any, ...]
    plan: Table
    """The arguments of `Dataset.plan` besides the questions."""
    output: Path | None
    report: Path | None


def read_spec(path: Path) -> ReleaseSpec:
    """Read a spec file; unknown keys are refused with the nearest known one, and nothing is opened yet."""
    try:
        data = tomllib.loads(read_text(path, "the spec", _LARGEST_FILE), parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"{path} is no TOML: {error}.") from None
    except (ValueError, ArithmeticError, RecursionError):
        raise InvalidInputError(f"{path} is no TOML that can be read: a number or a table is too large.") from None
    with _about(path.name):
        return _spec(path, data)


def _spec(path: Path, data: Table) -> ReleaseSpec:
    folder = path.absolute().parent
    of_plan = [name for name, one in signature(Dataset.plan).parameters.items() if one.kind not in _VARIADIC][1:]
    _require_known(data, [*_OWN, *of_plan], "the spec")
    for name in ("dataset", "ask"):
        if name not in data:
            wanted = "[dataset] with source and unit" if name == "dataset" else '[[ask]] such as kind = "count"'
            raise InvalidInputError(f"there is no {wanted}; say it, or let `noisewright init` write a first spec.")
    named = {name: _keys(given, f"keys.{name}") for name, given in _table(data.get("keys", {}), "[keys]").items()}
    return ReleaseSpec(
        path,
        _dataset(_table(data["dataset"], "[dataset]"), folder),
        tuple(_join(one, folder, i) for i, one in enumerate(_tables(data.get("join_public", []), "join_public"), 1)),
        tuple(condition(text) for text in _texts(data.get("filter", []), "filter")),
        tuple(_question(one, named, i) for i, one in enumerate(_tables(data["ask"], "ask"), 1)),
        _plan({name: data[name] for name in of_plan if name in data}),
        *(None if name not in data else folder / _text(data[name], name) for name in ("output", "report")),
    )


def _dataset(given: Table, folder: Path) -> Table:
    readers: Readers = {
        "source": lambda value: _place(value, "source", folder),
        "ledger": lambda value: _place(value, "ledger", folder),
        "budget": lambda value: requirement(value, "budget"),
        "types": lambda value: {name: _text(kind, name) for name, kind in _table(value, "types").items()},
        "local_views": lambda value: _texts(value, "local_views"),
    }
    with _about("[dataset]"):
        found = _arguments(Dataset, given, readers)
        # The name is part of what stored answers are known by: what is written here, not where the folder is.
        return {"name": given["source"], **found}


def _plan(given: Table) -> Table:
    readers: Readers = {
        "privacy": lambda value: requirement(value, "privacy"),
        "utility": utility,
        "weights": lambda value: _table(value, "[weights]"),
    }
    return _arguments(Dataset.plan, given, readers, skip=("self",))


def _join(given: Table, folder: Path, place: int) -> Table:
    readers: Readers = {
        "table": lambda value: _place(value, "table", folder),
        "on": lambda value: [value] if isinstance(value, str) else _texts(value, "on"),
    }
    with _about(f"join_public {place}"):
        return _arguments(Dataset.join_public, given, readers, skip=("self",))


def _question(given: Table, named: Mapping[str, Any], place: int) -> Any:
    """A question of the kind that the table names, made by the function of that name in `nw.ask`."""
    from noisewright import ask

    with _about(f"ask {place}"):
        if "kind" not in given:
            raise InvalidInputError(f"kind is missing; give one of {', '.join(QUESTIONS.kinds)}.")
        kind = _among(given["kind"], QUESTIONS.kinds, "kind")
        readers: Readers = {name: partial(_by, named, name) for name in ("by", "keys")}
        function = getattr(ask, kind)
        rest = {name: value for name, value in given.items() if name != "kind"}
        with _about(kind):
            return function(**_arguments(function, rest, readers))


def _by(named: Mapping[str, Any], what: str, value: Any) -> Any:
    """The keys of that name in [keys], or a table with what `nw.keys` takes."""
    if not isinstance(value, str):
        return _keys(value, what)
    if value not in named:
        raise InvalidInputError(
            f"{what} is {value!r}, and there are no such keys{_nearest(value, named)}; list the groups that may occur:"
            f" [keys.{value}] with columns and values."
        )
    return named[value]


def _keys(value: Any, where: str) -> Any:
    with _about(where):
        return key_sets.keys(**_arguments(key_sets.keys, _table(value, where), {}))


def requirement(value: Any, name: str) -> Any:
    """A requirement: `{ epsilon = 1 }`, `{ epsilon = 1, delta = 1e-6 }`, `{ rho = 0.1 }`, or with its kind."""
    given = _table(value, name)
    # A metric is a table of distances, which is said in Python.
    kinds = {kind: one for kind, one in REQUIREMENTS.kinds.items() if "metric" not in one.CARD.given}
    _require_known(given, ["kind", *dict.fromkeys(each for one in kinds.values() for each in one.CARD.given)], name)
    rest = {each: amount for each, amount in given.items() if each != "kind"}
    if "kind" in given:
        chosen = kinds[_among(given["kind"], kinds, "kind")]
    else:
        fitting = [one for one in kinds.values() if set(one.CARD.given) == set(rest)]
        if not fitting:
            forms = "; ".join(", ".join(one.CARD.given) for one in kinds.values() if one.CARD.given)
            told = ", ".join(rest) or "nothing"
            raise InvalidInputError(f"{name} says {told}; give one of: {forms}.")
        chosen = fitting[0]
    return chosen(**_arguments(chosen, rest, {}))


def utility(value: Any) -> Any:
    """A utility by its kind, `"absolute-error"`, or a table with the kind and what it takes."""
    given = {"kind": value} if isinstance(value, str) else _table(value, "utility")
    with _about("utility"):
        if "kind" not in given:
            raise InvalidInputError(f"kind is missing; give one of {', '.join(UTILITIES.kinds)}.")
        chosen = UTILITIES.kinds[_among(given["kind"], UTILITIES.kinds, "kind")]
        rest = {name: amount for name, amount in given.items() if name != "kind"}
        return chosen(**_arguments(chosen, rest, {}, skip=("weights",)))


def _arguments(function: Callable[..., Any], given: Table, readers: Readers, skip: Iterable[str] = ()) -> Table:
    """What a function is called with: exactly its parameters, each read; missing and unknown ones are refused."""
    known = {
        name: one
        for name, one in signature(function).parameters.items()
        if one.kind not in _VARIADIC and name not in skip
    }
    _require_known(given, list(known), "this table")
    for name, one in known.items():
        if one.default is Parameter.empty and name not in given:
            raise InvalidInputError(f"{name} is missing; it takes {', '.join(known)}.")
    return {name: readers[name](value) if name in readers else value for name, value in given.items()}


def _require_known(given: Table, known: Iterable[str], where: str) -> None:
    names = list(known)
    for name in given:
        if name not in names:
            raise InvalidInputError(
                f"{where} has a key {name!r}, which is not known{_nearest(name, names)}; known are {', '.join(names)}."
            )


def _nearest(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name, list(names), 1, 0.5)
    return f" (the nearest is {near[0]!r})" if near else ""


def _among(value: Any, names: Iterable[str], what: str) -> str:
    text = _text(value, what)
    if text not in names:
        raise InvalidInputError(f"{what} is {text!r}{_nearest(text, names)}; give one of {', '.join(names)}.")
    return text


def _place(value: Any, name: str, folder: Path) -> str:
    """A path from the folder of the spec; addresses of databases stay as they are."""
    text = _text(value, name)
    return text if "://" in text else str(folder / text)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise InvalidInputError(f"{name} is {_shown(value)}; give a text.")
    return value


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list):
        raise InvalidInputError(f'{name} is {_shown(value)}; give a list of texts: ["…", "…"].')
    return [_text(one, f"an item of {name}") for one in value]


def _table(value: Any, name: str) -> Table:
    if not isinstance(value, dict):
        raise InvalidInputError(f"{name} is {_shown(value)}; give a table, such as {{ epsilon = 1 }} in one line.")
    return value


def _tables(value: Any, name: str) -> list[Table]:
    if not isinstance(value, list):
        raise InvalidInputError(f"{name} is {_shown(value)}; begin each with [[{name}]].")
    return [_table(one, name) for one in value]


def _shown(value: Any) -> str:
    """A value as it looks in the file, as far as it is short."""
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'table'}"
    return repr(value) if isinstance(value, str) else str(value) if isinstance(value, date) else f"{value}".lower()


@contextmanager
def _about(where: str) -> Iterator[None]:
    """Say where in the file an error is."""
    told: NoisewrightError | None = None
    try:
        yield
    except (InvalidInputError, InvalidTableError) as error:
        told = type(error)(f"{where}: {error.message}", **error.fields)
    if told is not None:
        raise told
