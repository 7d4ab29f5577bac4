"""Specifications of fields: how each is read from a person, written to a file and read back from one.

A specification has the type that a type checker shows: `Spec[Given, Kept]` accepts what a person may
give and holds what is kept. Files are read strictly: a rational is the text that `str(Fraction)`
writes, a whole number is an integer (or its text, where the format says so).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, overload

from noisewright.problem.errors import InvalidInputError
from noisewright.problem.matrices import WholeMatrix
from noisewright.problem.numbers import Number, parameter, sensitivity_value, show, whole_number

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "nothing"})()
DERIVED: Any = type("Derived", (), {"__repr__": lambda self: "computed at birth"})()

Given = TypeVar("Given", contravariant=True)
Kept = TypeVar("Kept", covariant=True)
Item = TypeVar("Item")

Error: TypeAlias = type[InvalidInputError]
Read: TypeAlias = Callable[[Any, str, Error], Any]

_RATIONAL = re.compile(r"-?[0-9]{1,1000}(/[0-9]{1,1000})?")


class Spec(Generic[Given, Kept]):
    """One field: `read` makes it exact, `write` makes it plain, `load` takes the plain form back.

    `key` is its name in files, `absent` what a file means that does not name it, `shown` its name in
    messages; `value` is what it always is, for fields that no constructor takes.
    """

    __slots__ = ("absent", "default", "key", "load", "read", "shown", "value", "write")

    def __init__(
        self,
        read: Read,
        write: Callable[[Any], Any],
        load: Callable[[Any], Any],
        *,
        default: Any = MISSING,
        key: str | None = None,
        absent: Any = MISSING,
        shown: str | None = None,
        value: Any = MISSING,
    ) -> None:
        self.read, self.write, self.load = read, write, load
        self.default, self.key, self.absent, self.shown, self.value = default, key, absent, shown, value

    @overload
    def __get__(self, thing: None, owner: Any) -> Spec[Given, Kept]: ...
    @overload
    def __get__(self, thing: object, owner: Any) -> Kept: ...
    def __get__(self, thing: object, owner: Any) -> Any:
        return self

    def __set__(self, thing: object, value: Given) -> None:
        raise AttributeError("records do not change.")


class _Family(Protocol):
    def read(self, thing: Any, name: str) -> Any: ...
    def from_dict(self, data: Mapping[str, Any]) -> Any: ...


Many: TypeAlias = Spec[Iterable[Item], tuple[Item, ...]]
Rational: TypeAlias = Spec[Number, Fraction]
Rationals: TypeAlias = Spec[Iterable[Number], tuple[Fraction, ...]]
Matrix: TypeAlias = Spec[Iterable[Iterable[Number]], tuple[tuple[Fraction, ...], ...]]
Pair: TypeAlias = Spec[Sequence[Number], tuple[Fraction, Fraction]]
MaybeRational: TypeAlias = Spec[Number | None, Fraction | None]
Prior: TypeAlias = Spec[Iterable[Iterable[Number]] | None, tuple[tuple[Fraction, Fraction], ...] | None]
Whole: TypeAlias = Spec[int, int]
MaybeWhole: TypeAlias = Spec[int | None, int | None]
Wholes: TypeAlias = Spec[Iterable[int], tuple[int, ...]]
PackedMatrix: TypeAlias = Spec[Any, WholeMatrix]
WholeRows: TypeAlias = Spec[Iterable[Iterable[int]], tuple[tuple[int, ...], ...]]
Flag: TypeAlias = Spec[bool, bool]
Text: TypeAlias = Spec[str, str]
Texts: TypeAlias = Spec[Iterable[str], tuple[str, ...]]
Elements: TypeAlias = Spec[Iterable[Iterable[Any]], tuple[tuple[Any, ...], ...]]


def rational(
    *,
    above: Number | None = None,
    at_least: Number | None = None,
    below: Number | None = None,
    at_most: Number | None = None,
    hint: str = "",
    check: Callable[[Fraction, str], None] | None = None,
    default: Any = MISSING,
    key: str | None = None,
    shown: str | None = None,
) -> Rational:
    """An exact number, in the stated range; `hint` ends the message of a refusal."""
    limits = _limits(above, at_least, below, at_most)

    def read(value: Any, name: str, error: Error) -> Fraction:
        exact = parameter(value, name)
        _require(limits, exact, name, error, hint)
        if check is not None:
            check(exact, name)
        return exact

    return Spec(read, str, exact_text, default=default, key=key, shown=shown)


def sensitivity(*, hint: str = "", default: Any = MISSING, check: Callable[[Fraction, str], None]) -> Rational:
    """How far one person can move something: a computed float is raised, never lowered."""

    def read(value: Any, name: str, error: Error) -> Fraction:
        exact = sensitivity_value(value, name)
        check(exact, name)
        return exact

    return Spec(read, str, exact_text, default=default)


def rationals(
    *,
    above: Number | None = None,
    at_least: Number | None = None,
    each: str | None = None,
    hint: str = "",
    key: str | None = None,
    default: Any = MISSING,
) -> Rationals:
    """A tuple of exact numbers, each in the stated range."""
    found: Rationals = tuple_of(
        rational(above=above, at_least=at_least, hint=hint), each=each, key=key, default=default
    )
    return found


def whole(
    *,
    at_least: int | None = None,
    at_most: int | None = None,
    hint: str = "",
    as_text: bool = False,
    default: Any = MISSING,
    key: str | None = None,
) -> Whole:
    """A whole number in the stated range."""
    limits = _limits(None, at_least, None, at_most)

    def read(value: Any, name: str, error: Error) -> int:
        number = whole_number(value, name)
        _require(limits, Fraction(number), name, error, hint)
        return number

    return Spec(read, str if as_text else int, _whole_text if as_text else _plain_whole, default=default, key=key)


def wholes(*, at_least: int | None = None, as_text: bool = False) -> Wholes:
    """A tuple of whole numbers."""
    found: Wholes = tuple_of(whole(at_least=at_least, as_text=as_text))
    return found


def whole_matrix(*, key: str | None = None) -> PackedMatrix:
    """A matrix of whole numbers, packed; in files a text of numbers for each row."""

    def read(value: Any, name: str, error: Error) -> WholeMatrix:
        return value if isinstance(value, WholeMatrix) else WholeMatrix.of(_items(value, name, error), name, error)

    return Spec(read, WholeMatrix.texts, WholeMatrix.from_texts, key=key)


def flag(*, default: Any = MISSING, absent: Any = MISSING) -> Flag:
    """True or False."""

    def read(value: Any, name: str, error: Error) -> bool:
        if isinstance(value, bool):
            return value
        raise error(f"{name} is {value!r}; give True or False.", **{_field(name): value})

    return Spec(read, bool, _truth, default=default, absent=absent)


def text(*, among: Sequence[str] | None = None, default: Any = MISSING, key: str | None = None) -> Text:
    """Text, or one of a few words."""

    def read(value: Any, name: str, error: Error) -> str:
        if isinstance(value, str) and (among is None or value in among):
            return str(value)
        allowed = "text" if among is None else f"one of {', '.join(among)}"
        raise error(f"{name} is {value!r}; give {allowed}.", **{_field(name): value})

    return Spec(read, str, _plain_text, default=default, key=key)


def texts(*, default: Any = MISSING) -> Texts:
    """A tuple of texts."""
    found: Texts = tuple_of(text(), default=default)
    return found


def label() -> Spec[Any, Any]:
    """Whatever names a value: kept as it is, machine numbers as Python's own; no proof reads it."""

    def read(value: Any, name: str, error: Error) -> Any:
        return value.item() if hasattr(value, "dtype") and getattr(value, "shape", None) == () else value

    return Spec(read, _never, _never)


