"""Solutions of linear programmes by problem digest: in this process, and in the user's cache folder.

What is stored is a suggestion like any other: a mechanism read back is certified again, a bound is proven again
from its multipliers, and a file whose digest does not fit its content is ignored. NOISEWRIGHT_CACHE names another
folder; set to nothing or "off", it keeps solutions in this process only.
"""

from __future__ import annotations

import gzip
import json
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.mechanisms.rows import Rows
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.queries import Bounded
from noisewright.problem.records import digest
from noisewright.search.programmes.bounded import Multipliers
from noisewright.search.programmes.layout import Size
from noisewright.search.tools.cache import cache_folder

_FORMAT = "noisewright bounded solution, version 2"
_LARGEST_FILE = 2**26
_LARGEST_MULTIPLIER = 2.0**60
_DAMAGED = (
    OSError,
    EOFError,
    zlib.error,
    ValueError,
    KeyError,
    TypeError,
    ArithmeticError,
    RecursionError,
    NoisewrightError,
)


@dataclass(frozen=True, eq=False)
class Stored:
    """A mechanism, and multipliers from which a bound can be proven; each None where there is none."""

    mechanism: Rows | None
    multipliers: Multipliers | None


def problem_digest(query: Bounded, epsilon: Fraction, utility: Any, size: Size) -> str:
    """Fingerprint of everything that determines the solution."""
    return digest(
        {
            "format": _FORMAT,
            "query": query.to_dict(),
            "epsilon": str(epsilon),
            "utility": utility.to_dict(),
            "size": [size.inputs, size.outputs],
        }
    )


class Memory:
    """A dictionary that also lives in a folder; without a folder it forgets with the process."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, Stored] = {}

    def get(self, key: str) -> Stored | None:
        """What was stored under a key, or None; a file that is damaged or foreign counts as none."""
        if key not in self._known and self._folder is not None:
            found = _read(self._folder / f"{key}.json.gz")
            if found is not None:
                self._known[key] = found
        return self._known.get(key)

    def put(self, key: str, value: Stored) -> None:
        """Store a solution; a folder that cannot be written to is left alone."""
        self._known[key] = value
        if self._folder is None:
            return
        content = {
            "format": _FORMAT,
            "mechanism": None if value.mechanism is None else value.mechanism.to_dict(),
            "multipliers": None if value.multipliers is None else _plain(value.multipliers),
        }
        text = json.dumps({**content, "digest": digest(content)})
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(gzip.compress(text.encode("ascii"), 1))
            Path(file.name).replace(self._folder / f"{key}.json.gz")
        except OSError:
            return


_process_memory: dict[Path | None, Memory] = {}


def user_memory() -> Memory:
    """The memory in the user's cache folder."""
    folder = cache_folder()
    return _process_memory.setdefault(folder, Memory(folder))


def forget() -> None:
    """Empty what this process remembers (not the folder)."""
    _process_memory.clear()


def _read(path: Path) -> Stored | None:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            return None
        data = json.loads(gzip.decompress(path.read_bytes()))
        content = {key: data[key] for key in ("format", "mechanism", "multipliers")}
        if data["digest"] != digest(content) or content["format"] != _FORMAT:
            return None
        mechanism = None if content["mechanism"] is None else Rows.from_dict(content["mechanism"])
        return Stored(mechanism, None if content["multipliers"] is None else _multipliers(content["multipliers"]))
    except _DAMAGED:
        return None


def _plain(multipliers: Multipliers) -> dict[str, Any]:
    first, second, values = multipliers.pairs
    return {
        "counts": multipliers.counts.tolist(),
        "mass": multipliers.mass.tolist(),
        "mean": multipliers.mean.tolist(),
        "pairs": [first.tolist(), second.tolist(), values.tolist()],
    }


def _multipliers(data: Mapping[str, Any]) -> Multipliers:
    """Inverse of `_plain`; ValueError where the numbers are none, or too large for sums in whole numbers."""
    counts, mass, mean = (np.array(data[name], dtype=np.float64) for name in ("counts", "mass", "mean"))
    first, second = (np.array(places, dtype=np.int64) for places in data["pairs"][:2])
    values = np.array(data["pairs"][2], dtype=np.float64)
    for numbers in (counts, mass, mean, values):
        if not (np.abs(numbers) <= _LARGEST_MULTIPLIER).all():
            raise ValueError("multipliers must be finite numbers of a moderate size")
    return Multipliers(counts, mass, mean, (first, second, values))
