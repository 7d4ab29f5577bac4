"""The error tree drawn in the module is the error tree of the code."""

from __future__ import annotations

import builtins
import inspect
import pickle
import re

import pytest

from noisewright.problem import errors

_LINE = re.compile(r"^(?P<indent>[│├└─ ]*)(?P<name>\w+Error|BudgetExceeded)\b(?: \((?P<builtin>\w+)\))?")
_BUILTIN_ERRORS = {kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, Exception)}


def _drawn() -> dict[str, tuple[str | None, str | None]]:
    """Name -> (parent, built-in) as drawn; four characters of indent per level."""
    tree: dict[str, tuple[str | None, str | None]] = {}
    path: list[str] = []
    for line in inspect.getdoc(errors).splitlines():  # type: ignore[union-attr]
        if match := _LINE.match(line):
            depth = len(match["indent"]) // 4
            path[depth:] = [match["name"]]
            tree[match["name"]] = (path[depth - 1] if depth else None, match["builtin"])
    return tree


def _classes() -> list[type[Exception]]:
    return [
        kind
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, Exception) and kind.__module__ == errors.__name__
    ]


def test_the_drawing_lists_every_class_and_no_other():
    assert set(_drawn()) == {kind.__name__ for kind in _classes()}


@pytest.mark.parametrize("kind", _classes(), ids=lambda kind: kind.__name__)
def test_a_class_hangs_where_it_is_drawn(kind: type[Exception]):
    parent, builtin = _drawn()[kind.__name__]
    if kind is errors.NoisewrightError:
        assert parent is None
        return
    assert kind.__bases__[0].__name__ == parent
    assert issubclass(kind, errors.NoisewrightError)
    if builtin is not None:
        assert issubclass(kind, getattr(builtins, builtin))


@pytest.mark.parametrize("kind", _classes(), ids=lambda kind: kind.__name__)
def test_a_class_is_also_the_built_in_a_caller_expects(kind: type[Exception]):
    if kind is errors.NoisewrightError:
        return
    assert _BUILTIN_ERRORS.intersection(kind.__mro__) - {Exception}


@pytest.mark.parametrize("kind", _classes(), ids=lambda kind: kind.__name__)
def test_an_error_carries_its_fields_and_survives_pickling(kind: type[errors.NoisewrightError]):
    error = kind("what was given, what is allowed", requested=3, remaining=2)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes, made on this line
    for copy in (error, again):
        assert str(copy) == "what was given, what is allowed"
        assert (copy.requested, copy.remaining) == (3, 2)
        with pytest.raises(AttributeError):
            _ = copy.nothing_of_the_kind
