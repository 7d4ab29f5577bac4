"""Data that are exact from birth: fields are declared once, and everything else follows from that.

A class declares each field by a specification from `problem.fields`. From the declaration come the
conversion to exact numbers and its messages, the plain form for files and its inverse, immutability,
equality, copying and pickling (which go through birth again). A class adds only what is particular
to it: a check across fields in `__post_init__`.

    @record("gamma", FOLDS, error=InvalidLawError)
    class GammaFold(Record):
        shape: Rational = rational(above=0)
        scale: Rational = rational(above=0)
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeVar, dataclass_transform

from noisewright.problem.errors import InvalidInputError
from noisewright.problem.fields import (
    DERIVED,
    MISSING,
    Spec,
    derived,
    fixed,
    flag,
    label,
    one_of,
    optional,
    pair,
    rational,
    rationals,
    same_kinds,
    sensitivity,
    text,
    texts,
    tuple_of,
    whole,
    whole_matrix,
    wholes,
)

Thing = TypeVar("Thing")


class Family(Generic[Thing]):
    """The registered kinds of one sort of thing; whatever is not registered is not accepted, whatever its methods."""

    def __init__(self, wanted: str, error: type[InvalidInputError] = InvalidInputError) -> None:
        self.wanted, self.error = wanted, error
        self.kinds: dict[str, type] = {}
        self._classes: set[type] = set()

    def add(self, cls: type, kind: str | None) -> None:
        """Register a class, under the name it has in files if it has one of its own."""
        self._classes.add(cls)
        if kind is not None:
            self.kinds[kind] = cls

    def __contains__(self, thing: object) -> bool:
        return type(thing) in self._classes

    def read(self, thing: Any, name: str) -> Any:
        """The thing itself, if it is of a registered kind."""
        if thing not in self:
            raise self.error(f"{name} is {thing!r}; give {self.wanted}.", given=thing)
        return thing

    def from_dict(self, data: Mapping[str, Any]) -> Any:
        """Inverse of `to_dict`; KeyError, TypeError or ValueError if the data describe none."""
        return self.kinds[data["kind"]].from_dict(data)  # type: ignore[attr-defined]  # every record has it


@dataclasses.dataclass(frozen=True, slots=True)
class Card:
    """What a record's class declared."""

    kind: str | None
    error: type[InvalidInputError]
    fields: dict[str, Spec[Any, Any]]

    @property
    def given(self) -> dict[str, Spec[Any, Any]]:
        """The fields that a constructor takes."""
        return {name: spec for name, spec in self.fields.items() if spec.value is MISSING}


class Record:
    """What every record can do; its fields are on its class's card."""

    __slots__ = ()
    CARD: ClassVar[Card]

    def __init__(self, *given: Any, **named: Any) -> None:
        kind, fields = type(self).__name__, self.CARD.given
        if len(given) > len(fields):
            raise TypeError(f"{kind} takes at most {len(fields)} arguments; {len(given)} were given.")
        values = dict(zip(fields, given, strict=False))
        for name, value in named.items():
            if name not in fields or name in values:
                problem = "is given twice" if name in values else "is unknown"
                raise TypeError(f"{kind}: the argument {name} {problem}; it takes {', '.join(fields)}.")
            values[name] = value
        for name, spec in fields.items():
            if name not in values and spec.default is MISSING:
                raise TypeError(f"{kind} needs the argument {name}; it takes {', '.join(fields)}.")
            values.setdefault(name, spec.default)
        self.born(**values)

    def born(self, **values: Any) -> None:
        """Fill the record: every declared field is read, made exact and checked, then the class checks across them."""
        card = self.CARD
        for name, spec in card.fields.items():
            if spec.value is MISSING:
                object.__setattr__(self, name, spec.read(values[name], spec.shown or name, card.error))
            elif spec.value is not DERIVED:
                object.__setattr__(self, name, spec.value)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Checks across fields; nothing unless a class has some."""

    def keep(self, **derived: Any) -> None:
        """Set what the record computes from its own fields when it is born."""
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        plain: dict[str, Any] = {} if self.CARD.kind is None else {"kind": self.CARD.kind}
        for name, spec in self.CARD.given.items():
            value = getattr(self, name)
            if spec.absent is MISSING or value != spec.absent:
                plain[spec.key or name] = spec.write(value)
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`; KeyError, TypeError or ValueError if the data describe none."""
        card = cls.CARD
        if card.kind is not None and data["kind"] != card.kind:
            raise ValueError(f"this is no {card.kind}")
        values = {}
        for name, spec in card.given.items():
            key = spec.key or name
            values[name] = spec.absent if spec.absent is not MISSING and key not in data else spec.load(data[key])
        return cls._rebuilt(values)

    @property
    def digest(self) -> str:
        """Fingerprint of everything that the record holds."""
        return digest(self.to_dict())

    @classmethod
    def _rebuilt(cls, values: Mapping[str, Any]) -> Self:
        """A record from its declared fields, whatever arguments its constructor takes."""
        made = cls.__new__(cls)
        made.born(**values)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._rebuilt, ({name: getattr(self, name) for name in self.CARD.given},)

    def __setstate__(self, state: Any) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is made by its constructor alone.")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


Kind = TypeVar("Kind", bound=Record)


@dataclass_transform(
    field_specifiers=(
        rational, rationals, sensitivity, whole, wholes, flag, label, text, texts, pair,
        optional, tuple_of, one_of, same_kinds, whole_matrix, derived, fixed,
    ),
)  # fmt: skip
def record(
    kind: str | None = None, family: Family[Any] | None = None, *, error: type[InvalidInputError] = InvalidInputError
) -> Callable[[type[Kind]], type[Kind]]:
    """Make a class of declared fields a record: frozen, exact, known to files by `kind` and to its family."""

    def made(cls: type[Kind]) -> type[Kind]:
        parent: Card | None = getattr(cls, "CARD", None)
        above = dict(parent.fields) if parent else {}
        fields = {name: cls.__dict__[name] for name in inspect.get_annotations(cls) if _is_spec(cls, name)}
        for name, spec in fields.items():
            delattr(cls, name)
            if name in above:
                del cls.__annotations__[name]
            elif spec.value is DERIVED:
                setattr(cls, name, dataclasses.field(init=False, repr=False, compare=spec.absent))
        # Written here because dataclasses would put their own, which fill a record without its birth, in their place.
        cls.__setstate__ = Record.__setstate__  # type: ignore[method-assign]
        cls.__getstate__ = object.__getstate__  # type: ignore[method-assign]
        finished = dataclasses.dataclass(frozen=True, slots=True, init=False, weakref_slot=parent is None)(cls)
        finished.CARD = Card(parent.kind if parent and kind is None else kind, error, {**above, **fields})
        if finished.__init__ is Record.__init__:
            finished.__signature__ = _signature(finished.CARD)  # type: ignore[attr-defined]  # for help()
        if family is not None:
            family.add(finished, kind)
        return finished

    return made


def digest(data: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON form (sorted keys, no spaces) of plain data."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _is_spec(cls: type, name: str) -> bool:
    return isinstance(cls.__dict__.get(name), Spec)


def _signature(card: Card) -> inspect.Signature:
    kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(name, kind, default=empty if spec.default is MISSING else spec.default)
            for name, spec in card.given.items()
        ]
    )
