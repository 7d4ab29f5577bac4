"""`noisewright reproduce` writes and says what a reproduction found, for every claim."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from noisewright.lab.claims import Claim, Reproduction
from noisewright.lab.registry import REPRODUCTIONS, Entry
from tests.e2e.command import Cli, assert_failed, assert_succeeded

CLAIMS = [
    Claim("Table 1", "noise is small", "it is not", "fails"),
    Claim("Table 2", "noise is large", "it is", "holds"),
    Claim("Table 3", "noise is dear", "who knows", "not reproducible"),
    Claim("Table 4", "noise is loud", "it is not", "fails"),
]


@pytest.fixture(autouse=True)
def paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short paper among the others."""

    def reproduce(out: Path, step: object) -> Reproduction:
        picture = out / "figure.png"
        picture.write_bytes(b"picture")
        return Reproduction("A short paper", [picture], CLAIMS, ["made-up people"])

    monkeypatch.setitem(sys.modules, "a_short_paper", SimpleNamespace(reproduce=reproduce))
    monkeypatch.setitem(REPRODUCTIONS, "short", Entry("a_short_paper", "A short paper", 1))


def test_every_claim_is_said_with_its_verdict(cli: Cli):
    outcome = cli("reproduce", "short")
    assert_succeeded(outcome)
    assert outcome.out.splitlines() == [
        "A short paper",
        "",
        "Data: made-up people",
        *("", "Table 1: noise is small", "  fails: it is not"),
        *("", "Table 2: noise is large", "  holds: it is"),
        *("", "Table 3: noise is dear", "  not reproducible: who knows"),
        *("", "Table 4: noise is loud", "  fails: it is not"),
        "",
        "Verdicts: fails 2, holds 1, not reproducible 1.",
    ]
    assert outcome.err == "2 files are in short.\n"


@pytest.mark.parametrize(("words", "folder"), [((), "short"), (("--out", "there/deep"), "there/deep")])
def test_pictures_and_claims_go_where_they_were_asked_to(cli: Cli, tmp_path: Path, words: tuple[str, ...], folder: str):
    assert_succeeded(cli("reproduce", "short", *words))
    assert {path.name for path in (tmp_path / folder).iterdir()} == {"figure.png", "claims.csv"}
    with (tmp_path / folder / "claims.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["where", "the paper says", "found", "verdict"]
    assert rows == [[c.where, c.says, c.found, c.verdict] for c in CLAIMS]


def test_the_list_names_every_paper(cli: Cli):
    lines = cli("reproduce", "--list").out.splitlines()
    assert [line.split()[0] for line in lines] == list(REPRODUCTIONS)
    assert lines[-1].endswith("A short paper")


def test_an_unknown_paper_is_refused(cli: Cli):
    assert_failed(cli("reproduce"), 2, "give one of", "short")
    assert_failed(cli("reproduce", "long"), 2, "'long'", "short")
