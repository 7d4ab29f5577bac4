"""The suite without PySpark or Playwright: what needs them is skipped with a reason, and the rest runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.architecture.source import ROOT
from tests.tree import tracked

_IMPORTS_IT = {
    "pyspark": [path for path in tracked(ROOT / "tests", ".py") if "spark" in path.name or "barrier" in path.name],
    "playwright": [ROOT / "tests" / "docs", ROOT / "tests" / "explorer"],
}


def _run(hidden: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    path = os.pathsep.join(map(str, (ROOT, ROOT / "src")))
    given = {**known, "HIDDEN": hidden, "PYTHONPATH": path, **environment}
    command = [sys.executable, "-m", "pytest", "-p", "tests.hiding", "-p", "no:cacheprovider", "-q", "-rs", *words]
    return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("package", _IMPORTS_IT)
def test_every_file_of_tests_is_collected_without(package: str):
    files = [str(path) for path in _IMPORTS_IT[package] if path.is_dir() or path.name.startswith("test_")]
    assert files
    done = _run(package, "--collect-only", *files)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize(
    ("package", "test"),
    [
        ("pyspark", "tests/release/test_spark.py::test_sessions_without_plans_are_refused"),
        ("pyspark", "tests/release/test_spark.py::test_columns_of_any_name_are_read"),
        ("playwright", "tests/docs/test_site.py::test_pictures_have_words"),
    ],
)
def test_a_test_that_needs_it_is_skipped_with_the_reason_and_fails_where_nothing_may_be_missing(
    package: str, test: str
):
    done = _run(package, test)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "1 skipped" in done.stdout
    assert "is not installed: " in done.stdout
    assert _run(package, test, CI="true").returncode == 1


def test_the_links_of_the_pages_are_followed_without_a_browser():
    done = _run("playwright", "tests/docs/test_links.py")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "skipped" not in done.stdout
