"""Every name a user can import from noisewright says what it does."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from noisewright.door import homes, namespaces
from noisewright.laws.base import Law
from noisewright.mechanisms.base import Mechanism
from noisewright.problem.privacy import Requirement

_PROTOCOLS = (Law, Mechanism, Requirement)
"""Their methods are documented once, there, and not again in every class that has them."""


def _documented_above(owner: type, attribute: str) -> bool:
    """Whether a class above, or a protocol, documents it: once is enough."""
    classes = (*owner.__mro__[1:], *(above for protocol in _PROTOCOLS for above in protocol.__mro__))
    return any(getattr(vars(above).get(attribute), "__doc__", None) for above in classes)


def _members(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """The thing itself, and for a class every public method and property that noisewright wrote."""
    yield name, thing
    if not inspect.isclass(thing):
        return
    for owner in thing.__mro__:
        if not owner.__module__.startswith("noisewright"):
            continue
        for attribute, value in vars(owner).items():
            if attribute.startswith("_") or _documented_above(owner, attribute):
                continue
            function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if inspect.isfunction(function) or isinstance(function, property):
                yield f"{name}.{attribute}", function


def _public() -> list[tuple[str, Any]]:
    spaces = ["noisewright", *namespaces()]
    named = [(f"{space}.{name}", getattr(import_module(space), name)) for space in spaces for name in homes(space)]
    things = [(name, thing) for name, thing in named if inspect.isclass(thing) or inspect.isroutine(thing)]
    return sorted({member: thing for pair in things for member, thing in _members(*pair)}.items())


@pytest.mark.parametrize(("name", "thing"), _public(), ids=[name for name, _ in _public()])
def test_public_names_are_documented(name: str, thing: Any):
    # A method may be documented once, in the class that declares it.
    doc = thing.__doc__ if inspect.isclass(thing) else inspect.getdoc(thing)
    assert doc, f"{name} has no docstring"
    assert doc.strip(), f"{name} has an empty docstring"
    generated = inspect.isclass(thing) and doc.startswith(f"{thing.__name__}(")
    assert not generated, f"{name} has only the docstring its dataclass made up"
