"""A process that has read what tests import of others, and forks for each run of tests: two seconds less for each.

It is asked by lines of JSON, and answers with the number of the process that runs, then with its exit status. Nothing
of noisewright is read before the fork.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from contextlib import suppress

import pytest

SHARED = (
    *("numpy", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "flint", "highspy", "clarabel"),
    *("pyarrow", "pyarrow.parquet", "duckdb", "ibis", "ibis.backends.duckdb", "sqlglot", "pandas", "polars"),
    *("psycopg", "typer", "rich", "cryptography", "matplotlib.figure", "hypothesis", "hypothesis.strategies"),
)
"""What is read once; what is not installed is left out."""


def main() -> int:
    """Serve until the end of the input; a child ends with the status of its tests."""
    for name in SHARED:
        with suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            status = _tested(asked["tests"], asked["printed"])
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)  # threads that libraries began before the fork are not there to be joined
        _say({"process": child})
        _, status = os.waitpid(child, 0)
        _say({"status": os.waitstatus_to_exitcode(status)})
    return 0


def _say(words: dict[str, int]) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def _tested(tests: list[str], printed: str) -> int:
    """Run some tests in a session of their own, and print into a file."""
    os.setsid()
    for place, (path, way) in enumerate(((os.devnull, os.O_RDONLY), (printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))):
        os.dup2(os.open(path, way), place)
    os.dup2(1, 2)
    # Pytest warns that what it would rewrite the assertions of, Hypothesis among them, is read already.
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *quiet, *tests]))


if __name__ == "__main__":
    sys.exit(main())
