"""Solutions of linear programmes by problem digest: in this process, and in the user's cache folder.

What is stored is a suggestion like any other: a mechanism read back is certified again, and a file
whose digest does not fit its content is ignored. NOISEWRIGHT_CACHE names another folder; set to
nothing or "off", it keeps solutions in this process only.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from noisewright.mechanisms.rows import Rows
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.queries import Bounded
from noisewright.problem.records import digest
from noisewright.search.bounded.layout import Size
from noisewright.search.cache import cache_folder

_FORMAT = "noisewright bounded solution, version 1"


@dataclass(frozen=True, slots=True)
class Solved:
    """A mechanism and a bound from below, each None where there is none."""

    mechanism: Rows | None
    bound: Fraction | None


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
    """A dictionary that also lives in a folder; without a folder it forgets with the process.

    `reports` holds whole reports of this process by the same digest.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, Solved] = {}
        self.reports: dict[str, Any] = {}

    def get(self, key: str) -> Solved | None:
        """What was stored under a key, or None; a file that is damaged or foreign counts as none."""
        if key not in self._known and self._folder is not None:
            found = _read(self._folder / f"{key}.json.gz")
            if found is not None:
                self._known[key] = found
        return self._known.get(key)

    def put(self, key: str, value: Solved) -> None:
        """Store a solution; a folder that cannot be written to is left alone."""
        self._known[key] = value
        if self._folder is None:
            return
        content = {
            "format": _FORMAT,
            "mechanism": None if value.mechanism is None else value.mechanism.to_dict(),
            "bound": None if value.bound is None else str(value.bound),
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


def _read(path: Path) -> Solved | None:
    try:
        data = json.loads(gzip.decompress(path.read_bytes()))
        content = {key: data[key] for key in ("format", "mechanism", "bound")}
        if data["digest"] != digest(content) or content["format"] != _FORMAT:
            return None
        mechanism = None if content["mechanism"] is None else Rows.from_dict(content["mechanism"])
        return Solved(mechanism, None if content["bound"] is None else Fraction(content["bound"]))
    except (OSError, EOFError, ValueError, KeyError, TypeError, NoisewrightError):
        return None
