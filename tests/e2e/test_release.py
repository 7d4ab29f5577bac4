"""From a spec file to private answers: what is written, what is spent, and what is refused before anything is."""

from __future__ import annotations

import csv
import json
import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest

from noisewright.app.spec import read_spec
from noisewright.lab.tables import dataset
from noisewright.ledger.ledger import Ledger
from tests.docs.pages import ROOT, blocks
from tests.e2e.command import Cli, assert_failed, assert_succeeded
from tests.e2e.spec_files import VISITS, write

REFUSED = {
    "missing file": (("visits.csv", "nowhere.csv"), "there is no file"),
    "missing unit": (('unit = "patient"', 'unit = "patent"'), "there is no column 'patent'; there are 'patient'"),
    "missing column": (('column = "age"', 'column = "agee"'), "there is no column 'agee'; there are 'age'"),
    "wrong type": (('age = "number"', 'ward = "date"'), "'ward'"),
    "bounds reversed": (("[0, 100]", "[100, 0]"), "visits.toml: ask 2: mean: bounds is 100 to 0"),
    "no number": (("[0, 100]", "[0, nan]"), "ask 2: mean"),
    "unknown key": (("rows_per_group", "row_per_group"), "(the nearest is 'rows_per_group')"),
    "unknown table": (("[privacy]", "[privcy]"), "(the nearest is 'privacy')"),
    "unknown question": (('kind = "mean"', 'kind = "man"'), "(the nearest is 'mean')"),
    "unknown parameter": (("bounds =", "bound ="), "(the nearest is 'bounds')"),
    "unknown keys": (('by = "ward"', 'by = "wards"'), "(the nearest is 'ward')"),
    "unknown amount": (("epsilon = 10\n", "epsilom = 10\n"), "(the nearest is 'epsilon')"),
    "unknown type": (
        ('"number"', '"numbr"'),
        "give one of number, integer, date, time, instant, text, decimal point, decimal comma",
    ),
    "no TOML": (("[privacy]", "[privacy"), "visits.toml is no TOML"),
    "a missing parameter": (("bounds = [0, 100]\n", ""), "bounds is missing"),
    "a budget of two kinds": (("{ epsilon = 30 }", "{ epsilon = 1, rho = 1 }"), "budget says epsilon, rho"),
    "no ledger": (('ledger = "visits.ledger"\n', ""), "budget that is kept"),
    "no budget": (("budget = { epsilon = 30 }\n", ""), "say its budget"),
    "a list for a text": (('source = "visits.csv"', "source = []"), "source is a list; give a text"),
    "a text for a table": (("budget = { epsilon = 30 }", 'budget = "3"'), "budget is '3'; give a table"),
    "a condition on text": (("[dataset]", 'filter = ["ward >= 18"]\n[dataset]'), "does not fit 'ward'"),
    "a condition on nothing": (("[dataset]", 'filter = ["wart == 1"]\n[dataset]'), "there is no column 'wart'"),
    "a condition that is code": (("[dataset]", 'filter = ["age.sum() > 1"]\n[dataset]'), "cannot be read"),
    "an ending": (("[dataset]", 'output = "a.xls"\n[dataset]'), ".csv, .json, .parquet"),
    "a report": (("[dataset]", 'report = "a.pdf"\n[dataset]'), "ends in .html"),
    "weights": (("[privacy]", "[weights]\ncuont = 1\n[privacy]"), "weights names 'cuont'"),
    "targets and privacy": (("[dataset]", "targets = { count = 5 }\n[dataset]"), "privacy and targets are both given"),
    "a target of a mean": (("[privacy]\nepsilon = 10\n", "[targets]\ncount = 5\n"), "say smallest_group=n"),
    "budgets of other names": (
        ("[privacy]\nepsilon = 10\n", "[budgets.cuont]\nepsilon = 1\n"),
        "budgets names 'cuont'",
    ),
    "an unknown step": (("[dataset]", 'post = ["total"]\n[dataset]'), "give a list of 'non-negative'"),
    "no totals": (("[dataset]", 'post = ["totals"]\n[dataset]'), "no totals are asked for"),
    "utility": (("[dataset]", 'utility = "squared"\n[dataset]'), "(the nearest is 'squared-error')"),
}


