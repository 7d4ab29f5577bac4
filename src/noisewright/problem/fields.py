"""Specifications of fields: how each is read from a person, written to a file and read back from one.

A specification has the type that a type checker shows: `Spec[Given, Kept]` accepts what a person may
give and holds what is kept. Files are read strictly: a rational is the text that `str(Fraction)`
writes, a whole number is an integer (or its text, where the format says so).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from operator import ge, gt, le, lt, ne
from typing import Any, Generic, Literal, TypeAlias, TypeVar, overload

from noisewright.problem.errors import InvalidInputError
from noisewright.problem.matrices import WholeMatrix
from noisewright.problem.numbers import Number, parameter, sensitivity_value, show, whole_number

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "nothing"})()
DERIVED: Any = type("Derived", (), {"__repr__": lambda self: "computed on construction"})()

Given = TypeVar("Given", contravariant=True)
Kept = TypeVar("Kept", covariant=True)
Item = TypeVar("Item")
Error: TypeAlias = type[InvalidInputError]
Read: TypeAlias = Callable[[Any, str, Error], Any]

_ENDS = ("lowest", "highest")
_MOST_ITEMS = 20_000_000
_RATIONAL = re.compile(r"-?[0-9]{1,1000}(/[1-9][0-9]{0,999})?")
_RULES = {"above": gt, "at_least": ge, "below": lt, "at_most": le, "other_than": ne}
_WORDS = {
    *_RULES, "raised", "or_zero", "hint", "as_text", "key", "shown", "like", "default", "absent", "value",
    "each", "least", "most", "rising", "distinct", "total",
}  # fmt: skip


class Spec(Generic[Given, Kept]):
    """One field: `read` makes it exact, `write` makes it plain, `load` takes the plain form back.

    `key` is its name in files, `absent` what a file means that does not name it, `shown` its name in messages, `like`
    the field that has as many items; `value` is what it always is, for fields that no constructor takes.
    """

    __slots__ = ("absent", "default", "key", "like", "load", "read", "shown", "value", "write")

    def __init__(self, read: Read, write: Callable[[Any], Any], load: Callable[[Any], Any], **how: Any) -> None:
        if unknown := set(how) - _WORDS:
            raise TypeError(f"no field is declared with {', '.join(sorted(unknown))}.")
        self.read, self.write, self.load = read, write, load
        self.key, self.shown, self.like = (how.get(name) for name in ("key", "shown", "like"))
        self.default, self.absent, self.value = (how.get(name, MISSING) for name in ("default", "absent", "value"))

    @overload
    def __get__(self, thing: None, owner: Any) -> Spec[Given, Kept]: ...
    @overload
    def __get__(self, thing: object, owner: Any) -> Kept: ...
    def __get__(self, thing: object, owner: Any) -> Any:
        return self

    def __set__(self, thing: object, value: Given) -> None:
        raise AttributeError("records do not change.")


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
WholeRows: TypeAlias = Spec[Iterable[Iterable[int]], tuple[tuple[int, ...], ...]]
PackedMatrix: TypeAlias = Spec[Any, WholeMatrix]
Flag: TypeAlias = Spec[bool, bool]
Flags: TypeAlias = Spec[bool | Iterable[bool], bool | tuple[bool, ...]]
Text: TypeAlias = Spec[str, str]
Texts: TypeAlias = Spec[Iterable[str], tuple[str, ...]]
Elements: TypeAlias = Spec[Iterable[Iterable[Any]], tuple[tuple[Any, ...], ...]]


def rational(*, raised: bool = False, **how: Any) -> Rational:
    """An exact number within the limits above=, at_least=, below=, at_most=, other_than=; with or_zero=True also 0.

    `hint` ends the message of a refusal. `raised` is for sensitivities: a computed float is raised, never lowered.
    """
    check, exact = _limits(**how), sensitivity_value if raised else parameter
    return Spec(lambda value, name, error: check(exact(value, name), name, error), str, exact_text, **how)


def rationals(**how: Any) -> Any:
    """A tuple of exact numbers, each within the limits."""
    return tuple_of(rational(**how), **how)


def whole(*, as_text: bool = False, **how: Any) -> Whole:
    """A whole number within the limits; `as_text` is how files hold long ones."""
    check = _limits(**how)

    def read(value: Any, name: str, error: Error) -> int:
        return int(check(Fraction(whole_number(value, name)), name, error))

    return Spec(read, str if as_text else int, _whole_text if as_text else _plain(int), **how)


def wholes(**how: Any) -> Any:
    """A tuple of whole numbers."""
    return tuple_of(whole(**how), **how)


def whole_matrix(**how: Any) -> PackedMatrix:
    """A matrix of whole numbers, packed; in files a text of numbers for each row."""

    def read(value: Any, name: str, error: Error) -> WholeMatrix:
        return value if type(value) is WholeMatrix else WholeMatrix.of(items(value, name, error), name, error)

    return Spec(read, WholeMatrix.texts, WholeMatrix.from_texts, **how)


def flag(**how: Any) -> Flag:
    """True or False."""

    def read(value: Any, name: str, error: Error) -> bool:
        return value if isinstance(value, bool) else _refuse(value, name, error, "True or False")

    return Spec(read, bool, _plain(bool), **how)


def text(*, among: Sequence[str] | None = None, **how: Any) -> Text:
    """Text, or one of a few words."""
    wanted = "text" if among is None else f"one of {', '.join(among)}"

    def read(value: Any, name: str, error: Error) -> str:
        fits = isinstance(value, str) and (among is None or value in among)
        return str.__str__(value) if fits else _refuse(value, name, error, wanted)

    return Spec(read, str, _plain(str), **how)


def label() -> Spec[Any, Any]:
    """Whatever names a value: kept as it is, machine numbers as Python's own; no proof reads it."""

    def read(value: Any, name: str, error: Error) -> Any:
        return value.item() if hasattr(value, "dtype") and getattr(value, "shape", None) == () else value

    return Spec(read, _never, _never)


