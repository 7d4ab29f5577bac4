"""Public names, each written once: in the stub (.pyi) beside the namespace that offers it.

Type checkers read the stubs, and so does this module: it loads a name from its home when it is first used. Importing
noisewright reads and loads nothing, and a namespace may offer what lives in rooms to its right.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

REPLACED = {
    "BoundedReport": "nw.Report",
    "CoordinateUsefulness": "nw.Usefulness(within, weights=...)",
    "LargestErrorQuantile": "nw.ErrorQuantile",
    "LinearReport": "nw.Report",
    "RangedNoise": "nw.mechanisms.Truncated",
    "RangedScalar": "nw.Scalar(inputs=..., outputs=...)",
    "composed_delta": "nw.compose([(certified, times), ...]).delta(epsilon)",
    "composed_epsilon": "nw.compose([(certified, times), ...]).epsilon(delta)",
    "TotalAbsoluteError": "nw.AbsoluteError(weights=...)",
    "TotalSquaredError": "nw.SquaredError(weights=...)",
    "VectorReport": "nw.Report",
    "generalized_gaussian": "nw.laws.generalized_gaussians",
    "ranged_mechanism": "nw.lab.range_limited",
}
"""Names of earlier versions that did not only move to a namespace."""


@cache
def homes(package: str) -> dict[str, str]:
    """By public name of a package or module of noisewright, the module that its stub takes it from."""
    import re  # here, not above: importing noisewright does not wait for them
    from pathlib import Path

    place = Path(__file__).parent.joinpath(*package.split(".")[1:])
    stub = place / "__init__.pyi" if place.is_dir() else place.with_suffix(".pyi")
    found = re.findall(r"^from (\S+) import (\([^)]*\)|.*)$", stub.read_text(encoding="utf-8"), re.M)
    return {name: module for module, names in found for name in re.findall(r"\w+(?= as )", names)}


def namespaces() -> list[str]:
    """The namespaces that the front door offers, by the names under which they are imported."""
    return [f"noisewright.{name}" for name, home in homes("noisewright").items() if home == "noisewright"]


def moved(name: str) -> str | None:
    """What a name that is not at the front door is called now; None if it is not public at all."""
    spaces = [space.replace("noisewright", "nw") for space in namespaces() if name in homes(space)]
    return REPLACED.get(name) or next((f"{space}.{name}" for space in spaces), None)


def opened(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__`, which also knows `__all__`, and the `__dir__` of a namespace."""

    def load(name: str) -> Any:
        places = homes(package)
        if name == "__all__":  # a namespace's own submodules are offered but not exported
            return sorted(public for public, home in places.items() if home != package)
        if name not in places:
            raise _unknown(package, name, sys._getframe(1).f_code.co_name == "_handle_fromlist")
        home = places[name]
        value = import_module(f"{home}.{name}") if home == package else getattr(import_module(home), name)
        setattr(import_module(package), name, value)
        return value

    def listed() -> list[str]:
        return sorted([*homes(package), *(["__version__"] if package == "noisewright" else [])])

    return load, listed


def write_page(thing: Any, path: Any) -> None:
    """Write the page of a report, a mechanism, a plan or a ledger; pages are made by the room that renders."""
    import_module("noisewright.app.reports.writing").write(thing, path)


def _unknown(package: str, name: str, importing: bool) -> Exception:
    """What to raise for a name that is not there; `from ... import` swallows every error but an ImportError."""
    inside = REPLACED.get(name) if package == "noisewright.mechanisms" else None
    place = moved(name) if package == "noisewright" else inside
    if place is None:
        return AttributeError(f"module {package!r} has no attribute {name!r}")
    message = f"{package.replace('noisewright', 'nw')}.{name} is now {place}."
    if importing:
        return ImportError(message, name=package)
    from noisewright.problem.errors import MovedNameError

    return MovedNameError(message, now=place)