@pytest.mark.parametrize("change", REFUSED, ids=str)
def test_what_is_wrong_is_refused_before_anything_is_made_or_spent(cli: Cli, tmp_path: Path, change: str):
    replaced, told = REFUSED[change]
    write(tmp_path, replaced)
    assert_failed(cli("release", "visits.toml"), 2, told)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits.csv", "visits.toml"]


def test_a_release_spends_once_and_then_gives_the_same_answers(cli: Cli, tmp_path: Path):
    write(tmp_path)
    first = cli("release", "visits.toml", "--output", "a.csv", "--reason", "the yearly report")
    assert_succeeded(first)
    assert "Spent: pure differential privacy, epsilon = 10 (charge 1 of" in first.out
    second = cli("release", "visits.toml", "--output", "b.csv")
    assert "Nothing was spent: these are the answers of charge 1 of" in second.out
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    assert Ledger.open(tmp_path / "visits.ledger").remaining == 20
    assert_succeeded(cli("release", "visits.toml", "--fresh"))
    assert_succeeded(cli("release", "visits.toml", "--fresh"))
    assert_failed(cli("release", "visits.toml", "--fresh", "--output", "c.csv"), 3, "budget")
    assert Ledger.open(tmp_path / "visits.ledger").remaining == 0
    assert not (tmp_path / "c.csv").exists()


def test_answers_are_near_the_truth_in_every_kind_of_file(cli: Cli, tmp_path: Path):
    import pyarrow.parquet

    write(tmp_path, ("[dataset]", 'output = "a.parquet"\nreport = "r.html"\n[dataset]'))
    assert_succeeded(cli("release", str(tmp_path / "visits.toml")))
    whole = pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert_succeeded(cli("release", "visits.toml", "--output", "a.csv"))
    assert_succeeded(cli("release", "visits.toml", "--output", "a.json"))
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == whole
    printed = cli("release", "visits.toml", "--json")
    assert printed.data == whole
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["ward"] for row in rows] == ["A", "B", "C", "<b>$D"] * 2
    assert [float(row["value"]) if row["value"] else None for row in rows] == [one["value"] for one in whole]
    # Each ward has 80 rows, and epsilon 10 for at most 4 rows leaves little noise: off by 40 less than once in 10^20.
    assert all(abs(float(row["value"]) - 80) < 40 for row in rows[:3])
    assert abs(float(rows[3]["value"])) < 40
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;$D" in page
    assert "<b>$D" not in page
    assert "<script" not in page
    assert page.count("<svg ") >= 3, "the answers of each question, and the odds"
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert_succeeded(cli("verify", "r.html"))


def test_a_plan_spends_nothing_and_makes_nothing_but_what_is_asked_for(cli: Cli, tmp_path: Path):
    write(tmp_path)
    outcome = cli("plan", "visits.toml", "--save", "plan.json")
    assert_succeeded(outcome)
    assert "Before the release there remains: 30." in outcome.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.json", "visits.csv", "visits.toml"]
    checked = cli("verify", "plan.json")
    assert_succeeded(checked)
    assert "pure differential privacy, epsilon = 10 for all answers together" in checked.out
    (tmp_path / "plan.json").write_text((tmp_path / "plan.json").read_text().replace('"10"', '"9"', 1))
    assert cli("verify", "plan.json").code == 1
    assert cli("plan", "visits.toml", "--json").data["privacy"] == {"kind": "pure", "epsilon": "10"}


