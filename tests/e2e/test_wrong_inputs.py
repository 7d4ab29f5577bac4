"""Slips that people make in a spec or at the shell: each is answered in one line before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import noisewright as nw
from tests.e2e.command import Cli, assert_failed, assert_succeeded
from tests.e2e.spec_files import SPEC, VISITS, write

_REFUSED = 3
_ASKED = '[[ask]]\nkind = "count"\nby = "ward"\n'


class Slip(NamedTuple):
    """What was typed instead of what, and what the answer says."""

    name: str
    changes: tuple[tuple[str, str], ...]
    says: tuple[str, ...]
    words: tuple[str, ...] = ()
    code: int = 2


def _asked(question: str) -> tuple[tuple[str, str], ...]:
    """Another question instead of the count."""
    return ((_ASKED, f"[[ask]]\n{question}\n"),)


SLIPS = [
    # columns and values
    Slip("a-mean-of-texts", (('column = "age"', 'column = "ward"'),), ("'ward' holds text", '"number"')),
    Slip("a-column-that-was-not-typed", (('age = "number"\n', ""),), ("'age' holds text", 'types={"age": "number"}')),
    Slip("a-column-that-is-not-there", (('column = "age"', 'column = "aeg"'),), ("no column 'aeg'", "'age'")),
    Slip("a-unit-that-is-not-there", (('unit = "patient"', 'unit = "person"'),), ("no column 'person'",)),
    Slip("a-type-that-is-none", (('age = "number"', 'age = "numeric"'),), ("'numeric'", "text, decimal point")),
    Slip("a-type-that-is-a-list", (('age = "number"', 'age = ["number"]'),), ("age", "text")),
    Slip("a-type-of-no-column", (('age = "number"', 'aeg = "number"'),), ("'aeg'",)),
    Slip("bounds-the-wrong-way-round", (("[0, 100]", "[100, 0]"),), ("bounds",)),
    Slip("bounds-that-are-one", (("[0, 100]", "[100]"),), ("bounds",)),
    Slip("bounds-left-out", (("bounds = [0, 100]\n", ""),), ("ask 2: mean", "bounds is missing")),
    Slip("bounds-of-texts", (("[0, 100]", '["low", "high"]'),), ("bounds",)),
    # groups
    Slip("keys-of-another-type", (('"A", "B", "C", "<b>$D"', "1, 2, 3"),), ("keys of 'ward' are integer",)),
    Slip("no-keys", (('"A", "B", "C", "<b>$D"', ""),), ("keys.ward", "at least 1")),
    Slip("keys-of-no-column", (('columns = "ward"', 'columns = "wart"'),), ("no column 'wart'",)),
    Slip("groups-of-no-name", (('by = "ward"', 'by = "wards"'),), ("'wards'", "ward")),
    Slip("keys-from-nowhere", (('values = ["A", "B", "C", "<b>$D"]', 'values = "wards.csv"'),), ("wards.csv",)),
    Slip(
        "unknown-groups-without-a-delta",
        (('values = ["A", "B", "C", "<b>$D"]', "private = true"),),
        ("delta",),
    ),
    # questions
    Slip("a-kind-that-is-none", (('kind = "count"', 'kind = "cuont"'),), ("cuont", "count")),
    Slip("a-field-that-is-none", (('column = "age"', 'colunm = "age"'),), ("colunm", "column")),
    Slip(
        "time-bins-of-a-text",
        _asked('kind = "histogram"\ncolumn = "day"\nevery = "month"\nstart = 2025-01-01\nend = 2025-03-01'),
        ("'day': it holds text", '"date"'),
    ),
    Slip("bins-of-a-text", _asked('kind = "histogram"\ncolumn = "ward"\nedges = [0, 50]'), ("'ward': it holds text",)),
    Slip("edges-that-fall", _asked('kind = "histogram"\ncolumn = "age"\nedges = [0, 50, 20]'), ("edges",)),
    Slip(
        "a-quantile-above-one",
        _asked('kind = "quantiles"\ncolumn = "age"\nbounds = [0, 100]\nprobabilities = [1.5]'),
        ("ask 1: quantiles", "1.5"),
    ),
    Slip("a-filter-of-no-column", (("[dataset]", 'filter = ["aeg >= 18"]\n[dataset]'),), ("aeg",)),
    Slip("a-filter-that-ends", (("[dataset]", 'filter = ["age >="]\n[dataset]'),), ("condition 'age >='",)),
    # limits, privacy, budget
    Slip("no-rows", (("rows_per_group = 4", "rows_per_group = 0"),), ("rows_per_group is 0",)),
    Slip("half-a-row", (("rows_per_group = 4", "rows_per_group = 1.5"),), ("rows_per_group is 1.5",)),
    Slip(
        "two-kinds-of-limits", (("rows_per_group = 4", "rows_per_group = 4\none_row_per_person = true"),), ("one_row",)
    ),
    Slip("an-epsilon-below-zero", (("epsilon = 10", "epsilon = -1"),), ("epsilon is -1",)),
    Slip("an-epsilon-of-a-text", (("epsilon = 10", 'epsilon = "much"'),), ("epsilon", "much")),
    Slip("an-epsilon-with-a-comma", (("epsilon = 10", 'epsilon = "0,5"'),), ("epsilon", "0,5")),
    Slip("no-privacy", (("[privacy]\nepsilon = 10\n", ""),), ("privacy",)),
    Slip("a-delta-on-a-pure-budget", (("epsilon = 10", "epsilon = 1\ndelta = 1e-6"),), ("cannot add", "delta = 1e-06")),
    Slip("a-rho-on-a-pure-budget", (("epsilon = 10", "rho = 0.1"),), ("cannot add", "rho = 0.1")),
    Slip("no-budget", (("budget = { epsilon = 30 }\n", ""),), ("budget",)),
    Slip("a-budget-that-is-a-number", (("budget = { epsilon = 30 }", "budget = 30"),), ("budget",)),
    # files
    Slip("a-file-that-is-not-there", (('"visits.csv"', '"visit.csv"'),), ("there is no file", "visit.csv")),
    Slip("a-folder", (('"visits.csv"', '"."'),), ("there is no file",)),
    Slip("an-address-of-nothing-known", (('"visits.csv"', '"mysql://clinic/visits"'),), ("mysql://",)),
    Slip("no-toml", (("[privacy]", "[privacy"),), ("visits.toml",)),
    Slip("a-section-that-is-none", (("[privacy]", "[privcy]"),), ("privcy",)),
    Slip("answers-of-no-kind", (), ("--output", ".csv"), ("--output", "answers.xlsx")),
    Slip("answers-in-no-folder", (), ("--output", "no folder"), ("--output", "there/answers.csv")),
    Slip("a-report-that-is-no-page", (), ("report.pdf", ".html"), ("--report", "report.pdf")),
    Slip("afterwards-nothing-known", (), ("postive", "non-negative"), ("--post", "postive")),
    Slip("a-utility-that-is-none", (("[dataset]", 'utility = "accuracy"\n[dataset]'),), ("accuracy", "squared-error")),
    Slip("stale-or-not-where-nobody-can-tell", (), ("modified_is_public",), ("--refuse-stale",)),
]


def test_there_are_enough_of_them():
    assert len(SLIPS) >= 33
    assert len({slip.name for slip in SLIPS}) == len(SLIPS)


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.name)
def test_a_slip_is_answered_before_anything_is_spent(cli: Cli, tmp_path: Path, slip: Slip):
    write(tmp_path, *slip.changes)
    outcome = cli("release", "visits.toml", *slip.words)
    assert_failed(outcome, slip.code, *slip.says)
    assert "report this problem" not in outcome.err
    assert _charges(tmp_path) == []
    if not slip.words:  # and a plan says the same
        assert cli("plan", "visits.toml").err == outcome.err or slip.name == "no-budget"


def test_what_costs_more_than_remains_is_said_by_the_plan_and_refused_by_the_release(cli: Cli, tmp_path: Path):
    write(tmp_path, ("epsilon = 30", "epsilon = 3"))
    planned = cli("plan", "visits.toml")
    assert_succeeded(planned)
    assert "A release would be refused: the charge would pass the budget" in planned.out
    machine = cli("plan", "visits.toml", "--json")
    assert "A release would be refused: the charge would pass the budget" in machine.err
    assert machine.data["privacy"]
    assert_failed(cli("release", "visits.toml"), _REFUSED, "the charge would pass the budget")
    assert _charges(tmp_path) == []


def test_a_stored_answer_is_given_again_whatever_remains_and_the_plan_does_not_warn(cli: Cli, tmp_path: Path):
    write(tmp_path, ("epsilon = 30", "epsilon = 10"))
    assert_succeeded(cli("release", "visits.toml"))
    planned = cli("plan", "visits.toml")
    assert "there remains: 0" in planned.out
    assert "would be refused" not in planned.out + planned.err
    assert_succeeded(cli("release", "visits.toml"))


def test_a_closed_budget_is_said_by_the_plan(cli: Cli, tmp_path: Path):
    write(tmp_path)
    assert_succeeded(cli("ledger", "create", "visits.ledger", "--epsilon", "30"))
    nw.Ledger.open(tmp_path / "visits.ledger").close_budget(reason="the study has ended")
    assert "A release would be refused: the ledger is closed" in cli("plan", "visits.toml").out
    assert_failed(cli("release", "visits.toml"), _REFUSED, "is closed")


_GERMAN = "\n".join(
    ";".join(cell.replace(".", ",") if place == 4 else cell for place, cell in enumerate(line.split(",")))
    for line in VISITS.splitlines()
)
"""The same table as a spreadsheet writes it where numbers have decimal commas: 10,50 for 10.50."""
_CHARGE = ('column = "age"', 'column = "charge"')


def test_decimal_commas_are_asked_about_where_the_header_has_semicolons(cli: Cli, tmp_path: Path):
    write(tmp_path, _CHARGE, table=_GERMAN)
    for command in ("plan", "release"):
        assert_failed(cli(command, "visits.toml"), 2, "may have decimal commas", "semicolons", '"decimal comma"')
    assert _charges(tmp_path) == []


@pytest.mark.parametrize(
    ("table", "kind", "mean"), [(_GERMAN, "decimal comma", 13.5), (_GERMAN.replace(",", "."), "decimal point", 13.5)]
)
def test_decimal_commas_and_points_are_read_as_declared(cli: Cli, tmp_path: Path, table: str, kind: str, mean: float):
    types = ('age = "number"\ncharge = "number"', f'age = "integer"\ncharge = "{kind}"')
    write(tmp_path, _CHARGE, types, table=table)
    outcome = cli("release", "visits.toml", "--json")
    assert outcome.code == 0, outcome.err
    means = [row["value"] for row in outcome.data if row["question"] == "mean of charge" and row["ward"] in "ABC"]
    assert len(means) == 3
    assert all(abs(found - mean) < 3 for found in means)


def test_a_folder_of_a_file_with_semicolons_has_no_decimal_commas(cli: Cli, tmp_path: Path):
    write(tmp_path, ('"visits.csv"', '"age=*/visits.csv"'), ('charge = "number"', 'charge = "decimal comma"'))
    (tmp_path / "age=30").mkdir()
    (tmp_path / "age=30" / "visits.csv").write_text(_GERMAN.replace(";age;", ";old;", 1), encoding="utf-8")
    assert_succeeded(cli("plan", "visits.toml"))


def test_decimal_commas_are_read_in_derived_columns(cli: Cli, tmp_path: Path):
    types = ('age = "number"\ncharge = "number"\n', "")
    asked = ('column = "age"', 'column = "paid"')
    derived = ("[privacy]", '[derive]\npaid = "decimal_comma(charge)"\n\n[privacy]')
    write(tmp_path, types, asked, derived, table=_GERMAN)
    outcome = cli("release", "visits.toml", "--json")
    assert outcome.code == 0, outcome.err
    means = [row["value"] for row in outcome.data if row["question"] == "mean of paid" and row["ward"] in "ABC"]
    assert all(abs(found - 13.5) < 3 for found in means)


def test_a_plan_says_how_texts_are_read(cli: Cli, tmp_path: Path):
    write(tmp_path, ('age = "number"', 'age = "integer"'), ('charge = "number"', 'charge = "decimal comma"'))
    planned = cli("plan", "visits.toml").out
    assert (
        "Reads:    age as an integer (15), charge as a number (1,5); a text that is none counts as missing" in planned
    )
    write(
        tmp_path, ('[dataset.types]\nage = "number"\ncharge = "number"\n', ""), (SPEC[SPEC.rindex("\n[[ask]]") :], "")
    )
    assert "Reads:" not in cli("plan", "visits.toml").out


def _charges(folder: Path) -> list[dict[str, object]]:
    """What a ledger was charged."""
    path = folder / "visits.ledger"
    if not path.exists():
        return []
    return [row for row in nw.Ledger.open(path).rows() if row["event"] == "charge"]
