"""A bar appears while a table is read, where it is asked for, and nothing of it is left; it never ends a release."""

from __future__ import annotations

from threading import Event, active_count
from typing import Any

import pandas as pd
import pytest

import noisewright as nw
from noisewright.app.cli import release as scanning
from noisewright.release.table.sources import progress_of


@pytest.fixture
def people() -> nw.Dataset:
    return nw.Dataset(pd.DataFrame({"id": [1, 2]}), "id")


def test_a_bar_is_shown_while_the_work_lasts(people: nw.Dataset, capsys: pytest.CaptureFixture[str]):
    before = active_count()
    asked = Event()

    def done() -> float:
        asked.set()
        return 40.0

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORCE_COLOR", "1")  # as on a terminal
        patch.setattr("noisewright.release.table.sources.progress_of", lambda _: done)
        with scanning.scanning(people, "reading", shown=True, patience=0):
            assert asked.wait(60)
    assert active_count() == before
    out, err = capsys.readouterr()
    assert out == ""
    assert "reading" in err


def test_nothing_is_shown_where_nobody_watches(people: nw.Dataset, capsys: pytest.CaptureFixture[str]):
    with scanning.scanning(people, patience=0):
        pass
    assert capsys.readouterr() == ("", "")


def test_an_engine_that_rests_or_knows_no_progress_says_nothing(people: nw.Dataset):
    assert progress_of(people._source.engine)() is None
    people._source.engine.connection.con.close()
    assert progress_of(people._source.engine)() is None


def test_slices_move_the_bar_on(people: nw.Dataset, monkeypatch: pytest.MonkeyPatch):
    class Connection:
        found = -1.0

        def query_progress(self) -> float:
            return self.found

    engine: Any = people._source.engine
    monkeypatch.setattr(engine.backend, "con", Connection())
    done = progress_of(people._source.engine)
    shown = []
    for engine.steps, Connection.found in (((0, 4), -1.0), ((0, 4), 50.0), ((1, 4), -1.0), ((3, 4), 100.0)):
        shown.append(done())
    assert shown == [None, 12.5, 25.0, 100.0]
