"""What a test needs and a machine may not have: a programme of a server or a browser, or a package."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import NoReturn

import pytest


def require_package(name: str) -> None:
    """Skip without a package of Python."""
    try:
        found = find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        missing(name)


def missing(name: str, how: str = "pip install -e '.[dev]'") -> NoReturn:
    """Skip, and say what is missing and how to get it; where CI=true nothing may be missing."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{name} is not installed ({how}); script/test installs it where it may.")
    pytest.skip(f"{name} is not installed: {how}")