def pair(**how: Any) -> Pair:
    """Two exact numbers, (lowest, highest), which differ and are within the limits."""
    one = rational(**how)
    both = tuple_of(one)

    def read(value: Any, name: str, error: Error) -> tuple[Fraction, Fraction]:
        if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
            _refuse(value, name, error, "a pair (lowest, highest)")
        low, high = (one.read(v, f"{end} of {name}", error) for v, end in zip(value, _ENDS, strict=True))
        if not low < high:
            raise error(
                f"{name} is {show(low)} to {show(high)}; give (lowest, highest).", **{_field(name): (low, high)}
            )
        return low, high

    return Spec(read, both.write, both.load)


def optional(spec: Spec[Any, Any], **how: Any) -> Any:
    """The field, or None."""

    def unless_none(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda value, *more: None if value is None else function(value, *more)

    return Spec(unless_none(spec.read), unless_none(spec.write), unless_none(spec.load), **how)


def tuple_of(spec: Spec[Any, Any], **how: Any) -> Any:
    """A tuple of such fields, from any list, array or other iterable; `each` names one of them in messages.

    There are `least` to `most` of them; with `rising` each is above the one before, with `distinct` none occurs twice,
    and `total` is what they add up to.
    """
    least, most, total = how.get("least", 0), how.get("most", _MOST_ITEMS), how.get("total")

    def read(value: Any, name: str, error: Error) -> tuple[Any, ...]:
        item, kept = how.get("each") or f"{name}:", []
        for i, v in enumerate(items(value, name, error)):
            if i >= most:
                raise error(f"{name} has more than {most} items; give a shorter list.")
            kept.append(spec.read(v, f"{item} {i + 1}", error))
        twice = [v for v, count in Counter(kept).items() if count > 1] if how.get("distinct") else []
        rules = (
            (len(kept) < least, f"has {len(kept)} items; give at least {least}"),
            (how.get("rising") and any(b <= a for a, b in pairwise(kept)), "must increase; put the smallest first"),
            (twice, f"names {', '.join(map(repr, twice[:1]))} twice; name each once"),
            (total is not None and sum(kept) != total, f"must add up to exactly {total}; divide by the sum"),
        )
        for broken, words in rules:
            if broken:
                raise error(f"{name} {words}.", **{_field(name): len(kept)})
        return tuple(kept)

    def write(value: tuple[Any, ...]) -> list[Any]:
        # The same thing many times, as in long vectors, is written once.
        known = {id(v): spec.write(v) for v in {id(v): v for v in value}.values()}
        return [known[id(v)] for v in value]

    return Spec(read, write, lambda plain: tuple(spec.load(v) for v in _plain(list)(plain)), **how)


def one_or_many(one: Spec[Any, Any], **how: Any) -> Any:
    """The field, the same for all, or a tuple with one for each."""
    many = tuple_of(one, least=1)

    def spec(value: Any) -> Spec[Any, Any]:
        return many if is_list(value) else one

    return Spec(lambda v, *more: spec(v).read(v, *more), lambda v: spec(v).write(v), lambda v: spec(v).load(v), **how)


def one_of(family: Any) -> Any:
    """A thing of a registered kind."""
    return Spec(lambda value, name, error: family.read(value, name), lambda value: value.to_dict(), family.from_dict)


def only(cls: Any, *, inline: str | None = None) -> Any:
    """A record of exactly this class; `inline` writes it as the plain form of its one field, under that name."""

    def read(value: Any, name: str, error: Error) -> Any:
        return value if type(value) is cls else _refuse(value, name, error, f"a {cls.__name__}")

    if inline:
        return Spec(read, lambda v: v.to_dict()[inline], lambda plain: cls.from_dict({inline: plain}), key=inline)
    return Spec(read, lambda value: value.to_dict(), cls.from_dict)


def derived(*, compare: bool = False, init: Literal[False] = False) -> Any:
    """What a record computes on construction; not part of its plain form, nor of its equality unless `compare`."""
    return Spec(_never, _never, _never, value=DERIVED, absent=compare)


def fixed(value: Any, *, init: Literal[False] = False) -> Any:
    """What is the same for every record of the class."""
    return Spec(_never, _never, _never, value=value)


def exact_text(plain: object) -> Fraction:
    """A rational from the text form that `str(Fraction)` writes; other types are refused."""
    if not _RATIONAL.fullmatch(_plain(str)(plain)):
        raise ValueError(f"{plain!r:.42} is not a rational such as 3/1000")
    return Fraction(str(plain))


def _limits(*, hint: str = "", or_zero: bool = False, **how: Any) -> Callable[[Fraction, str, Error], Fraction]:
    """Lets a number within the limits pass."""
    limits = [(rule, parameter(how[rule], rule)) for rule in _RULES if how.get(rule) is not None]
    stated = [f"{rule.replace('_', ' ')} {show(limit)}" for rule, limit in limits]
    words = " and ".join("positive" if each == "above 0" else each for each in stated)

    def check(value: Fraction, name: str, error: Error) -> Fraction:
        if (value or not or_zero) and not all(_RULES[rule](value, limit) for rule, limit in limits):
            wanted = f"0, or {words}" if or_zero else words
            raise error(f"{name} is {show(value)}; it must be {wanted}{hint}.", **{_field(name): value})
        return value

    return check


def _refuse(value: Any, name: str, error: Error, wanted: str) -> Any:
    raise error(f"{name} is {value!r}; give {wanted}.", **{_field(name): value})


def is_list(value: object) -> bool:
    """Whether it is a list, an array or another iterable; text, mappings and single numbers are none."""
    several = isinstance(value, Iterable) and getattr(value, "shape", 0) != ()
    return several and not isinstance(value, str | bytes | Mapping)


def items(value: Any, name: str, error: Error, wanted: str = "a list") -> Any:
    """What a person gave as a list; anything else is refused."""
    if not is_list(value):
        raise error(f"{name} is of type {type(value).__name__}; give {wanted}.", **{_field(name): type(value).__name__})
    return value


def _field(name: str) -> str:
    """The name of a message's field."""
    return name if name.isidentifier() and name not in ("message", "fields") else "given"


def _plain(kind: type) -> Callable[[Any], Any]:
    """Reads one type of plain data and no other."""

    def load(plain: Any) -> Any:
        if type(plain) is not kind:
            raise TypeError(f"expected {kind.__name__}, got {plain!r:.42}")
        return plain

    return load


def _whole_text(plain: Any) -> int:
    value = exact_text(plain)
    if value.denominator != 1:
        raise ValueError(f"{plain!r:.42} is not a whole number")
    return int(value)


def _never(*_: Any) -> Any:
    raise TypeError("this field is computed")
