"""The engine that a test of this folder runs on: every one of `ENGINES`, connected once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

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
