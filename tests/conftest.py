"""What every test relies on: no window is ever opened, no test knows what another one solved, Hypothesis runs the same
examples everywhere, and every picture that any test saves keeps the rules of pictures. Tests run side by side, one on
each core: none takes the threads of another.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.optional import missing, require_package
from tests.postgres_server import Server, programs
from tests.spark_session import Sparks, java

# Linear algebra in two threads of each of two processes waits more than it works: 23 seconds in place of 2 for the
# programme of 256 prefix sums. Set before anything is imported that reads it; what a test starts inherits it.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
os.environ["MPLBACKEND"] = "Agg"
# Solutions of linear programmes are kept in the process alone: a test neither reads nor fills a user's cache.
os.environ["NOISEWRIGHT_CACHE"] = ""

# Building tables takes unevenly long on a shared machine; a deadline per example would measure the machine.
# The examples are a function of the test alone, so that a red run is red again for whoever looks at it.
settings.register_profile(
    "noisewright",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("noisewright")


def pytest_sessionstart() -> None:
    """Collecting makes a million objects that all stay: looking through them for garbage would take five seconds."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was collected is not looked through again; what tests make is."""
    gc.freeze()
    gc.enable()


_REMEMBERING = "noisewright.search.cache"


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    """Every test starts with empty memories: a wrong key must not depend on the order of tests to be noticed."""
    if _REMEMBERING in sys.modules:
        sys.modules[_REMEMBERING].forget()


@pytest.fixture(scope="session", autouse=True)
def _pictures_keep_the_rules() -> Iterator[None]:
    """Whatever is drawn and saved, by whichever test, is looked at."""
    from noisewright.drawing.style import Picture
    from tests.pictures import faults

    save = Picture.savefig

    def looked_at(figure: Picture, *args: Any, **kwargs: Any) -> None:
        found = faults(figure)
        assert not found, f"{args[0] if args else 'a picture'}: {'; '.join(found)}"
        save(figure, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Picture, "savefig", looked_at)
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server of this test process."""
    folder = programs()
    if folder is None:
        missing("PostgreSQL", "apt-get install postgresql")
    made = Server(folder)
    yield made
    made.remove()


@pytest.fixture(scope="session")
def spark() -> Iterator[Sparks]:
    """Spark in a JVM of this test process."""
    require_package("pyspark")
    if java() is None:
        missing("Java 17", "apt-get install openjdk-17-jre-headless")
    made = Sparks()
    yield made
    made.remove()
