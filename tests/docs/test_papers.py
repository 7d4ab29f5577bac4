"""The page of papers names only what exists: every test, every name of the package; and every row has both."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
from functools import cache
from pathlib import Path

import pytest

from noisewright.lab.registry import REPRODUCTIONS
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "papers.md"
_CODE = re.compile(r"`([^`]+)`")
_TEST = re.compile(r"tests/[\w/]+\.py(::\w+)*")
_NAME = re.compile(r"(?:noisewright|nw)(?:\.\w+)+")
_WRITER = runpy.run_path(str(ROOT / "docs" / "make_papers.py"))


def _rows() -> list[str]:
    """The rows of the tables of the part that says where everything is."""
    part = PAGE.read_text(encoding="utf-8").partition("## Where everything is")[2]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    rules = {i for i, line in enumerate(lines) if set(line) <= set("|-: ")}
    return [line for i, line in enumerate(lines) if i not in rules and i + 1 not in rules]


@cache
def _functions(path: Path) -> frozenset[str]:
    """Functions of a file, and methods as Class::method."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
    return frozenset(found)


def missing_test(reference: str) -> str | None:
    """What is wrong with a path to a test, or None."""
    path, _, function = reference.partition("::")
    if not (ROOT / path).is_file():
        return f"there is no {path}"
    if function and function not in _functions(ROOT / path):
        return f"{path} has no {function}"
    return None


def missing_name(dotted: str) -> str | None:
    """What is wrong with a dotted name of the package, or None."""
    parts = ["noisewright", *dotted.split(".")[1:]]
    for cut in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if not hasattr(thing, part) and part not in getattr(thing, "__dataclass_fields__", {}):
                return f"{dotted}: {part} is not there"
            thing = getattr(thing, part, None)
        return None
    return f"{dotted}: no such module"


def faults(row: str) -> list[str]:
    """What is wrong with a row of a table."""
    codes = _CODE.findall(row)
    tests = [match[0] for code in codes for match in _TEST.finditer(code)]
    names = [match[0] for code in codes for match in _NAME.finditer(_TEST.sub("", code))]
    found = [fault for fault in (*map(missing_test, tests), *map(missing_name, names)) if fault]
    if not tests:
        found.append("it names no test")
    if "lab only" in row.lower():
        found.append("it is in the lab only")
    return found


def test_every_row_names_tests_and_code_that_exist():
    assert [f"{row[:60]}: {fault}" for row in _rows() for fault in faults(row)] == []


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("| Theorem 1 | `noisewright.design` | `tests/docs/test_papers.py` |", None),
        (
            "| Theorem 1 | `nw.PureDP` | `tests/docs/test_papers.py::test_a_wrong_row_is_noticed` |",
            None,
        ),
        ("| Theorem 1 | `noisewright.design` | |", "it names no test"),
        ("| Theorem 1 | `noisewright.devise` | `tests/docs/test_papers.py` |", "devise is not there"),
        ("| Theorem 1 | `noisewright.lab.nothing.f` | `tests/docs/test_papers.py` |", "nothing is not there"),
        ("| Theorem 1 | `noisewright.design` | `tests/docs/test_paper.py` |", "there is no tests/docs/test_paper.py"),
        ("| Theorem 1 | `noisewright.design` | `tests/docs/test_papers.py::test_none` |", "has no test_none"),
        ("| Theorem 1 | lab only | `tests/docs/test_papers.py` |", "it is in the lab only"),
    ],
)
def test_a_wrong_row_is_noticed(row: str, fault: str | None):
    found = faults(row)
    assert found == [] if fault is None else any(fault in each for each in found), found


def test_the_verdicts_of_a_run_are_written_into_the_page(tmp_path: Path):
    for name in REPRODUCTIONS:
        (tmp_path / name).mkdir()
        text = "where,the paper says,found,verdict\nTheorem 1,a_b < c,it is 5,fails\nTheorem 2,d,it is 6,holds\n"
        (tmp_path / name / "claims.csv").write_text(text, encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    written = _WRITER["with_verdicts"](page, _WRITER["claims"](tmp_path))
    assert written.count("- Theorem 1: “a\\_b \\< c” — it is 5") == len(REPRODUCTIONS)
    assert "Theorem 2: " not in _WRITER["section"](_WRITER["claims"](tmp_path))
    assert f"| `{next(iter(REPRODUCTIONS))}` | 1 | 1 |" in written
    assert _WRITER["with_verdicts"](written, _WRITER["claims"](tmp_path)) == written


def test_the_page_has_the_verdicts_of_every_paper():
    part = PAGE.read_text(encoding="utf-8").partition(_WRITER["BEGIN"])[2].partition(_WRITER["END"])[0]
    assert all(f"| `{name}` |" in part for name in REPRODUCTIONS)
