"""Both stores: every test that takes `url` runs on a SQLite file and on a real PostgreSQL server."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

_NAMES = itertools.count()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a ledger can be made, on each store."""
    if request.param == "sqlite":
        return str(tmp_path / "kept.ledger")
    return f"{request.getfixturevalue('server').url}?ledger=test-{os.getpid()}-{next(_NAMES)}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger in a file can be made."""
    return tmp_path / "kept.ledger"