def test_targets_budgets_and_tidy_answers_are_said_in_a_file(cli: Cli, tmp_path: Path):
    privacy, mean = (
        "[privacy]\nepsilon = 10\n",
        '[[ask]]\nkind = "mean"\ncolumn = "age"\nbounds = [0, 100]\nby = "ward"\n',
    )
    total = (mean, '[[ask]]\nkind = "count"\nname = "all"\n')
    head = ("[dataset]", 'confidence = 0.9\npost = ["totals", "non-negative"]\n[dataset]')
    write(tmp_path, head, total, (privacy, "[targets]\ncount = 4\nall = 5.5\n"))
    planned = cli("plan", "visits.toml")
    assert_succeeded(planned)
    assert "Targets, each with a confidence of 0.9:" in planned.out
    assert "all: at most 5.5, reached 5; alone it would cost epsilon = " in planned.out
    outcome = cli("release", "visits.toml", "--json")
    parts, (whole,) = outcome.data[:4], outcome.data[4:]
    assert abs(sum(one["post_value"] for one in parts) - whole["post_value"]) < 1e-6
    raw = cli("release", "visits.toml", "--post", "integers", "--output", "a.csv", "--report", "r.html")
    assert "afterwards" in raw.out
    assert "Nothing was spent" in raw.out
    assert "afterwards" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "post_half_width" in (tmp_path / "a.csv").read_text(encoding="utf-8")
    assert_failed(cli("release", "visits.toml", "--post", "rounded"), 2, "give a list of")
    write(tmp_path, total, (privacy, "[budgets]\ncount = { epsilon = 2 }\nall = { epsilon = 3 }\n"))
    assert cli("plan", "visits.toml", "--json").data["privacy"] == {"kind": "pure", "epsilon": "5"}


def test_filters_public_tables_weights_and_utilities_reach_the_plan(cli: Cli, tmp_path: Path):
    head = (
        'filter = ["age >= 20.5", "ward in [\'A\', \'B\']", "charge is not null"]\nutility = "absolute-error"\n'
        'weights = { count = 4, "mean of age" = "1/3" }\n[[join_public]]\ntable = "wards.csv"\non = "ward"\n[dataset]'
    )
    write(tmp_path, ("[dataset]", head), ('by = "ward"', 'by = { columns = "floor", values = ["1", "2"] }'))
    (tmp_path / "wards.csv").write_text("ward,floor\nA,1\nB,2\nC,2\n", encoding="utf-8")
    data = cli("plan", "visits.toml", "--json").data
    assert data["utility"]["kind"] == "absolute-error"
    assert data["weights"] == [["count", "4"], ["mean of age", "1/3"]]
    answers = cli("release", "visits.toml", "--json").data
    # 80 rows of B less those of age 20; of C, which is on the same floor, none.
    assert [one["floor"] for one in answers[:2]] == ["1", "2"]
    assert all(abs(one["value"] - 78) < 40 for one in answers[:2])
    (tmp_path / "wards.csv").write_text("wart,floor\nA,1\n", encoding="utf-8")
    assert_failed(cli("plan", "visits.toml"), 2, "there is no column 'ward'")


def test_a_first_spec_is_written_without_looking_at_values(cli: Cli, tmp_path: Path):
    (tmp_path / "visits.csv").write_text('patient,a""b\n', encoding="utf-8")
    odd = 'name,"a ""quoted"" = name",day\n'
    (tmp_path / "visits.csv").write_text(odd + "secret,1,2025-01-01\n", encoding="utf-8")
    assert_succeeded(cli("init", "visits.csv"))
    text = (tmp_path / "visits.toml").read_text(encoding="utf-8")
    assert "secret" not in text
    assert tomllib.loads(text)["dataset"]["unit"] == ""
    for line in text.splitlines():
        if "quoted" in line and line.endswith('= ""'):
            assert tomllib.loads(line.removeprefix("# ")) == {'a "quoted" = name': ""}
            break
    else:
        pytest.fail("types are not left to be filled in")
    assert_failed(cli("init", "visits.csv"), 2, "is there already")
    assert_failed(cli("plan", "visits.toml"), 2, "unit is ''")
    assert_succeeded(cli("init", "visits.csv", "--unit", "name", "--output", "second.toml"))
    assert_succeeded(cli("plan", "second.toml"))
    assert_failed(cli("init", "nowhere.csv"), 2, "there is no file")


