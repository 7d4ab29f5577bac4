"""Where budgets are kept: those kept nowhere belong to one process, and what is left of a removed one tells of it."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import noisewright as nw

TABLE = pa.table({"id": [1, 1, 2]})

FORKED = """
import os, sys, warnings
import pyarrow as pa
import noisewright as nw

warnings.simplefilter("ignore")
data = nw.Dataset(pa.table({{"id": [1, 1, 2]}}), "id", name="x", budget=nw.PureDP(3))
plan = data.plan(nw.count(), privacy=nw.PureDP(1))
plan.release()
child = os.fork()
if not child:
    {ends}
else:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    plan.release(fresh=True)
    print(data.ledger.url)
    print(data.ledger.spent)
"""


@pytest.mark.parametrize("ends", ["del data, plan", "plan.release(fresh=True); sys.exit()"])
def test_a_forked_child_that_exits_normally_leaves_the_parents_budget_alone(ends: str, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", FORKED.format(ends=ends)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    url, spent = done.stdout.split()
    assert spent == ("3" if "release" in ends else "2")
    assert Path(url).is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == [], "the parent takes it away when it ends"


def test_an_unkept_budget_goes_with_its_dataset():
    with pytest.warns(nw.errors.EphemeralBudgetWarning):
        data = nw.Dataset(TABLE, "id", name="x", budget=nw.PureDP(3))
    assert data.ledger is not None
    url = Path(data.ledger.url)
    assert url.exists()
    del data
    gc.collect()
    assert not url.parent.exists()


def _head(path: Path) -> Path:
    return path.with_name(path.name + ".head")


def _both(path: Path) -> None:
    path.unlink()
    _head(path).unlink()


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _emptied_alone(path: Path) -> None:
    _both(path)
    _emptied(path)


GONE: dict[str, tuple[Callable[[Path], None], str]] = {
    "rows": (Path.unlink, "head of a ledger that is not there any more; a new file would be a new budget"),
    "head": (lambda path: _head(path).unlink(), "has no head file"),
    "rows emptied": (_emptied, "there is a file .* already"),
    "head emptied": (lambda path: _emptied(_head(path)), "cannot be read"),
    "rows emptied, no head": (_emptied_alone, "there is a file .* already"),
}


@pytest.mark.parametrize("what", GONE)
def test_where_one_of_rows_and_head_is_gone_no_new_budget_is_made(tmp_path: Path, what: str):
    path, (take, told) = tmp_path / "x.ledger", GONE[what]
    nw.Dataset(TABLE, "id", budget=nw.PureDP(3), ledger=path)
    take(path)
    for _ in range(2):
        with pytest.raises(nw.errors.LedgerError, match=told):
            nw.Dataset(TABLE, "id", budget=nw.PureDP(3), ledger=path)
        with pytest.raises(nw.errors.LedgerError):
            nw.Ledger.open(path)


def test_where_both_rows_and_head_are_gone_the_budget_is_a_new_one(tmp_path: Path):
    path = tmp_path / "x.ledger"
    data = nw.Dataset(TABLE, "id", name="x", budget=nw.PureDP(3), ledger=path)
    data.plan(nw.count(), privacy=nw.PureDP(2)).release()
    assert data.ledger is not None
    exported = data.ledger.head
    _both(path)
    again = nw.Dataset(TABLE, "id", name="x", budget=nw.PureDP(3), ledger=path).ledger
    assert again is not None
    assert again.spent == 0, "as SECURITY.md says; only a head that was kept elsewhere shows it"
    with pytest.raises(nw.errors.LedgerDamagedError, match="rolled back"):
        again.verify(exported)
    _both(path)
    with pytest.raises(nw.errors.LedgerError, match="there is no ledger"):
        nw.Dataset(TABLE, "id", name="x", ledger=path)
