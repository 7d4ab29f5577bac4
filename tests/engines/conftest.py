"""The engine that a test of this folder runs on: every one of `ENGINES`, connected once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.engines.loading import ENGINES


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A backend of Ibis."""
    backend = ENGINES[request.param]()
    yield backend
    backend.disconnect()
