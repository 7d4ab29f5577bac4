"""What was solved, by the digest of its problem: in this process, and between runs in the user's cache folder.

NOISEWRIGHT_CACHE names another folder; set to nothing or "off", it keeps solutions in this process only.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from noisewright.problem.errors import NoisewrightError
from noisewright.problem.records import digest

_LARGEST_FILE = 2**28
_MOST_KEPT = 256
DAMAGED = (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, ArithmeticError, RecursionError)
"""What reading a file can raise that is damaged, foreign or edited."""


class Cache:
    """A dictionary that also lives in a folder; without a folder it forgets with the process.

    What a file holds is a suggestion, and whoever asks for it says how it is restored and checked. A file that is
    damaged, foreign, too large or edited without its digest counts as none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, Any] = {}

    def get(self, name: str, restore: Callable[[Any], Any] | None = None) -> Any:
        """What is known by a name, in this process or as `restore` makes it of its file's content; else None."""
        if name not in self._known and restore and self._folder:
            try:
                found = restore(read_kept(self._folder / f"{name}.json.gz"))
            except (*DAMAGED, NoisewrightError):
                return None
            if found is not None:
                self.put(name, found)
        return self._known.get(name)

    def put(self, name: str, value: Any, content: Callable[[], Any] | None = None) -> None:
        """Keep a value, and in the folder its content; a folder that cannot be written to is left alone."""
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        self._known[name] = value
        if content is None or self._folder is None:
            return
        try:
            data = content()
            text = json.dumps({"content": data, "digest": digest(data)})
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(gzip.compress(text.encode("ascii"), 1))
            Path(file.name).replace(self._folder / f"{name}.json.gz")
        except (OSError, ValueError):
            return


_of_process: dict[Path | None, Cache] = {}


def user_cache() -> Cache:
    """The cache in the folder that the user's environment names."""
    folder = _folder()
    return _of_process.setdefault(folder, Cache(folder))


def forget() -> None:
    """Empty what this process knows (not the folder)."""
    _of_process.clear()


def read_kept(path: Path) -> Any:
    """The content of a file; refused where its digest does not fit, or where it is too large."""
    with gzip.open(path) as file:
        text = file.read(_LARGEST_FILE + 1)
    data = json.loads(text) if len(text) <= _LARGEST_FILE else {}
    if data["digest"] != digest(data["content"]):
        raise ValueError("the digest does not fit the content")
    return data["content"]


def _folder() -> Path | None:
    """NOISEWRIGHT_CACHE if set, else noisewright in the user's cache folder."""
    named = os.environ.get("NOISEWRIGHT_CACHE")
    if named is not None:
        return None if named in ("", "off") else Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "noisewright"
    except RuntimeError:
        return None
