"""Torn, truncated, replaced or edited: detected, not believed."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

import noisewright as nw
from noisewright.ledger.chain import Head, Row
from noisewright.ledger.sqlite import SQLiteStore
from tests.ledger import menu
from tests.postgres_server import Server

ROWS = 15


def _filled(url: str | Path, budget: object = None) -> nw.Ledger:
    """A ledger with every kind of row."""
    ledger = nw.Ledger.create(url, budget=budget or nw.PureDP(3))
    ledger.release(menu.laplace("0.1"), 5, reason="first")
    alice = ledger.sub("alice", budget=nw.PureDP("0.25"))
    with pytest.raises(ValueError, match="no answer"), alice.charge(menu.laplace("0.2"), reason="second"):
        raise ValueError("no answer")
    with pytest.raises(nw.errors.BudgetExceeded):
        alice.charge(menu.laplace("0.1"), reason="too much")
    ledger.raise_budget(nw.PureDP(4), reason="more people")
    for i in range(4):
        ledger.charge(menu.laplace("0.1"), reason=f"number {i}")
    alice.close_budget(reason="left")
    ledger.release(menu.laplace("0.1"), 5, reason="last")
    assert ledger.verify().rows == ROWS
    return ledger


def _copied(path: Path, folder: Path) -> Path:
    for file in (path, path.with_name(path.name + ".head")):
        shutil.copy(file, folder / file.name)
    return folder / path.name


@pytest.fixture
def filled(path: Path) -> Path:
    _filled(path)
    return path


def _refused(path: Path) -> bool:
    """Whether neither a charge nor a verification believes the file."""
    try:
        nw.Ledger.open(path).charge(menu.laplace("0.01"), reason="believed")
    except nw.errors.LedgerError:
        return True
    return False


def test_a_truncated_file_is_not_believed(filled: Path, tmp_path: Path):
    whole, folder = filled.read_bytes(), tmp_path / "copy"
    folder.mkdir()
    for cut in sorted(random.Random(3).sample(range(len(whole)), 60)):
        copy = _copied(filled, folder)
        copy.write_bytes(whole[:cut])
        assert _refused(copy), f"{cut} of {len(whole)} bytes were believed"


def test_a_torn_page_is_found(filled: Path, tmp_path: Path):
    whole, folder = filled.read_bytes(), tmp_path / "copy"
    folder.mkdir()
    size = int.from_bytes(whole[16:18], "big")
    for page in range(len(whole) // size):
        copy = _copied(filled, folder)
        torn = bytearray(whole)
        torn[page * size + size // 2 : (page + 1) * size] = bytes(size - size // 2)
        copy.write_bytes(bytes(torn))
        with pytest.raises(nw.errors.LedgerError):
            nw.Ledger.open(copy).verify()


def test_an_older_copy_of_the_file_is_not_believed(filled: Path, tmp_path: Path):
    older = tmp_path / "older"
    shutil.copy(filled, older)
    nw.Ledger.open(filled).charge(menu.laplace("0.1"), reason="one more")
    shutil.copy(older, filled)
    assert _refused(filled)
    with pytest.raises(nw.errors.LedgerDamagedError, match="do not belong together"):
        nw.Ledger.open(filled).verify()


def test_only_an_exported_head_shows_that_both_files_were_rolled_back(filled: Path, tmp_path: Path):
    ledger, folder = nw.Ledger.open(filled), tmp_path / "copy"
    folder.mkdir()
    old = _copied(filled, folder)
    ledger.charge(menu.laplace("0.1"), reason="one more")
    head = ledger.head
    ledger.verify(head)
    assert nw.Ledger.open(old).verify().charges == ledger.verify().charges - 1, "by itself the old copy is in order"
    with pytest.raises(nw.errors.LedgerDamagedError, match="rolled back"):
        nw.Ledger.open(old).verify(head.to_dict())
    # A ledger that went another way since has the rows, but not that one.
    nw.Ledger.open(old).charge(menu.laplace("0.1"), reason="another")
    nw.Ledger.open(old).charge(menu.laplace("0.1"), reason="and another")
    with pytest.raises(nw.errors.LedgerDamagedError, match="exported head"):
        nw.Ledger.open(old).verify(head)


def test_a_head_one_behind_is_mended_and_one_ahead_is_not_believed(filled: Path):
    ledger, beside = nw.Ledger.open(filled), filled.with_name(filled.name + ".head")
    behind = beside.read_text()
    ledger.charge(menu.laplace("0.1"), reason="one")
    level = beside.read_text()
    beside.write_text(behind)
    ledger.charge(menu.laplace("0.1"), reason="two")
    assert Head.from_dict(json.loads(beside.read_text())) == ledger.head
    two = beside.read_text()
    beside.write_text(behind)
    assert _refused(filled), "two behind cannot happen"
    beside.write_text(two.replace(f'"count":{ROWS + 2}', f'"count":{ROWS + 3}'))
    assert _refused(filled), "ahead: rows were taken away"
    beside.write_text(level.replace(level[-10], "x" if level[-10] != "x" else "y"))
    assert _refused(filled)
    beside.unlink()
    assert _refused(filled)


def test_removing_the_file_does_not_make_room_for_a_new_budget(filled: Path):
    filled.unlink()
    with pytest.raises(nw.errors.LedgerError, match="new budget"):
        nw.Ledger.create(filled, budget=nw.PureDP(1))


class _File:
    """Rows of a file, changed by somebody with full rights."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(self.path)
        connection.execute("PRAGMA synchronous = OFF")
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        try:
            found = connection.execute(statement, values).fetchall()
            connection.commit()
            return found
        finally:
            connection.close()