def pair(*, shown: str | None = None) -> Pair:
    """Two exact numbers, (lowest, highest)."""
    items = tuple_of(rational())

    def read(value: Any, name: str, error: Error) -> tuple[Fraction, ...]:
        if not isinstance(value, str) and hasattr(value, "__len__") and len(value) == 2:
            low, high = value
            return parameter(low, f"lowest of {name}"), parameter(high, f"highest of {name}")
        raise error(f"{name} is {value!r}; give a pair (lowest, highest).", **{_field(name): value})

    return Spec(read, items.write, items.load, shown=shown)


def optional(spec: Spec[Any, Any], *, default: Any = MISSING) -> Any:
    """The field, or None."""

    def read(value: Any, name: str, error: Error) -> Any:
        return None if value is None else spec.read(value, name, error)

    def write(value: Any) -> Any:
        return None if value is None else spec.write(value)

    def load(plain: Any) -> Any:
        return None if plain is None else spec.load(plain)

    return Spec(read, write, load, default=default, key=spec.key)


def tuple_of(spec: Spec[Any, Any], *, each: str | None = None, key: str | None = None, default: Any = MISSING) -> Any:
    """A tuple of such fields, from any list, array or other iterable; `each` names one of them in messages."""

    def read(value: Any, name: str, error: Error) -> tuple[Any, ...]:
        item = each or f"{name}:"
        return tuple(spec.read(v, f"{item} {i + 1}", error) for i, v in enumerate(_items(value, name, error)))

    def write(value: tuple[Any, ...]) -> list[Any]:
        return [spec.write(v) for v in value]

    def load(plain: Any) -> tuple[Any, ...]:
        if not isinstance(plain, list):
            raise TypeError(f"expected a list, got {type(plain).__name__}")
        return tuple(spec.load(v) for v in plain)

    return Spec(read, write, load, key=key, default=default)


