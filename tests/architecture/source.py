"""The repository's own files, for the tests that read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.tree import PACKAGE as PACKAGE, ROOT as ROOT, tracked


def modules(folder: Path = PACKAGE) -> list[Path]:
    """Every Python file below a folder."""
    found = tracked(folder, ".py")
    assert found, f"no Python files below {folder}"
    return found


def parse(path: Path) -> ast.Module:
    """The syntax tree of one file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Full dotted names of all that a module imports, inside functions too, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def dotted(node: ast.expr) -> str | None:
    """`a.b.c` as text, for attribute chains that start at a name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        left = dotted(node.value)
        return None if left is None else f"{left}.{node.attr}"
    return None