def _columns(rows: list[tuple[object, ...]]) -> list[Row]:
    return [Row(*row) for row in rows]  # type: ignore[arg-type]


def _edits(rows: list[Row], count: int, seed: int) -> list[tuple[int, str, bytes]]:
    """(place, column, new bytes): one byte of one stored column is another."""
    chosen, found = random.Random(seed), []
    for _ in range(count):
        row = chosen.choice(rows)
        name = chosen.choices(["body", "digest", "account"], [8, 1, 1])[0]
        raw = bytearray(getattr(row, name).encode())
        at = chosen.randrange(len(raw))
        raw[at] = chosen.choice([byte for byte in range(1, 128) if byte != raw[at]])
        found.append((row.place, name, bytes(raw)))
    return found


def _fails(url: str | Path) -> bool:
    try:
        nw.Ledger.open(url).verify()
    except nw.errors.LedgerError:
        return True
    return False


def test_edits_of_a_byte_are_found(filled: Path):
    _each_edit_is_found(filled, 80, seed=6)


@pytest.mark.soak
def test_each_of_a_thousand_edits_of_a_byte_is_found(filled: Path):
    _each_edit_is_found(filled, 1000, seed=4)


def _each_edit_is_found(filled: Path, count: int, seed: int) -> None:
    file = _File(filled)
    rows = _columns(file.run("SELECT place, account, body, digest FROM rows ORDER BY place"))
    for place, name, raw in _edits(rows, count, seed):
        before = getattr(rows[place], name)
        file.run(f"UPDATE rows SET {name} = CAST(? AS TEXT) WHERE place = ?", raw, place)
        assert _fails(filled), (place, name, raw)
        file.run(f"UPDATE rows SET {name} = ? WHERE place = ?", before, place)
    assert not _fails(filled)


def test_each_row_that_is_removed_and_each_pair_that_is_swapped_is_found(filled: Path, tmp_path: Path):
    folder = tmp_path / "copy"
    folder.mkdir()
    for place in range(ROWS):
        copy = _copied(filled, folder)
        _File(copy).run("DELETE FROM rows WHERE place = ?", place)
        assert _fails(copy), place
        copy = _copied(filled, folder)
        _File(copy).run("DELETE FROM rows WHERE place = ?", place)
        _File(copy).run("UPDATE rows SET place = -place WHERE place > ?", place)
        _File(copy).run("UPDATE rows SET place = -place - 1 WHERE place < 0")
        assert _fails(copy), f"{place}, and the others moved up"
    for one in range(ROWS):
        for other in range(one):
            copy = _copied(filled, folder)
            for place, to in ((one, -1), (other, one), (-1, other)):
                _File(copy).run("UPDATE rows SET place = ? WHERE place = ?", to, place)
            assert _fails(copy), (one, other)


