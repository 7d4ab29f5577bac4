"""Data that are exact on construction: fields are declared once, and everything else follows from that.

A class declares each field by a specification from `problem.fields`. From the declaration come the
conversion to exact numbers and its messages, the plain form for files and its inverse, immutability,
equality, copying and pickling (which go through construction again). A class adds only what is particular
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
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeVar, dataclass_transform

from noisewright.problem import fields
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.fields import DERIVED, MISSING, Spec
from noisewright.problem.matrices import Unchanging
from noisewright.problem.untrusted import require_time

Thing = TypeVar("Thing")


class Family(Generic[Thing]):
    """The registered kinds of one sort of thing; whatever is not registered is not accepted, whatever its methods."""

    def __init__(self, wanted: str, error: type[InvalidInputError] = InvalidInputError) -> None:
        self.wanted, self.error = wanted, error
        self.kinds: dict[str, type[Record]] = {}
        self._classes: set[type] = set()

    def add(self, cls: type[Record], kind: str | None) -> None:
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
        return self.kinds[data["kind"]].from_dict(data)


def load_package(name: str, *, later: tuple[str, ...] = ()) -> None:
    """Import every module of a package and of the packages in it: loading them registers the kinds that they hold.

    Modules whose names begin with one of `later` register nothing, and wait until somebody needs them.
    """
    for module in iter_modules(import_module(name).__path__):
        if not module.name.startswith(later):
            full = f"{name}.{module.name}"
            if module.ispkg:
                load_package(full, later=later)
            else:
                import_module(full)


@dataclasses.dataclass(frozen=True, slots=True)
class Card:
    """What a record's class declared."""

    kind: str | None
    error: type[InvalidInputError]
    fields: Mapping[str, Spec[Any, Any]]
    given: Mapping[str, Spec[Any, Any]]
    """The fields that a constructor takes."""


class Record(Unchanging):
    """What every record can do; its fields are on its class's card."""

    __slots__ = ()
    CARD: ClassVar[Card]

    def __init__(self, *given: Any, **named: Any) -> None:
        taken = self.CARD.given
        if len(given) == len(taken) and not named:
            return self.construct(**dict(zip(taken, given, strict=True)))
        values = {**dict(zip(taken, given, strict=False)), **named}
        values = {**{name: spec.default for name, spec in taken.items() if spec.default is not MISSING}, **values}
        twice = len(given) > len(taken) or set(list(taken)[: len(given)]) & set(named)
        if twice or set(values) != set(taken):
            raise TypeError(f"{type(self).__name__} takes {', '.join(taken)}, each once and nothing else.")
        return self.construct(**values)

    def construct(self, **values: Any) -> None:
        """Fill the record: every declared field is read, made exact and checked, then the class checks across them.

        Refuses once a deadline is over.
        """
        require_time()
        card = self.CARD
        if any(hasattr(self, name) for name in card.given):
            raise TypeError(f"{type(self).__name__} is constructed once and does not change; make another.")
        read = {}
        for name, spec in card.given.items():
            read[name] = spec.read(values[name], spec.shown or name, card.error)
        for name, spec in card.given.items():
            if spec.like and len(read[name]) != (count := _count(read[spec.like])):
                given = f"{name} has {len(read[name])} items, {spec.like} has {count}"
                raise card.error(f"{given}; give as many.", **{name: len(read[name])})
        known = {name: spec.value for name, spec in card.fields.items() if spec.value not in (MISSING, DERIVED)}
        keep(self, **read, **known)
        try:
            self.__post_init__()
        except BaseException:
            # Whoever catches the refusal must not find a record that was not constructed.
            for name in card.fields:
                if hasattr(self, name):
                    object.__delattr__(self, name)
            raise

    def __post_init__(self) -> None:
        """Checks across fields; nothing unless a class has some."""

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
        made.construct(**values)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._rebuilt, ({name: getattr(self, name) for name in self.CARD.given},)

    def __setstate__(self, state: Any) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is made by its constructor alone.")

    # Written once here, because dataclasses would write the same for every class.
    def __repr__(self) -> str:
        shown = (field.name for field in dataclasses.fields(self) if field.repr)  # type: ignore[arg-type]
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


Kind = TypeVar("Kind", bound=Record)


@dataclass_transform(
    field_specifiers=(
        fields.rational, fields.rationals, fields.whole, fields.wholes, fields.whole_matrix, fields.flag, fields.text,
        fields.label, fields.pair, fields.optional, fields.tuple_of, fields.one_or_many, fields.one_of, fields.only,
        fields.derived, fields.fixed,
    )
)  # fmt: skip
def record(
    kind: str | None = None, family: Family[Any] | None = None, *, error: type[InvalidInputError] = InvalidInputError
) -> Callable[[type[Kind]], type[Kind]]:
    """Make a class of declared fields a record: frozen, exact, known to files by `kind` and to its family."""

    def finish(cls: type[Kind]) -> type[Kind]:
        parent: Card | None = getattr(cls, "CARD", None)
        above = dict(parent.fields) if parent else {}
        own = inspect.get_annotations(cls)
        declared = {name: spec for name, spec in cls.__dict__.items() if isinstance(spec, Spec) and name in own}
        for name, spec in declared.items():
            delattr(cls, name)
            if name in above:
                del cls.__annotations__[name]
            elif spec.value is DERIVED:
                setattr(cls, name, dataclasses.field(init=False, repr=False, compare=spec.absent))
        # Written here, because dataclasses would put their own in their place, which construct nothing.
        cls.__setstate__ = Record.__setstate__  # type: ignore[method-assign]
        cls.__getstate__ = object.__getstate__  # type: ignore[method-assign]
        hashed = inspect.isfunction(cls.__dict__.get("__hash__"))
        made = dataclasses.dataclass(
            slots=True, init=False, repr=False, unsafe_hash=not hashed, weakref_slot=parent is None
        )
        finished = made(cls)
        specs = MappingProxyType({**above, **declared})
        given = MappingProxyType({name: spec for name, spec in specs.items() if spec.value is MISSING})
        finished.CARD = Card(parent.kind if parent and kind is None else kind, error, specs, given)
        if finished.__init__ is Record.__init__:
            finished.__signature__ = _Signature()  # type: ignore[attr-defined]  # for help()
        if family is not None:
            family.add(finished, kind)
        return finished

    return finish


def keep(thing: Record, **derived: Any) -> None:
    """Set what a record computes from its own fields when it is constructed; for constructors alone."""
    for name, value in derived.items():
        object.__setattr__(thing, name, value)


def _count(thing: Any) -> int:
    """How many items a field has; of a question, how many numbers it asks for."""
    return int(getattr(thing, "dimension", None) or len(thing))


def digest(data: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON form (sorted keys, no spaces) of plain data."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class _Signature:
    """The parameters of a record's constructor, made from its card when somebody asks."""

    __slots__ = ()

    def __get__(self, thing: Record | None, cls: type[Record]) -> inspect.Signature:
        kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        return inspect.Signature(
            [
                inspect.Parameter(name, kind, default=empty if spec.default is MISSING else spec.default)
                for name, spec in cls.CARD.given.items()
            ]
        )
