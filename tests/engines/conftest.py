"""The engine that a test of this folder runs on: every one of `ENGINES`, connected once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

import pytest

from noisewright.release.engines.registry import registered
from tests.engines.loading import ENGINES

# A JVM takes seconds to start and half a gigabyte: with xdist all tests of Spark run in one process.
MARKS = {"pyspark": [pytest.mark.xdist_group("spark")]}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=MARKS.get(name, [])) for name in ENGINES])
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A backend of Ibis."""
    backend = ENGINES[request.param](request.getfixturevalue)
    yield backend
    if backend.name != "pyspark":  # the session of Spark is that of other tests as well
        backend.disconnect()


@pytest.fixture(scope="session")
def shelves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the distribution of `shelf`, installed as any other is: its entry point is in its metadata."""
    folder = tmp_path_factory.mktemp("installed")
    own = Path(__file__).parent / "shelf"
    words = ["install", "-qq", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(folder), str(own)]
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *words], check=True)
    return folder


@pytest.fixture(scope="module")
def shelf(shelves: Path) -> Iterator[Any]:
    """The engine of another distribution, on the path of this process as long as the tests of a module run."""
    sys.path.append(str(shelves))
    invalidate_caches()
    registered.cache_clear()
    yield import_module("noisewright_shelf.engine")
    sys.path.remove(str(shelves))
    registered.cache_clear()
