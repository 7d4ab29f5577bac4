"""Stored answers that are older than the files say so, where everybody may know when those were written."""

from __future__ import annotations

import os
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.release.run.idempotence import drawn_on

ROWS = "patient,ward\n1,A\n2,A\n3,B\n"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text(ROWS, encoding="utf-8")
    written(path, -3600)
    return path


def written(path: Path, seconds: float) -> None:
    """Let a file have been written so many seconds from now."""
    os.utime(path, (time.time() + seconds,) * 2)


def clinic(path: Any, ledger: Path, **more: Any) -> nw.Dataset:
    return nw.Dataset(path, "patient", name="visits", budget=nw.PureDP(3), ledger=ledger, **more)


def stale(plan: Any, **how: Any) -> list[str]:
    """What a release tells of its answers being old."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        plan.release(**how)
    assert {one.category for one in seen} <= {nw.errors.StaleAnswerWarning}
    return [str(one.message) for one in seen]


def test_an_answer_is_old_when_the_file_is_newer_than_its_charge(visits: Path, tmp_path: Path):
    data = clinic(visits, tmp_path / "x.ledger", modified_is_public=True)
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    assert stale(plan) == stale(plan) == stale(plan, refuse_stale=True) == []
    written(visits, 60)
    (told,) = stale(plan)
    ledger = data.ledger
    assert ledger is not None
    drawn = drawn_on(ledger, 1)
    assert abs((datetime.now(UTC) - drawn).total_seconds()) < 600
    assert f"charge 1 of {ledger.url}, drawn {drawn:%Y-%m-%d %H:%M:%S} UTC; the files of visits were modified" in told
    assert "which charges pure differential privacy, epsilon = 1" in told
    with pytest.raises(nw.errors.StaleAnswerError, match="charge 1") as refused:
        plan.release(refuse_stale=True)
    assert refused.value.fields["charge"] == 1
    assert ledger.spent == 1
    assert stale(plan, fresh=True, refuse_stale=True) == []
    assert ledger.spent == 2


def test_nothing_is_told_of_a_time_that_was_not_declared_public(visits: Path, tmp_path: Path):
    data = clinic(visits, tmp_path / "x.ledger")
    plan = data.plan(nw.count(), privacy=nw.PureDP(1))
    assert stale(plan) == []
    written(visits, 60)
    assert stale(plan) == []
    with pytest.raises(nw.errors.InvalidInputError, match="modified_is_public = true"):
        plan.release(refuse_stale=True)


def test_a_refusal_that_cannot_be_kept_is_refused_before_anything_is_spent(visits: Path, tmp_path: Path):
    data = clinic(visits, tmp_path / "x.ledger")
    with pytest.raises(nw.errors.InvalidInputError, match="cannot be told here"):
        data.plan(nw.count(), privacy=nw.PureDP(1)).release(refuse_stale=True)
    assert data.ledger is not None
    assert data.ledger.spent == 0


def test_one_new_file_of_many_makes_answers_old(visits: Path, tmp_path: Path):
    for name in ("v2.csv", "v3.csv"):
        (tmp_path / name).write_text(ROWS, encoding="utf-8")
        written(tmp_path / name, -60)
    for seconds, count in ((-50, 0), (60, 1)):
        written(tmp_path / "v2.csv", seconds)
        data = clinic(str(tmp_path / "v*.csv"), tmp_path / "x.ledger", modified_is_public=True)
        assert len(stale(data.plan(nw.count(), privacy=nw.PureDP(1)))) == count


def test_the_newest_of_joined_tables_counts_and_one_that_says_nothing_silences_both(visits: Path, tmp_path: Path):
    bills = tmp_path / "bills.csv"
    bills.write_text("patient,paid\n1,2\n", encoding="utf-8")
    for public, count in ((True, 1), (False, 0)):
        written(bills, -3600)
        mine = clinic(visits, tmp_path / f"{public}.ledger", modified_is_public=True)
        theirs = nw.Dataset(bills, "patient", name="bills", ledger=mine.ledger, modified_is_public=public)
        plan = mine.join(theirs).plan(nw.count(), privacy=nw.PureDP(1))
        assert stale(plan) == []
        written(bills, 60)
        assert len(stale(plan)) == count


def test_when_rows_of_frames_and_databases_changed_cannot_be_told(tmp_path: Path):
    duckdb.connect(tmp_path / "x.duckdb").execute("CREATE TABLE visits AS SELECT 1 AS patient").close()
    for source in (pa.table({"patient": [1]}), f"{tmp_path / 'x.duckdb'}::visits"):
        with pytest.raises(nw.errors.InvalidInputError, match="is for files"):
            nw.Dataset(source, "patient", modified_is_public=True)
    with pytest.raises(nw.errors.InvalidInputError, match="give True or False"):
        nw.Dataset(pa.table({"patient": [1]}), "patient", modified_is_public="yes")  # type: ignore[arg-type]
