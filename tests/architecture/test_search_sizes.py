"""The search stays in few files and lets things answer for themselves: no algorithm grows a ladder of type tests."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.source import PACKAGE, modules, parse

SEARCH = PACKAGE / "search"
MOST_FILES = 60
"""In the packages inside `search`."""
FEWER_TYPE_TESTS = 60


def asks_for_a_type(node: ast.AST) -> bool:
    """Whether the node is an `isinstance`, a comparison with `type(x)` or a case that matches a class."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in {"isinstance", "issubclass"}
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(isinstance(s, ast.Call) and isinstance(s.func, ast.Name) and s.func.id == "type" for s in sides)
    return isinstance(node, ast.MatchClass)


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("isinstance(x, int) or issubclass(y, int)", 2),
        ("type(x) is int and int is type(x) and type(x) in kinds", 3),
        ("match x:\n    case Box(each=e) | Points():\n        pass\n    case 1:\n        pass", 2),
        ("table[type(x)](x).isinstance(y) == kind", 0),
    ],
)
def test_type_tests_are_recognised(code: str, count: int):
    assert sum(map(asks_for_a_type, ast.walk(ast.parse(code)))) == count


def test_the_packages_of_search_have_few_files():
    held = sorted(str(path.relative_to(SEARCH)) for path in modules(SEARCH) if path.parent != SEARCH)
    assert len(held) <= MOST_FILES, "let a neighbour hold what is new"


def test_the_search_hardly_asks_what_type_a_thing_has():
    found = [
        f"{path.relative_to(SEARCH)}:{getattr(node, 'lineno', 0)}"
        for path in modules(SEARCH)
        for node in ast.walk(parse(path))
        if asks_for_a_type(node)
    ]
    assert len(found) < FEWER_TYPE_TESTS, "let the query, requirement, utility, set or law answer for itself"


def test_the_search_asserts_nothing():
    found = [
        f"{path.relative_to(SEARCH)}:{node.lineno}"
        for path in modules(SEARCH)
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Assert)
    ]
    assert found == [], "return what cannot be missing, or raise an error that says what to do"
