"""Spec files: what `nw.Dataset(...)`, `dataset.plan(...)` and `nw.ask` take in Python, said in TOML by the same names.

The keys of each table are the parameters of the function that it calls, read from its signature, so that what can be
asked in Python can be asked in a file. Numbers are the decimals that were written; paths are relative to the file.
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from functools import cached_property, partial
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from noisewright.app.cli.output import read_text
from noisewright.app.expressions import Condition, Derived, condition, derived
from noisewright.problem.errors import InvalidInputError, InvalidTableError, NoisewrightError
from noisewright.problem.privacy import REQUIREMENTS
from noisewright.problem.utilities import UTILITIES
from noisewright.problem.warnings import EphemeralBudgetWarning
from noisewright.release.ask.registry import QUESTIONS
from noisewright.release.dataset import Dataset
from noisewright.release.engines.registry import is_address
from noisewright.release.run.post_processing import steps_of
from noisewright.release.table import keys as key_sets
from noisewright.release.table.locations import Locations, everywhere, require_elsewhere
from noisewright.release.table.sources import locations_of

_LARGEST_FILE = 16
_OWN = ("dataset", "join", "join_public", "derive", "filter", "keys", "ask", "post", "output", "report")


@dataclass(frozen=True, slots=True)
class PrivateJoin:
    """Another table about the same persons, and how it is joined: what `nw.Dataset` and `Dataset.join` take."""

    dataset: Table
    how: Table


@dataclass(frozen=True)
class _Public:
    """Public tables of a spec, and the sources of its private ones."""

    folder: Path
    others: tuple[str, ...]

    def source(self, values: Any) -> str:
        """Where the public table of some keys is; refuses a private one before a value of it is read."""
        found = place_from(values, "values", self.folder)
        require_elsewhere(
            locations_of(found), self._private, "these keys are to be listed from the private table itself."
        )
        return found

    @cached_property
    def _private(self) -> Locations:
        return everywhere(map(locations_of, self.others))


@dataclass(frozen=True, slots=True)
class ReleaseSpec:
    """What a spec file asks for, read and checked as far as that is possible without the table."""

    path: Path
    dataset: Table
    private_joins: tuple[PrivateJoin, ...]
    joins: tuple[Table, ...]
    derived: Mapping[str, Derived]
    conditions: tuple[Condition, ...]
    questions: tuple[Any, ...]
    plan: Table
    """The arguments of `Dataset.plan` besides the questions."""
    post: tuple[str, ...]
    """What is done to the answers afterwards."""
    output: Path | None
    report: Path | None


def read_spec(path: Path, *, questions: bool = True) -> ReleaseSpec:
    """Read a spec file; unknown keys are refused with the nearest known one, and nothing is opened yet.

    Without `questions` what is asked, and what may be spent on it, is left out: it may not be written yet.
    """
    text = read_text(path, "the spec", _LARGEST_FILE)
    try:
        data = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"{path} is no TOML: {error}.") from None
    except (ValueError, ArithmeticError, RecursionError):
        raise InvalidInputError(f"{path} is no TOML that can be read: a number or a table is too large.") from None
    with about(path.name):
        return _spec(path, data, questions=questions)


def _spec(path: Path, data: Table, *, questions: bool) -> ReleaseSpec:
    folder = path.absolute().parent
    of_plan = [name for name, one in signature(Dataset.plan).parameters.items() if one.kind not in VARIADIC][1:]
    require_known(data, [*_OWN, *of_plan], "the spec")
    for name in ("dataset", "ask") if questions else ("dataset",):
        if name not in data:
            wanted = "[dataset] with source and unit" if name == "dataset" else '[[ask]] such as kind = "count"'
            raise InvalidInputError(f"there is no {wanted}; say it, or let `noisewright init` write a first spec.")
    dataset = _dataset(table_of(data["dataset"], "[dataset]"), folder)
    joins = [_private(one, dataset, folder, i) for i, one in enumerate(tables_of(data.get("join", []), "join"), 1)]
    public = _Public(folder, (dataset["source"], *(one.dataset["source"] for one in joins)))
    asked, given_keys = tables_of(data.get("ask", []), "ask"), table_of(data.get("keys", {}), "[keys]")
    named = {name: _keys(given, f"keys.{name}", public) for name, given in given_keys.items()} if questions else {}
    return ReleaseSpec(
        path,
        dataset,
        tuple(joins),
        tuple(_join(one, folder, i) for i, one in enumerate(tables_of(data.get("join_public", []), "join_public"), 1)),
        _derive(table_of(data.get("derive", {}), "[derive]")),
        tuple(condition(text) for text in texts_of(data.get("filter", []), "filter")),
        tuple(_question(one, named, public, i) for i, one in enumerate(asked, 1)) if questions else (),
        _plan({name: data[name] for name in of_plan if name in data}) if questions else {},
        steps_of(texts_of(data.get("post", []), "post")) if questions else (),
        *(None if name not in data else folder / text_of(data[name], name) for name in ("output", "report")),
    )


def _dataset(given: Table, folder: Path) -> Table:
    readers: Readers = {
        **_of_a_source(folder),
        "ledger": lambda value: place_from(value, "ledger", folder),
        "budget": lambda value: requirement(value, "budget"),
    }
    with about("[dataset]"):
        found = arguments(Dataset, given, readers)
        # The name is part of what stored answers are known by: what is written here, not where the folder is.
        return {**_named(given), **found}


def _named(given: Table) -> Table:
    """What a source is called unless a name is written; an address may hold a password, which no name does."""
    source = given.get("source")
    return {} if "://" in str(source) else {"name": source}


def _of_a_source(folder: Path) -> Readers:
    return {
        "source": lambda value: place_from(value, "source", folder),
        "types": lambda value: {name: text_of(kind, name) for name, kind in table_of(value, "types").items()},
        "local_views": lambda value: texts_of(value, "local_views"),
    }


def _private(given: Table, first: Table, folder: Path, place: int) -> PrivateJoin:
    """A table about the same persons: limits and ledger are those of [dataset], and the unit too unless it is said."""
    own = ("source", "unit", "types", "local_views", "modified_is_public")
    with about(f"join {place}"):
        require_known(given, [*own, "on", "how"], "this table")
        of_table = {"unit": first["unit"], **{name: value for name, value in given.items() if name in own}}
        of_join = {name: value for name, value in given.items() if name not in own}
        return PrivateJoin(
            {**_named(of_table), **arguments(Dataset, of_table, _of_a_source(folder))},
            arguments(Dataset.join, of_join, {"on": _columns}, skip=("self", "other")),
        )


def _derive(given: Table) -> Mapping[str, Derived]:
    """Derived columns by name, in the order in which they are written: each may use those before it."""
    found = {}
    for name, text in given.items():
        with about(f"derive: {name}"):
            found[name] = derived(text_of(text, name))
    return found


def _columns(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else texts_of(value, "on")


def _plan(given: Table) -> Table:
    readers: Readers = {
        "privacy": lambda value: requirement(value, "privacy"),
        "utility": utility,
        "weights": lambda value: table_of(value, "[weights]"),
        "targets": lambda value: table_of(value, "[targets]"),
        "budgets": lambda value: {
            name: requirement(one, f"budgets.{name}") for name, one in table_of(value, "[budgets]").items()
        },
    }
    return arguments(Dataset.plan, given, readers, skip=("self",))


def _join(given: Table, folder: Path, place: int) -> Table:
    readers: Readers = {
        "table": lambda value: place_from(value, "table", folder),
        "on": _columns,
    }
    with about(f"join_public {place}"):
        return arguments(Dataset.join_public, given, readers, skip=("self",))


def _question(given: Table, named: Mapping[str, Any], public: _Public, place: int) -> Any:
    """A question of the kind that the table names, made by the function of that name in `nw.ask`."""
    from noisewright import ask

    with about(f"ask {place}"):
        if "kind" not in given:
            raise InvalidInputError(f"kind is missing; give one of {', '.join(QUESTIONS.kinds)}.")
        kind = one_among(given["kind"], QUESTIONS.kinds, "kind")
        readers: Readers = {name: partial(_by, named, public, name) for name in ("by", "keys")}
        function = getattr(ask, kind)
        rest = {name: value for name, value in given.items() if name != "kind"}
        with about(kind):
            return function(**arguments(function, rest, readers))


def _by(named: Mapping[str, Any], public: _Public, what: str, value: Any) -> Any:
    """The keys of that name in [keys], or a table with what `nw.keys` takes."""
    if not isinstance(value, str):
        return _keys(value, what, public)
    if value not in named:
        raise InvalidInputError(
            f"{what} is {value!r}, and there are no such keys{nearest(value, named)}; list the groups that may occur:"
            f" [keys.{value}] with columns and values."
        )
    return named[value]


def _keys(value: Any, where: str, public: _Public) -> Any:
    """Keys as `nw.keys` takes them; a text in place of a list of values is the path of a public table."""

    def listed(values: Any) -> Any:
        return public.source(values) if isinstance(values, str) else values

    def columns(given: Any) -> Any:
        return {name: listed(values) for name, values in given.items()} if isinstance(given, dict) else given

    with about(where):
        readers: Readers = {"values": listed, "columns": columns}
        return key_sets.keys(**arguments(key_sets.keys, table_of(value, where), readers))


def requirement(value: Any, name: str) -> Any:
    """A requirement: `{ epsilon = 1 }`, `{ epsilon = 1, delta = 1e-6 }`, `{ rho = 0.1 }`, or with its kind."""
    given = table_of(value, name)
    # A metric is a table of distances, which is said in Python.
    kinds = {kind: one for kind, one in REQUIREMENTS.kinds.items() if "metric" not in one.CARD.given}
    require_known(given, ["kind", *dict.fromkeys(each for one in kinds.values() for each in one.CARD.given)], name)
    rest = {each: amount for each, amount in given.items() if each != "kind"}
    if "kind" in given:
        chosen = kinds[one_among(given["kind"], kinds, "kind")]
    else:
        fitting = [one for one in kinds.values() if set(one.CARD.given) == set(rest)]
        if not fitting:
            forms = "; ".join(", ".join(one.CARD.given) for one in kinds.values() if one.CARD.given)
            told = ", ".join(rest) or "nothing"
            raise InvalidInputError(f"{name} says {told}; give one of: {forms}.")
        chosen = fitting[0]
    return chosen(**arguments(chosen, rest, {}))


def utility(value: Any) -> Any:
    """A utility by its kind, `"absolute-error"`, or a table with the kind and what it takes."""
    given = {"kind": value} if isinstance(value, str) else table_of(value, "utility")
    with about("utility"):
        if "kind" not in given:
            raise InvalidInputError(f"kind is missing; give one of {', '.join(UTILITIES.kinds)}.")
        chosen = UTILITIES.kinds[one_among(given["kind"], UTILITIES.kinds, "kind")]
        rest = {name: amount for name, amount in given.items() if name != "kind"}
        return chosen(**arguments(chosen, rest, {}, skip=("weights",)))


# Reading the tables of a TOML file: what is missing, unknown or of another kind is refused, and the place is said.


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
    """A path from the folder of the spec; addresses of tables and ledgers stay as they are."""
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


# The dataset that a spec file describes: its table, joined, with derived columns, and filtered, in this order.


def dataset_of(asked: ReleaseSpec, given: dict[str, Any]) -> Dataset:
    """The dataset of a spec, with what `nw.Dataset` is given; nothing is read but names and types."""
    with warnings.catch_warnings():
        # A plan that is only looked at spends nothing that would have to be kept.
        warnings.simplefilter("ignore", EphemeralBudgetWarning)
        found = Dataset(**given)
    for private in asked.private_joins:
        found = found.join(Dataset(**private.dataset, ledger=found.ledger), **private.how)
    for join in asked.joins:
        found = found.join_public(**join)
    for name, column in asked.derived.items():
        found = found.mutate(**{name: _callable(column)})
    return found.filter(*map(_callable, asked.conditions)) if asked.conditions else found


def _callable(made: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda table: made(table)
