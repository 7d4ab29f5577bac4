"""The map at the top of a package names every module of the package, and nothing that is not there.

A module whose names are public may be left out: the stub of the package names it already.
"""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, modules, parse

_LINE = re.compile(r"^- (?P<names>[\w*, ]+): \S", re.M)
PACKAGES = [path.parent for path in modules() if path.name == "__init__.py" and path.parent != PACKAGE]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: str(package.relative_to(PACKAGE)))
def test_a_package_draws_its_map(package: Path):
    drawn = ast.get_docstring(parse(package / "__init__.py")) or ""
    named = [name for line in _LINE.finditer(drawn) for name in line["names"].split(", ")]
    held = {path.stem if path.parent == package else path.relative_to(package).parts[0] for path in modules(package)}
    held.discard("__init__")
    stub = package / "__init__.pyi"
    public = (
        set(re.findall(r"^from \S+\.(\w+) import", stub.read_text(encoding="utf-8"), re.M)) if stub.exists() else set()
    )
    assert len(named) == len(set(named)), "named twice"
    assert [name for name in held if name not in public and not any(fnmatch(name, pattern) for pattern in named)] == []
    assert [pattern for pattern in named if not any(fnmatch(name, pattern) for name in held)] == []
    assert len(drawn.splitlines()) <= 25
