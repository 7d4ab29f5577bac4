"""No dictionary is written with the same key twice: Python keeps the last entry and says nothing of the first."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, parse
from tests.tree import tracked


def doubled(tree: ast.AST) -> list[str]:
    """Every key that a dictionary gives again, with its line; a call may give another value each time."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = [key for key in node.keys if key and not any(isinstance(part, ast.Call) for part in ast.walk(key))]
            seen: set[str] = set()
            for key in keys:
                text = repr(key.value) if isinstance(key, ast.Constant) else ast.unparse(key)
                found += [f"line {key.lineno}: {text}"] if text in seen else []
                seen.add(text)
    return found


def test_a_key_that_is_given_again_is_found():
    code = "{nw.Usefulness: 1, 'a': 2, \"a\": 3, (1, x): 4, **{'a': 5}, (1, x): 6, f(): 7, f(): 8, nw.Usefulness: 9}"
    assert doubled(ast.parse(code)) == ["line 1: 'a'", "line 1: (1, x)", "line 1: nw.Usefulness"]


@pytest.mark.parametrize("path", tracked(ROOT, ".py"), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_dictionary_names_a_key_twice(path: Path):
    assert doubled(parse(path)) == []
