"""What someone can do to a saved mechanism who knows how the seals are made."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.renewed import mechanism_from_dict
from noisewright.problem.records import digest
from tests.brute import privacy_loss

Path = tuple[Any, ...]


def leaves(data: Any, path: Path = ()) -> Iterator[Path]:
    """Where every single value stands."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(value, (*path, key))
    else:
        yield path


def at(data: Any, path: Path) -> Any:
    """What stands there."""
    for key in path:
        data = data[key]
    return data


def put(data: Any, path: Path, value: Any) -> Any:
    """A copy with another value there."""
    changed = copy.deepcopy(data)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def resealed(data: dict[str, Any], *, bound: bool = True) -> dict[str, Any]:
    """The same with every seal renewed: the mechanism's digest, the true bound if asked for, the digest of it all."""
    changed = copy.deepcopy(data)
    certificate = changed["certificate"]
    if isinstance(certificate, dict) and isinstance(changed["mechanism"], dict):
        certificate["mechanism"] = digest(changed["mechanism"])
        if bound:
            certificate["bound"] = str(_true_bound(changed["mechanism"]) or certificate["bound"])
    content = {key: value for key, value in changed.items() if key != "digest"}
    return {**changed, "digest": digest(content)}


def _true_bound(mechanism: dict[str, Any]) -> Fraction | None:
    try:
        made = mechanism_from_dict(mechanism)
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    reach: Fraction = made.query.sensitivity
    return None if reach > 100 else privacy_loss(made.law, reach)  # type: ignore[attr-defined]