def test_the_same_in_a_database(server: Server):
    url = f"{server.url}?ledger=damaged"
    _filled(url)
    text = "SELECT place, account, body, digest FROM noisewright_rows WHERE ledger = 'damaged' ORDER BY place"
    rows = _columns(server.execute(text))
    for place, name, raw in _edits(rows, 20, seed=5):
        where = f"UPDATE noisewright_rows SET {name} = %s WHERE ledger = 'damaged' AND place = %s"
        server.execute(where, raw.decode(), place)
        assert _fails(url), (place, name, raw)
        server.execute(where, getattr(rows[place], name), place)
    for place in (0, 5, ROWS - 1):
        row = rows[place]
        server.execute("DELETE FROM noisewright_rows WHERE ledger = 'damaged' AND place = %s", place)
        assert _fails(url), place
        values = (place, row.account, row.body, row.digest)
        server.execute("INSERT INTO noisewright_rows VALUES ('damaged', %s, %s, %s, %s)", *values)
    for one, other in ((3, 4), (0, ROWS - 1)):
        swap = (
            "UPDATE noisewright_rows SET account = %s, body = %s, digest = %s WHERE ledger = 'damaged' AND place = %s"
        )
        for place, source in ((one, other), (other, one)):
            server.execute(swap, rows[source].account, rows[source].body, rows[source].digest, place)
        assert _fails(url), (one, other)
        for place in (one, other):
            server.execute(swap, rows[place].account, rows[place].body, rows[place].digest, place)
    assert not _fails(url)
    server.execute("UPDATE noisewright_heads SET count = count - 1 WHERE ledger = 'damaged'")
    assert _fails(url)
    with pytest.raises(nw.errors.LedgerDamagedError):
        nw.Ledger.open(url).charge(menu.laplace("0.1"), reason="believed")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: data["brings"][""]["pure"].update(epsilon="-1/10"), "gives something back"),
        (lambda data: data["accounts"][""]["totals"]["pure"].update(epsilon="0"), "sums"),
        (lambda data: data["brings"][""]["pure"].update(epsilon="4"), "no rule allowed it"),
        (lambda data: data.update(event="gift"), "unknown"),
    ],
)
def test_a_chain_that_somebody_closed_again_still_has_to_add_up(path: Path, change, says: str):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    ledger.charge(menu.laplace("0.1"), reason="honest")
    file = _File(path)
    [(body,)] = file.run("SELECT body FROM rows WHERE place = 1")
    data = json.loads(str(body))
    change(data)
    first = _columns(file.run("SELECT place, account, body, digest FROM rows WHERE place = 0"))[0]
    forged = Row.after(first.head, "", data)
    file.run("UPDATE rows SET body = ?, digest = ? WHERE place = 1", forged.body, forged.digest)
    path.with_name(path.name + ".head").write_text(json.dumps(forged.head.to_dict()))
    with pytest.raises(nw.errors.LedgerDamagedError, match=says):
        ledger.verify()


def test_a_charge_that_somebody_put_behind_the_end_of_its_account_is_found(path: Path):
    """Every seal and every sum fits; only that the budget was closed before forbids it."""
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    ledger.charge(menu.laplace("0.1"), reason="honest")
    ledger.close_budget(reason="left")
    file = _File(path)
    rows = _columns(file.run("SELECT place, account, body, digest FROM rows ORDER BY place"))
    data, state = rows[1].read(), rows[2].read()["accounts"][""]
    assert state["closed"] is True
    assert data["brings"][""]["pure"]["epsilon"] == "1/10"
    late = {**data, "accounts": {"": {**state, "totals": {"pure": {"epsilon": "1/5"}}}}}
    forged = Row.after(rows[2].head, "", late)
    values = (forged.place, forged.account, forged.body, forged.digest)
    file.run("INSERT INTO rows (place, account, body, digest) VALUES (?, ?, ?, ?)", *values)
    path.with_name(path.name + ".head").write_text(json.dumps(forged.head.to_dict()))
    with pytest.raises(nw.errors.LedgerDamagedError, match=r"row 3 .*no rule allowed it"):
        ledger.verify()


def test_limits_that_promise_more_than_the_budget_are_not_believed(path: Path):
    nw.Ledger.create(path, budget=nw.ApproxDP(1, "1e-6"))
    file = _File(path)
    [(body,)] = file.run("SELECT body FROM rows")
    data = json.loads(str(body))
    limits = data["budget"]["rules"][1]["limits"]
    limits["mu_squared"] = str(Fraction(limits["mu_squared"]) * Fraction(101, 100))
    forged = Row.after(None, "", data)
    file.run("UPDATE rows SET body = ?, digest = ?", forged.body, forged.digest)
    path.with_name(path.name + ".head").write_text(json.dumps(forged.head.to_dict()))
    with pytest.raises(nw.errors.LedgerDamagedError, match="allow more"):
        nw.Ledger.open(path)


def test_a_row_that_was_written_anew_with_its_digest_breaks_the_chain(filled: Path):
    file = _File(filled)
    rows = _columns(file.run("SELECT place, account, body, digest FROM rows ORDER BY place"))
    place = next(row.place for row in rows if row.read()["event"] == "raise")
    data = {**rows[place].read(), "label": "somebody else's words"}
    forged = Row.after(rows[place - 1].head, data["account"], data)
    assert forged.read(), "by itself it is in order"
    file.run("UPDATE rows SET body = ?, digest = ? WHERE place = ?", forged.body, forged.digest, place)
    with pytest.raises(nw.errors.LedgerDamagedError, match=f"row {place + 1} .*does not follow"):
        nw.Ledger.open(filled).verify()


def test_a_file_is_written_with_a_rollback_journal_and_extra_synchronisation(filled: Path):
    connection = SQLiteStore(filled)._connect()
    try:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
    finally:
        connection.close()
