"""The page of papers names only what exists: every test, every name of the package; and every row has both."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from noisewright.lab.reproductions import REPRODUCTIONS
from tests.architecture.source import PACKAGE, modules
from tests.docs.pages import ROOT
from tests.tree import tracked

PAGE = ROOT / "docs" / "papers.md"
_CODE = re.compile(r"`([^`]+)`")
_FILE = re.compile(r"(?<![\w/])(?:noisewright/)?[a-z_]+(?:/\w+)*\.py")
_TEXT = re.compile(r"\"[^\"]*\"|'[^']*'")
_DOTTED = re.compile(r"(?:noisewright|nw)(?:\.\w+)+")
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
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


def missing_tests(cell: str) -> list[str]:
    """What is wrong with the tests a cell names; `::name` alone is in the file named before it."""
    found, path = [], None
    codes = _CODE.findall(cell)
    for code in codes:
        file, *functions = code.split("::")
        if file:
            path = ROOT / "tests" / file.removeprefix("tests/")
        if path is None or not path.is_file():
            found.append(f"there is no test {code}")
        elif functions and "::".join(functions) not in _functions(path):
            found.append(f"{path.name} has no {'::'.join(functions)}")
    return found if codes else ["it names no test"]


def missing_name(dotted: str) -> str | None:
    """What is wrong with a dotted name of the package, or None."""
    parts = ["noisewright", *dotted.split(".")[1:]]
    for cut in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if not hasattr(thing, part) and part not in getattr(thing, "__dataclass_fields__", {}):
                return f"{dotted}: {part} is not there"
            thing = getattr(thing, part, None)
        return None
    return f"{dotted}: no such module"


@cache
def _defined() -> frozenset[str]:
    """Every name the package gives to anything: modules, classes, functions, fields, arguments, commands and texts."""
    found = {"reproduce", "noisewright", "tests"}
    for path in modules():
        found |= {path.stem, path.parent.name}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 40:
                found |= set(_WORD.findall(node.value))
    return frozenset(found)


def missing_names(cell: str) -> list[str]:
    """What is wrong with the files and names of the package that a cell names."""
    found = []
    for code in _CODE.findall(cell):
        dotted = _DOTTED.findall(code)
        found += [fault for fault in map(missing_name, dotted) if fault]
        files = [] if dotted else _FILE.findall(code)
        found += [
            f"there is no {f}"
            for f in files
            if not (ROOT / f).is_file() and not any(path.match(f) for path in tracked(PACKAGE))
        ]
        words = _WORD.findall(_FILE.sub("", _TEXT.sub("", code))) if not dotted else []
        found += [f"nothing is called {word}" for word in words if word not in _defined()]
    return found


def faults(row: str) -> list[str]:
    """What is wrong with a row of a table: item, words, where it is, the test that runs it."""
    cells = [cell.strip() for cell in row.strip().strip("|").replace("\\|", "¦").split("|")]
    found = [*missing_names(cells[-2]), *missing_tests(cells[-1])]
    if not cells[-2]:
        found.append("it does not say where it is")
    if "lab only" in row.lower():
        found.append("it is in the lab only")
    return found


def test_every_row_names_tests_and_code_that_exist():
    assert [f"{row[:60]}: {fault}" for row in _rows() for fault in faults(row)] == []


@pytest.mark.parametrize(
    ("where", "test", "fault"),
    [
        ("`noisewright.design`", "`docs/test_papers.py`", None),
        ("`nw.PureDP`, `PureDP(epsilon)`", "`tests/docs/test_papers.py`, `::test_a_wrong_row_is_noticed`", None),
        ("`proof/metric.py: certify`", "`docs/test_papers.py::test_a_wrong_row_is_noticed`", None),
        ("`noisewright.design`", "", "it names no test"),
        ("", "`docs/test_papers.py`", "it does not say where it is"),
        ("`noisewright.devise`", "`docs/test_papers.py`", "devise is not there"),
        ("`noisewright.lab.nothing.f`", "`docs/test_papers.py`", "nothing is not there"),
        ("`proof/metrical.py`", "`docs/test_papers.py`", "there is no proof/metrical.py"),
        ("`LaplaceOfTheMoon(1)`", "`docs/test_papers.py`", "nothing is called LaplaceOfTheMoon"),
        ("`PureDP`", "`docs/test_paper.py`", "there is no test docs/test_paper.py"),
        ("`PureDP`", "`docs/test_papers.py::test_none`", "test_papers.py has no test_none"),
        ("`PureDP`", "`docs/test_papers.py`, `::test_none`", "test_papers.py has no test_none"),
        ("lab only", "`docs/test_papers.py`", "it is in the lab only"),
    ],
)
def test_a_wrong_row_is_noticed(where: str, test: str, fault: str | None):
    found = faults(f"| Theorem 1 | what it says | {where} | {test} |")
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


def test_the_page_has_verdicts_of_papers_that_exist():
    part = PAGE.read_text(encoding="utf-8").partition(_WRITER["BEGIN"])[2].partition(_WRITER["END"])[0]
    names = re.findall(r"^\| `([\w-]+)` \|", part, re.M)
    assert names
    assert set(names) <= set(REPRODUCTIONS)
