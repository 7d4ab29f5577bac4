"""Public names, each written once: in the stub (.pyi) beside the namespace that offers it.

Type checkers read the stubs, and so does this module: it loads a name from its home when it is first used. Importing
noisewright reads and loads nothing, and a namespace may offer what lives in layers above its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


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
    """The namespaces that the package offers, by the names under which they are imported."""
    return [f"noisewright.{name}" for name, home in homes("noisewright").items() if home == "noisewright"]


def opened(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__`, which also knows `__all__`, and the `__dir__` of a namespace."""

    def load(name: str) -> Any:
        places = homes(package)
        if name == "__all__":  # a namespace's own submodules are offered but not exported
            return sorted(public for public, home in places.items() if home != package)
        if name not in places:
            there = [space for space in namespaces() if name in homes(space)] if package == "noisewright" else []
            hint = f"; it is nw.{there[0].partition('.')[2]}.{name}" if there else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        home = places[name]
        value = import_module(f"{home}.{name}") if home == package else getattr(import_module(home), name)
        setattr(import_module(package), name, value)
        return value

    def listed() -> list[str]:
        return sorted([*homes(package), *(["__version__"] if package == "noisewright" else [])])

    return load, listed


RENDERED = {
    "report": "noisewright.app.reports.writing:write",
    "report_from_dict": "noisewright.search.saved:report_from_dict",
}
"""Methods of mechanisms, plans, ledgers and reports whose work is done by a package to their right: method → function.

This table is the only way past the import contract, and `rendered` the only one who reads it.
"""


def rendered(method: str) -> Callable[..., Any]:
    """The function that does the work of a method."""
    module, _, name = RENDERED[method].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


class Reported:
    """Something with a page of its own: mechanisms, plans, ledgers."""

    __slots__ = ()

    def report(self, path: str | Path) -> None:
        """Write a page to hand over, one .html file with everything inside: guarantee, odds, proof, errors, cost.

        It has pictures, needs nothing from elsewhere and runs no script; it says how to verify what it holds.
        """
        rendered("report")(self, path)