def test_types_of_a_parquet_file_come_from_its_schema(cli: Cli, tmp_path: Path):
    import pyarrow as pa
    from pyarrow import parquet

    (tmp_path / "data").mkdir()
    table = pa.table({"person": [1, 2], "weight": [1.5, None], "since": pa.array([None, None], pa.date32())})
    parquet.write_table(table, tmp_path / "data" / "people.parquet")
    assert_succeeded(cli("init", "data/people.parquet", "--unit", "person"))
    text = (tmp_path / "people.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["dataset"]["source"] == "data/people.parquet"
    assert '"person" (int64), "weight" (float64), "since" (date)' in text
    assert "dataset.types" not in text
    assert_succeeded(cli("plan", "people.toml"))


AT: dict[str, tuple[str, BaseException, str, int]] = {
    "before the charge": (
        *("noisewright.release.dataset.Dataset.rehearse", KeyboardInterrupt()),
        *("Nothing was spent.", 0),
    ),
    "after the charge": (
        *("noisewright.release.run.transaction.drawn", KeyboardInterrupt()),
        *("Nothing was released; something may have been drawn: asked again it is refused, --fresh charges again", 1),
    ),
    "in DuckDB": (
        *("noisewright.release.stage.vector.aggregated", RuntimeError("Query interrupted")),
        *("Nothing was drawn; asked again, it is finished without another charge.", 1),
    ),
    "while it is written": (
        *("noisewright.app.answer_table._csv", KeyboardInterrupt()),
        *("The answers are stored", 1),
    ),
}


@pytest.mark.parametrize("when", AT, ids=str)
def test_an_interruption_says_what_was_spent(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str):
    place, error, told, spent = AT[when]

    def interrupted(table: Any, *_: object, **__: object) -> list[int]:
        if when == "in DuckDB" and "Limit" in str(type(table.op())):  # the rehearsal, on no rows
            return []
        raise error

    write(tmp_path, ("[dataset]", 'output = "a.csv"\n[dataset]'))
    monkeypatch.setattr(place, interrupted)
    assert_failed(cli("release", "visits.toml"), 130, "interrupted.", told)
    ledger = tmp_path / "visits.ledger"
    assert (30 - Ledger.open(ledger).remaining if ledger.exists() else 0) == 10 * spent


def test_what_is_interrupted_afresh_is_finished_afresh(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from noisewright.release.stage.vector import aggregated

    def interrupted(table: Any, *given: Any, **named: Any) -> Any:
        if "Limit" in str(type(table.op())):  # the rehearsal, on no rows
            return aggregated(table, *given, **named)
        raise RuntimeError("Query interrupted")

    write(tmp_path)
    assert_succeeded(cli("release", "visits.toml"))
    asked = ("release", "visits.toml", "--fresh")
    finished = "Nothing was drawn; asked again, it is finished without another charge."
    with monkeypatch.context() as patch:
        patch.setattr("noisewright.release.stage.vector.aggregated", interrupted)
        assert_failed(cli(*asked), 130, "Charge 4 of", "is spent", finished)
        assert_failed(cli(*asked), 130, "Charge 4 of", "was spent before, and nothing more now", finished)
    assert_succeeded(cli(*asked))
    assert Ledger.open(tmp_path / "visits.ledger").remaining == 10


def test_what_is_stored_afresh_is_got_back_without_asking_afresh(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    write(tmp_path, ("[dataset]", 'output = "a.csv"\n[dataset]'))
    told = "The answers are stored: the same command without --fresh gives them back at no cost."
    with monkeypatch.context() as patch:
        patch.setattr("noisewright.app.answer_table._csv", stopped)
        assert_failed(cli("release", "visits.toml", "--fresh"), 130, "interrupted.", told)
    assert_succeeded(cli("release", "visits.toml"))
    assert Ledger.open(tmp_path / "visits.ledger").remaining == 20


@pytest.mark.parametrize(("work", "left"), [("drawn", "Nothing was released"), ("frame_of", "The answers are stored")])
def test_an_engine_that_fails_after_the_charge_repeats_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str, left: str
):
    def failing(*_: object) -> None:
        raise RuntimeError("Conversion Error: secret")

    write(tmp_path)
    monkeypatch.setattr(f"noisewright.release.run.transaction.{work}", failing)
    outcome = cli("release", "visits.toml")
    assert_failed(outcome, 1, "the engine failed (RuntimeError). Charge 1 of", left)
    assert "secret" not in outcome.err


def test_files_that_cannot_be_written_lose_nothing(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    write(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("noisewright.app.answer_table._csv", full)
        stopped = cli("release", "visits.toml", "--output", "a.csv")
    assert_failed(stopped, 1, "a.csv: cannot be written", "Spent: pure", "The answers are stored")
    assert_succeeded(cli("release", "visits.toml", "--output", "a.csv"))
    assert Ledger.open(tmp_path / "visits.ledger").remaining == 20


def test_the_clinic_of_the_demonstration_is_the_same_each_time(tmp_path: Path, cli: Cli):
    clinic = runpy.run_path(str(ROOT / "examples" / "clinic.py"))
    rows = clinic["visits"](2000)
    assert rows == clinic["visits"](2000)
    assert {row[2] for row in rows} == set(clinic["WARDS"])
    assert len({row[0] for row in rows}) < 2000
    clinic["write"](tmp_path / "visits.csv", 2000)
    (tmp_path / "visits.toml").write_text((ROOT / "examples" / "visits.toml").read_text(encoding="utf-8"))
    assert_succeeded(cli("release", "visits.toml", "--plot", "answers.png"))
    assert (tmp_path / "answers.png").read_bytes().startswith(b"\x89PNG")


def test_the_readme_opens_with_the_spec_of_the_demonstration(tmp_path: Path):
    (block,) = [one for one in blocks((ROOT / "README.md").read_text(encoding="utf-8")) if one.language == "toml"]
    (tmp_path / "visits.toml").write_text(block.text, encoding="utf-8")
    printed, shipped = read_spec(tmp_path / "visits.toml"), read_spec(ROOT / "examples" / "visits.toml")
    assert (printed.questions, printed.plan, printed.conditions) == (
        shipped.questions,
        shipped.plan,
        shipped.conditions,
    )
    places = ("source", "ledger")
    for name in (set(printed.dataset) | set(shipped.dataset)) - set(places):
        assert printed.dataset[name] == shipped.dataset[name], name


def test_adult_by_education(tmp_path: Path, cli: Cli):
    found = dataset("adult/adult.parquet")
    if found is None:
        pytest.skip("the Adult table is not at hand (NOISEWRIGHT_DATA)")
    runpy.run_path(str(ROOT / "examples" / "adult.py"))["write"](found, tmp_path / "persons.parquet")
    (tmp_path / "adult.toml").write_text((ROOT / "examples" / "adult.toml").read_text(encoding="utf-8"))
    assert_succeeded(cli("release", "adult.toml"))
    with (tmp_path / "adult.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 5 * 16
    counts = {row["education"]: float(row["value"]) for row in rows if row["question"] == "count"}
    # 15,784 persons; off by a thousand less than once in 10^9 at epsilon 1.
    assert abs(counts["HS-grad"] - 15784) < 1000


def test_the_small_table_has_what_the_tests_say_of_it():
    rows = [line.split(",") for line in VISITS.splitlines()[1:]]
    assert {ward: len({row[0] for row in rows if row[2] == ward}) for ward in "ABC"} == dict.fromkeys("ABC", 20)
