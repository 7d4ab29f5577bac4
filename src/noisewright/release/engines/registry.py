"""Which engine a source belongs to, by what each engine says of itself before anything of it is loaded.

An engine is one folder, here or in another distribution. It registers itself by an entry point of the group
`noisewright.engines`, which leads to its `Registration`: how its addresses begin, which other sources are its own,
where its class is, and what its errors mean. What an entry point leads to imports nothing that only the engine needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, cast

from noisewright.problem.errors import InvalidTableError, LedgerError

if TYPE_CHECKING:
    import ibis.expr.types as ir

GROUP = "noisewright.engines"
_CHANGED = "a table is not any more what it was when this was tried; ask again to see what is wrong"


def _never(source: object) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """How an engine is known without being loaded."""

    name: str
    """What Ibis calls its backend."""
    title: str
    """What people call it."""
    implementation: str
    """Where its class is: "package.module:Class"."""
    needs: str
    """What is told where that cannot be imported: what is missing, and how it is installed."""
    schemes: tuple[str, ...] = ()
    """What its addresses begin with."""
    addresses: tuple[str, ...] = ()
    """How its addresses are written, for people."""
    objects: tuple[str, ...] = ()
    """What else can be given as a table of it, for people."""
    owns: Callable[[object], bool] = _never
    """Whether a source is its own that is neither an address by a scheme nor a table of Ibis."""
    is_table: Callable[[str], bool] = _never
    """Whether a text that has no scheme is surely the name of a table of it, and no value."""
    shown: Callable[[str], str] = str
    """An address as it may be shown and written down: without a password."""
    troubles: Mapping[str, str] = field(default_factory=dict)
    """By the names of its errors that no value can be the reason of, what each means."""
    answered: frozenset[str] = frozenset()
    """Those of them with which it answers, so that it is not away."""


@cache
def registered() -> tuple[Registration, ...]:
    """Every engine that is installed, by the names of the entry points; none of them is loaded."""
    return tuple(one.load() for one in sorted(entry_points(group=GROUP), key=lambda one: one.name))


def engine_of(source: object) -> Registration:
    """The engine that a source belongs to; refuses what belongs to none, or to several."""
    if isinstance(source, Path):
        source = str(source)
    if is_ibis(source):
        return _of_ibis(cast("ir.Table", source).get_backend().name)
    found = _by_scheme(source) or [one for one in registered() if one.owns(source)]
    if len(found) > 1:
        names = " and ".join(one.title for one in found)
        raise InvalidTableError(f"{names} both say that this source is theirs; uninstall one of them.")
    if not found:
        raise InvalidTableError(_nobodys(source))
    return found[0]


def is_source(values: object) -> bool:
    """Whether it is a table and no list of values: a file, a table of a database, a frame or an Ibis table."""
    if isinstance(values, str):
        return bool(_by_scheme(values)) or any(one.is_table(values) for one in registered())
    return isinstance(values, Path) or is_ibis(values) or any(one.owns(values) for one in registered())


def is_ibis(source: object) -> bool:
    """Whether it is a table of Ibis."""
    return type(source).__module__.partition(".")[0] == "ibis" and hasattr(source, "op") and hasattr(source, "columns")


def is_address(text: str) -> bool:
    """Whether a text names a table of a server or a cluster rather than a path of this machine."""
    return "://" in text or bool(_by_scheme(text))


def shown(text: str) -> str:
    """An address or a path as it may be shown and written down: without a password."""
    found = _by_scheme(text)
    return found[0].shown(text) if found else text


def in_words(problem: str) -> str:
    """The kind of an error, and in words what it means where that is known."""
    told = _meaning(problem)
    return f"{problem}: {told}" if told else problem


def is_away(problem: str) -> bool:
    """Whether an error of this kind, which ended a release, says that the engine or the ledger cannot be reached."""
    known = [one for one in registered() if problem in one.troubles]
    return problem == LedgerError.__name__ or any(problem not in one.answered for one in known)


def _meaning(problem: str) -> str:
    if problem == InvalidTableError.__name__:
        return _CHANGED
    return next((one.troubles[problem] for one in registered() if problem in one.troubles), "")


def _by_scheme(source: object) -> list[Registration]:
    """The engines whose addresses begin as a text does, where that is said most closely."""
    if not isinstance(source, str):
        return []
    fits = [(len(scheme), one) for one in registered() for scheme in one.schemes if source.startswith(scheme)]
    longest = max((length for length, _ in fits), default=0)
    return [one for length, one in fits if length == longest]


def _of_ibis(backend: str) -> Registration:
    found = [one for one in registered() if one.name == backend]
    if len(found) != 1:
        raise InvalidTableError(
            f"this Ibis table is on {backend}; tables on {_either((one.title for one in registered()), 'and')} are"
            " supported."
        )
    return found[0]


def _nobodys(source: object) -> str:
    """Why a source belongs to no engine, and what can be given."""
    every = registered()
    if not every:
        return "no engine is registered: install noisewright again, so that its entry points are known."
    addresses = [address for one in every for address in one.addresses]
    if isinstance(source, str):
        # An address may hold a password, so that it is not repeated.
        begins = f"{source.partition('://')[0][:20]}://..."
        return f"the source is an address ({begins}); give {', '.join(addresses)}, a frame, or an Ibis table."
    others = [other for one in every for other in one.objects]
    titles = _either((one.title for one in every), "or")
    return (
        f"the source is of type {type(source).__name__}; give {', '.join([*addresses, *others])}, or an Ibis table on"
        f" {titles}."
    )


def _either(names: Iterable[str], word: str) -> str:
    """A list for people."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last
