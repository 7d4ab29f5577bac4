"""Nothing but an engine's own folder knows its name: what there is to know of it is said by its registration."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from noisewright.release.engines.registry import GROUP, registered
from tests.architecture.source import PACKAGE, modules, parse

ENGINES = PACKAGE / "release" / "engines"
NAMES = re.compile("duckdb|duck|postgres|psycopg|spark|py4j", re.IGNORECASE)
LEDGER = ("ledger", "app/cli/ledger.py")
"""The store of a ledger may be PostgreSQL, whatever the tables are in."""
FORMS = re.compile(r"path\.duckdb::table|x\.duckdb::table")


def _said(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Names and texts of code; what docstrings say is for people."""
    told = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    told |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.lineno, node.value
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, " ".join([node.module or "", *(alias.name for alias in node.names)])
        elif isinstance(node, ast.Import):
            yield node.lineno, " ".join(alias.name for alias in node.names)


def _files() -> list[Path]:
    own = {ENGINES / path.relative_to(ENGINES).parts[0] for path in modules(ENGINES) if path.parent != ENGINES}
    others = [path for path in modules() if not any(folder in path.parents for folder in own)]
    return [path for path in others if not str(path.relative_to(PACKAGE)).startswith(LEDGER)]


def test_nothing_outside_of_its_folder_names_an_engine():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {said}"
        for path in _files()
        for line, said in _said(parse(path))
        if NAMES.search(said)
    ]
    assert found == []


def test_every_folder_of_an_engine_registers_itself():
    folders = {path.parent.name for path in modules(ENGINES) if path.name == "__init__.py"} - {ENGINES.name}
    assert folders
    assert {one.implementation.split(".")[3] for one in registered()} >= folders


_QUESTIONS = """
import sys
from noisewright.release.engines.registry import engine_of, is_address, is_source, registered
found = [engine_of(one).name for one in ("visits.csv", "shop.duckdb::visits", "postgresql://u@h/d/t", "spark:visits")]
assert found == ["duckdb", "duckdb", "postgres", "pyspark"], found
assert is_address("spark:visits") and not is_address("visits.csv")
assert is_source("spark:visits") and is_source("visits.csv") and not is_source("Berlin")
"""
HEAVY = ("ibis", "duckdb", "psycopg", "pyspark", "py4j", "sqlglot", "pandas")


@pytest.mark.parametrize("script", ["import sys, noisewright", _QUESTIONS])
def test_what_decides_loads_no_engine(script: str):
    told = f"{script}\nprint([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_importing_the_package_asks_for_no_engine():
    told = "import sys, noisewright; print([name for name in sys.modules if name.startswith('noisewright.release')])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_the_engine_of_the_address_is_loaded(tmp_path: Path):
    (tmp_path / "visits.csv").write_text("id\n1\n", encoding="utf-8")
    script = (
        "import sys\nfrom noisewright.release.table.sources import schema_of\n"
        f"schema_of({str(tmp_path / 'visits.csv')!r})\n"
        "print([name for name in ('psycopg', 'pyspark', 'py4j') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_the_group_of_entry_points_is_the_one_of_the_recipe():
    recipe = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"`{GROUP}`" in recipe
