"""A benchmark beside another library that is not installed says how to get it, in words, not by a traceback."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, imported, parse
from tests.tree import tracked

BENCHMARKS = tracked(ROOT / "benchmarks", ".py")
_OWN = {"noisewright", "numpy", "scipy", "tests", *(path.stem for path in BENCHMARKS), *sys.stdlib_module_names}
_LEFT_OUT_AND_SAID = {("naive_bayes", "diffprivlib"), ("adult_table", "pyarrow")}
"""What does without, and says so; and what tests import, where pyarrow is."""


def others(tree: ast.Module) -> set[str]:
    """The packages of others that a file imports by itself."""
    return {name.partition(".")[0] for name, _ in imported(tree)} - _OWN


def test_an_import_without_words_is_found():
    assert others(ast.parse("import numpy\ndef f():\n    from opendp import prelude")) == {"opendp"}


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_imports_other_libraries_with_words_for_those_who_have_none(path: Path):
    assert {(path.stem, name) for name in others(parse(path))} <= _LEFT_OUT_AND_SAID


@pytest.mark.parametrize(
    ("script", "package"),
    [
        ("releases", "opendp"),
        ("compare", "opendp"),
        ("compare", "diffprivlib"),
        ("accounting", "dp_accounting"),
        ("naive_bayes", "sklearn"),
        ("postgres_times", "psycopg"),
    ],
)
def test_a_benchmark_without_its_package_says_how_to_install_it(script: str, package: str):
    code = f"import runpy, tests.hiding; runpy.run_path({str(ROOT / 'benchmarks' / script)!r} + '.py')"
    path = os.pathsep.join(map(str, (ROOT, ROOT / "src", ROOT / "benchmarks")))
    given = {**os.environ, "HIDDEN": f"{package},diffprivlib", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "which is not installed: pip install " in done.stderr
