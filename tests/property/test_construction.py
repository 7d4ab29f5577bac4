"""Whatever a constructor is given, the record holds exact numbers, or is refused; nothing in between.

Every number of every example is replaced, one at a time, by numbers of every kind that Python and
numpy know. What is held afterwards is looked at by an independent walk over the slots.
"""

from __future__ import annotations

import copy
import math
import pickle
import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import noisewright as nw
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.matrices import WholeMatrix
from noisewright.problem.numbers import data_value, parameter
from noisewright.problem.records import Record
from noisewright.release.table.locations import Locations
from tests.examples import EVERY, EXAMPLES, THIRD, records
from tests.tree import ROOT

KINDS: dict[str, Any] = {
    "float": lambda x: float(x),
    "float64": lambda x: np.float64(float(x)),
    "float32": lambda x: np.float32(float(x)),
    "float16": lambda x: np.float16(float(x)),
    "longdouble": lambda x: np.longdouble(x.numerator) / np.longdouble(x.denominator),
    "mpf": lambda x: mpmath.mpf(x.numerator) / x.denominator,
    "Decimal": lambda x: Decimal(x.numerator) / Decimal(x.denominator),
    "Fraction": lambda x: Fraction(x),
    "text": lambda x: str(Fraction(x)),
    "array without dimensions": lambda x: np.array(float(x)),
    **{
        kind.__name__: lambda x, kind=kind: kind(math.ceil(x))
        for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
    },
}
NEVER = {
    "True": True,
    "numpy truth": np.True_,
    "NaN": math.nan,
    "infinity": math.inf,
    "numpy NaN": np.float32("nan"),
    "long NaN": np.longdouble("nan"),
    "Decimal NaN": Decimal("NaN"),
    "Decimal infinity": Decimal("Infinity"),
    "complex": 1j,
    "None": None,
    "word": "three",
    "list": [1],
    "array": np.array([1.0, 2.0]),
    "nothing": object(),
}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the numbers of an example stand."""
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        yield path
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from leaves(item, (*path, i))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[path[0]] = replaced(value[path[0]], path[1:], new)
    return changed


def at(value: Any, path: tuple[Any, ...]) -> Fraction:
    for step in path:
        value = value[step]
    return Fraction(value)


def inexact(thing: Any, path: str = "") -> Iterator[str]:
    """Whatever a record holds that is not exact and unchangeable, by an independent look."""
    kind = type(thing)
    if isinstance(thing, Record):
        for name in thing.CARD.fields:
            if not (kind.__name__ == "Universe" and name == "elements"):
                yield from inexact(getattr(thing, name), f"{path}.{name}")
        if hasattr(thing, "__dict__"):
            yield f"{path}: has a dictionary"
    elif kind is tuple:
        for i, item in enumerate(thing):
            yield from inexact(item, f"{path}[{i}]")
    elif kind is Fraction:
        if type(thing.numerator) is not int or type(thing.denominator) is not int:
            yield f"{path}: a fraction of {type(thing.numerator).__name__}"
    elif kind is WholeMatrix:
        if not all(type(v) is int for row in thing for v in row):
            yield f"{path}: a matrix of something else than integers"
    elif kind is Locations:  # where rows were listed from; what it holds alive is never looked into
        for name in ("marks", "paths"):
            marks = getattr(thing, name)
            yield from inexact(tuple(marks) if type(marks) is frozenset else marks, f"{path}.{name}")
        yield from inexact(thing.memory, f"{path}.memory")
        if hasattr(thing, "__dict__"):
            yield f"{path}: has a dictionary"
    elif kind not in (int, bool, str, date, datetime, type(None)) and not callable(thing):
        yield f"{path}: {kind.__name__}"


MAY_BE_NONE = ("people", "bias", "high", "sensitivity", "step", "smallest_group")
MAY_BE_A_LIST = ("scale", "within")
AGGREGATES = [
    (cls, given, path)
    for cls, given in EVERY
    for path in leaves(given)
    if path[0] not in ("universe", "elements")  # values that people have: names, not numbers
]
IDS = [f"{cls.__name__}-{'-'.join(map(str, path))}" for cls, _, path in AGGREGATES]
every_example = pytest.mark.parametrize(("cls", "given"), EVERY, ids=[cls.__name__ for cls, _ in EVERY])


def test_every_example_of_the_file_is_built():
    text = (ROOT / "tests" / "examples.py").read_text(encoding="utf-8")
    for name in ("SquaredError", "AbsoluteError", "Usefulness", "ErrorQuantile"):
        written = len(re.findall(rf"^    \(?nw\.{name}\b", text, re.M))
        assert written == sum(cls is getattr(nw, name) for cls, _ in EVERY) == 2, name


def test_every_record_has_an_example():
    missing = sorted(cls.__name__ for cls in records() if cls not in EXAMPLES)
    assert not missing, f"give tests/examples.py an example of {', '.join(missing)}"
    assert len(EXAMPLES) >= 90


@every_example
def test_an_example_is_exact_and_survives_copies_pickles_and_its_plain_form(cls, given):
    made = cls(**given)
    assert list(inexact(made)) == []
    assert copy.copy(made) is made
    assert copy.deepcopy(made) is made
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301  # its own bytes
    assert hash(made) == hash(cls(**given))
    if cls.__name__ not in ("Universe", "Expected"):
        again = type(made).from_dict(made.to_dict())
        assert again == made or again.to_dict() == made.to_dict()
        assert again.digest == made.digest


@pytest.mark.parametrize(("cls", "given", "path"), AGGREGATES, ids=IDS)
def test_numbers_of_every_kind_become_exact_or_are_refused(cls, given, path):
    number, taken = at(given, path), 0
    for kind, make in KINDS.items():
        if number < 0 and kind.startswith("uint"):
            continue
        try:
            made = cls(**replaced(given, path, make(number)))
        except NoisewrightError:
            continue
        taken += 1
        assert list(inexact(made)) == [], kind
        held = getattr(made, path[0], None)
        if len(path) == 1 and type(held) is Fraction and not kind.startswith(("int", "uint")):
            near = kind == "mpf" or number == THIRD
            assert held == number or (near and abs(held - number) < Fraction(1, 2**9)), kind
    assert taken >= 2


@pytest.mark.parametrize(("cls", "given", "path"), AGGREGATES, ids=IDS)
def test_what_is_no_number_is_refused_by_every_numeric_field(cls, given, path):
    for kind, wrong in NEVER.items():
        if (kind == "None" and path[0] in MAY_BE_NONE) or (kind in ("list", "array") and path[0] in MAY_BE_A_LIST):
            continue
        try:
            made = cls(**replaced(given, path, wrong))
        except NoisewrightError:
            continue
        pytest.fail(f"{kind} was taken: {made!r}")


@every_example
def test_arrays_of_every_type_become_tuples_of_exact_numbers(cls, given):
    for name, value in given.items():
        if not isinstance(value, list | tuple) or not list(leaves(value)) or name == "universe":
            continue
        for dtype in ("float64", "float32", "int64", "int16", "object", "longdouble"):
            try:
                array = np.array(value, dtype=object).astype(dtype)
            except (TypeError, ValueError):
                continue
            try:
                made = cls(**{**given, name: array})
            except NoisewrightError:
                continue
            assert list(inexact(made)) == [], (name, dtype)


@every_example
def test_no_attribute_of_a_record_can_be_changed(cls, given):
    made = cls(**given)
    plain = repr(made)
    for name in [*made.CARD.fields, "CARD", "another"]:
        with pytest.raises((AttributeError, TypeError)):
            setattr(made, name, 5)
        with pytest.raises((AttributeError, TypeError)):
            delattr(made, name)
    with pytest.raises(TypeError):
        made.__setstate__([5, 5, 5])
    if made.CARD.given:
        with pytest.raises((TypeError, NoisewrightError)):
            made.construct(**{name: getattr(made, name) for name in made.CARD.given})
        with pytest.raises((TypeError, NoisewrightError)):
            made.__init__(**given)  # type: ignore[misc]  # on purpose
    assert repr(made) == plain


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.longdouble("0.1"), Fraction(1, 10)),
        (0.1 + 0.2, Fraction(0.1 + 0.2)),
        (np.float32(1) / np.float32(3), Fraction("0.33333334")),
        (np.longdouble(0.1), Fraction(0.1)),
        (mpmath.mpf(0.1), Fraction(0.1)),
        (1e22, Fraction(10**22)),
        (-0.0, Fraction(0)),
        (5e-324, Fraction("5e-324")),
    ],
    ids=repr,
)
def test_a_float_means_the_same_number_as_a_parameter_and_as_an_answer(given, exact):
    assert parameter(given, "x") == data_value(given) == exact
