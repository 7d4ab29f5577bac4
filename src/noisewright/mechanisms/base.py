"""What a mechanism is."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.records import Family

MECHANISMS: Family[Any] = Family("a mechanism such as Additive(query, law, lattice)", InvalidMechanismError)
"""Every kind of mechanism by the name it has in files."""


@runtime_checkable
class Mechanism(Protocol):
    """Maps a true answer to the law of the released one; built from a problem, knows no randomness."""

    @property
    def query(self) -> Any:
        """The question it answers."""
        ...

    @property
    def digest(self) -> str:
        """Fingerprint of everything that determines what is drawn."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data with exact numbers as text; `mechanisms.registry.mechanism_from_dict` inverts it."""
        ...