def one_of(family: _Family, *, key: str | None = None) -> Any:
    """A thing of a registered kind."""
    return Spec(lambda value, name, error: family.read(value, name), _plain_record, family.from_dict, key=key)


def same_kinds(cls: Any, *, key: str | None = None, inline: str | None = None) -> Any:
    """A record of exactly this class (or classes); `inline` writes it as the plain form of its one field."""
    classes = cls if isinstance(cls, tuple) else (cls,)

    def read(value: Any, name: str, error: Error) -> Any:
        if type(value) in classes:
            return value
        raise error(f"{name} is {value!r}; give a {' or '.join(c.__name__ for c in classes)}.", **{_field(name): value})

    def load(plain: Any) -> Any:
        if inline:
            return classes[0].from_dict({inline: plain})
        chosen = {c.CARD.kind: c for c in classes}
        return chosen[plain.get("kind") if len(classes) > 1 else classes[0].CARD.kind].from_dict(plain)

    return Spec(read, (lambda value: value.to_dict()[inline]) if inline else _plain_record, load, key=key)


def derived(*, compare: bool = False, init: Literal[False] = False) -> Any:
    """What a record computes when it is born; not part of its plain form, nor of its equality unless `compare`."""
    return Spec(_never, _never, _never, value=DERIVED, absent=compare)


def fixed(value: Any, *, init: Literal[False] = False) -> Any:
    """What is the same for every record of the class."""
    return Spec(_never, _never, _never, value=value)


def exact_text(plain: object) -> Fraction:
    """A rational from the text form that `str(Fraction)` writes; other types are refused."""
    if not isinstance(plain, str):
        raise TypeError(f"expected a number as text, got {plain!r}")
    if not _RATIONAL.fullmatch(plain):
        raise ValueError(f"{plain[:40]!r} is not a rational such as 3/1000")
    return Fraction(plain)


def _limits(
    above: Number | None, at_least: Number | None, below: Number | None, at_most: Number | None
) -> list[tuple[str, Callable[[Fraction], bool]]]:
    found: list[tuple[str, Callable[[Fraction], bool]]] = []
    if above is not None:
        low = parameter(above, "limit")
        found.append(("positive" if low == 0 else f"above {show(low)}", lambda v: v > low))
    if at_least is not None:
        least = parameter(at_least, "limit")
        found.append((f"at least {show(least)}", lambda v: v >= least))
    if below is not None:
        high = parameter(below, "limit")
        found.append((f"below {show(high)}", lambda v: v < high))
    if at_most is not None:
        most = parameter(at_most, "limit")
        found.append((f"at most {show(most)}", lambda v: v <= most))
    return found


def _require(
    limits: list[tuple[str, Callable[[Fraction], bool]]], value: Fraction, name: str, error: Error, hint: str
) -> None:
    if not all(holds(value) for _, holds in limits):
        rule = " and ".join(words for words, _ in limits)
        raise error(f"{name} is {show(value)}; it must be {rule}{hint}.", **{_field(name): value})


def _items(value: Any, name: str, error: Error) -> Iterable[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable) or getattr(value, "shape", 0) == ():
        raise error(f"{name} is of type {type(value).__name__}; give a list.", **{_field(name): type(value).__name__})
    return value


def _field(name: str) -> str:
    """The name of a message's field."""
    return name if name.isidentifier() and name not in ("message", "fields") else "given"


def _whole_text(plain: Any) -> int:
    value = exact_text(plain)
    if value.denominator != 1:
        raise ValueError(f"{plain[:40]!r} is not a whole number")
    return int(value)


def _plain_whole(plain: Any) -> int:
    if isinstance(plain, bool) or not isinstance(plain, int):
        raise TypeError(f"expected a whole number, got {plain!r}")
    return plain


def _truth(plain: Any) -> bool:
    if not isinstance(plain, bool):
        raise TypeError(f"expected true or false, got {plain!r}")
    return plain


def _plain_text(plain: Any) -> str:
    if not isinstance(plain, str):
        raise TypeError(f"expected text, got {plain!r}")
    return plain


def _plain_record(value: Any) -> Any:
    return value.to_dict()


def _never(*_: Any) -> Any:
    raise TypeError("this field is computed")
