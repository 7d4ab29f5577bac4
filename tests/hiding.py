"""A plugin of pytest that hides packages, as if they were not there: -p tests.hiding, HIDDEN=pyspark,playwright."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class Hidden(MetaPathFinder):
    """Finds nothing, and says so, for the packages that are hidden."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = set(names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """No module of a hidden package, whoever else would find it."""
        if fullname.partition(".")[0] in self._names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


sys.meta_path.insert(0, Hidden(os.environ.get("HIDDEN", "").split(",")))
