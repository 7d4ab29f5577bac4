"""What spec files say beyond the first example: derived columns, joins, keys from tables, bins of time, bounds."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.app.expressions import FUNCTIONS, derived
from noisewright.ledger.ledger import Ledger
from noisewright.problem.errors import InvalidInputError
from tests.e2e.command import Cli, assert_failed, assert_succeeded
from tests.e2e.spec_files import SPEC, write

BILLS = "person,ward,amount\n" + "".join(f"p{i},{'ABC'[i % 3]},{i}\n" for i in range(60))
MEAN = 'kind = "mean"\ncolumn = "age"\nbounds = [0, 100]\nby = "ward"\n'


def test_derived_columns_are_asked_about_and_filtered(cli: Cli, tmp_path: Path):
    head = (
        'filter = ["old == true", "decade >= 0"]\n[derive]\ndecade = "integer(floor(age / 10))"\nold = "age >= 30"\n'
        "kind = \"if(decade >= 6, 'old', 'young')\"\n[dataset]"
    )
    asked = 'kind = "count"\nname = "decades"\nby = { columns = "decade", values = [2, 3, 7] }\n'
    more = '\n[[ask]]\nkind = "count"\nname = "kinds"\nby = { columns = "kind", values = ["old", "young"] }\n'
    write(tmp_path, ("[dataset]", head), (MEAN, asked + more))
    answers = cli("release", "visits.toml", "--json").data
    values = {one.get("decade") or one.get("kind"): one["value"] for one in answers if one["question"] != "count"}
    # Epsilon 10 over three tables, at most 4 rows of a person: off by 20 less than once in 10^6.
    assert {key: round(value / 40) for key, value in values.items()} == {2: 0, 3: 1, 7: 1, "old": 2, "young": 3}


def test_private_tables_are_joined_on_the_unit_and_share_the_ledger(cli: Cli, tmp_path: Path):
    join = '[[join]]\nsource = "bills.csv"\nunit = "person"\non = "ward"\n[join.types]\namount = "number"\n\n[dataset]'
    asked = 'kind = "sum"\ncolumn = "amount"\nbounds = [0, 60]\nby = "ward"\n'
    write(tmp_path, ("[dataset]", join), (MEAN, asked))
    (tmp_path / "bills.csv").write_text(BILLS, encoding="utf-8")
    answers = cli("release", "visits.toml", "--json").data
    sums = {one["ward"]: one["value"] for one in answers if one["question"] == "sum of amount"}
    # Four rows of each of twenty persons, 0 + 3 + ... + 57; a person moves 240, and epsilon is about 5.
    for ward, true in (("A", 2280), ("B", 2360), ("C", 2440)):
        assert abs(sums[ward] - true) < 1500
    assert round(Ledger.open(tmp_path / "visits.ledger").remaining) == 20
    assert [path.suffix for path in tmp_path.iterdir()].count(".ledger") == 1


def test_keys_come_from_a_public_table_beside_the_spec(cli: Cli, tmp_path: Path):
    write(tmp_path, ('values = ["A", "B", "C", "<b>$D"]', 'values = "wards.csv"'))
    (tmp_path / "wards.csv").write_text("ward,floor\nC,2\nA,1\nB,2\nZ,\n", encoding="utf-8")
    answers = cli("plan", "visits.toml", "--json").data
    assert answers["questions"][0]["by"]["rows"] == [["A"], ["B"], ["C"], ["Z"]]
    write(tmp_path, ('values = ["A", "B", "C", "<b>$D"]', 'values = "wards.csv"\ntypes = { ward = "integer" }'))
    assert_failed(cli("plan", "visits.toml"), 2, "keys.ward: rows has 0 items")


def test_bins_of_time_are_said_as_in_python(cli: Cli, tmp_path: Path):
    weeks = (
        'kind = "histogram"\ncolumn = "day"\nevery = "week"\nstart = 2024-12-30\nend = "2025-02-03"\npersons = true\n'
    )
    write(tmp_path, (MEAN, weeks), ('charge = "number"', 'charge = "number"\nday = "date"'))
    answers = [one for one in cli("release", "visits.toml", "--json").data if one["question"] == "histogram of day"]
    assert [one["day"] for one in answers] == ["2025-W01", "2025-W02", "2025-W03", "2025-W04", "2025-W05"]
    write(tmp_path, (MEAN, weeks.replace("2024-12-30", "2025-01-01")), ('charge = "number"', 'day = "date"'))
    assert_failed(cli("plan", "visits.toml"), 2, "ask 2: histogram: start is 2025-01-01", "on a Monday")
    write(tmp_path, (MEAN, weeks))
    assert_failed(cli("plan", "visits.toml"), 2, "'day': it holds text; say how it is read")


def test_bounds_are_estimated_at_the_command_line(cli: Cli, tmp_path: Path):
    write(tmp_path)
    first = cli("bounds", "visits.toml", "charge", "--epsilon", "10")
    assert_succeeded(first)
    assert "charge: 8 to 32; aims to keep 98 % of the values" in first.out
    assert "\nbounds = [8, 32]\n" in first.out
    assert "Spent: pure differential privacy, epsilon = 10 (charge 1 of" in first.out
    again = cli("bounds", "visits.toml", "charge", "--epsilon", "10", "--json")
    assert again.data == {"column": "charge", "bounds": ["8", "32"], "keep": "0.98", "charge": 1}
    few = cli("bounds", "visits.toml", "charge", "--epsilon", "0.001")
    assert "charge: too few to say" in few.out
    left = Ledger.open(tmp_path / "visits.ledger").remaining
    assert_failed(cli("bounds", "visits.toml", "chrge", "--epsilon", "1"), 2, "there is no column 'chrge'")
    assert_failed(cli("bounds", "visits.toml", "charge"), 2, "needs --epsilon")
    assert_failed(cli("bounds", "visits.toml", "charge", "--epsilon", "1", "--keep", "2"), 2, "keep is 2")
    assert_failed(cli("bounds", "visits.toml", "charge", "--epsilon", "30"), 3, "budget")
    assert Ledger.open(tmp_path / "visits.ledger").remaining == left


@pytest.mark.parametrize(
    "unfinished", ["bounds = [0, 100]\n", "[privacy]\nepsilon = 10\n", SPEC[SPEC.index("[privacy]") :]]
)
def test_bounds_are_estimated_of_the_very_spec_that_lacks_them(cli: Cli, tmp_path: Path, unfinished: str):
    write(tmp_path, (unfinished, ""))
    assert_failed(cli("plan", "visits.toml"), 2)
    found = cli("bounds", "visits.toml", "charge", "--epsilon", "10")
    assert_succeeded(found)
    assert "\nbounds = [8, 32]\n" in found.out
    write(tmp_path, (unfinished, ""), ("unit =", "unti ="))
    assert_failed(cli("bounds", "visits.toml", "charge", "--epsilon", "10"), 2, "unti")


REFUSED = {
    "a join of nothing": ('[[join]]\nsource = "none.csv"\n', "there is no file"),
    "a join without a source": ('[[join]]\nunit = "person"\n', "join 1: source is missing"),
    "a join with a budget": ('[[join]]\nsource = "b.csv"\nbudget = { epsilon = 1 }\n', "join 1: this table has a key"),
    "a join on a missing column": ('[[join]]\nsource = "visits.csv"\non = "wart"\n', "there is no column 'wart'"),
    "a join of another unit": ('[[join]]\nsource = "visits.csv"\nunit = "pat"\n', "there is no column 'pat'"),
    "an outer join": ('[[join]]\nsource = "visits.csv"\nhow = "outer"\n', "give inner, left, semi or anti"),
    "a derived unit": ('[derive]\npatient = "upper(patient)"\n', "the unit must be carried along"),
    "a derived mess": (
        '[derive]\nx = "age; DROP TABLE visits"\n',
        "derive: x: 'age; DROP TABLE visits' cannot be read",
    ),
    "a summary": ('[derive]\nx = "sum(age)"\n', "cannot be read"),
    "a missing column": ('[derive]\nx = "agee + 1"\n', "there is no column 'agee'"),
    "a wrong type": ('[derive]\nx = "ward + 1 - age"\n', "does not fit the types of its columns"),
    "a number for a text": ("[derive]\nx = 1\n", "derive: x: x is 1; give a text"),
}


@pytest.mark.parametrize("head", REFUSED, ids=str)
def test_what_is_wrong_with_joins_and_columns_is_refused(cli: Cli, tmp_path: Path, head: str):
    text, told = REFUSED[head]
    write(tmp_path, ("[dataset]", f"{text}[dataset]"))
    assert_failed(cli("release", "visits.toml"), 2, told)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits.csv", "visits.toml"]


EXPRESSIONS = {
    "a / b": [2.0, None, None],
    "-a + 2 * (b - 1) // 3": [-4.0, -7.0, None],
    "a % 3 = 1": [True, False, None],
    '"odd "" name" != a': [False, True, None],
    "if(a >= 5, 'it''s', t)": ["x", "it's", None],
    "coalesce(c, .5)": [0.5, 1.5, 0.5],
    "integer(number(n)) + 1": [8.0, None, None],
    "decimal_comma('1,5') + coalesce(decimal_comma('1.5'), 100)": [101.5] * 3,
    "year(d) * 100 + month(d) - day(d) + quarter(d) + weekday(d)": [202601 - 5 + 1 + 0.0, 202602 - 1 + 1 + 6.0, None],
    "length(strip(upper(lower(t)))) + abs(-2) + floor(1.5) + ceil(1.5) + round(2.5)": [1 + 2 + 1 + 2 + 3.0] * 2
    + [None],
    "sqrt(16) + ln(1) + log2(8) + log10(100)": [9.0] * 3,
    "hour(w) * 60 + minute(w)": [605.0, 0.0, None],
    "date(w) = d": [True, False, None],
}


def test_expressions_mean_what_they_say():
    words = set()
    columns = {
        "id": [1, 2, 3],
        "a": [4, 6, None],
        "b": [2.0, 0.0, float("nan")],
        "c": [float("nan"), 1.5, None],
        "t": ["x", "y", None],
        "n": ["7", "seven", None],
        'odd " name': [4, 7, None],
        "d": [date(2026, 1, 5), date(2026, 2, 1), None],
        "w": [datetime(2026, 1, 5, 10, 5), datetime(2026, 1, 1), None],
    }
    data = nw.Dataset(pa.table(columns), "id", name="x")
    for text, expected in EXPRESSIONS.items():
        made = data.mutate(z=derived(text))
        assert made._source.engine.fetch(made._table.order_by("id").select("z"))["z"].to_pylist() == expected, text
        words |= {word for word in FUNCTIONS if f"{word}(" in text}
    assert words == set(FUNCTIONS), "every function is tried"


@pytest.mark.parametrize(
    "text", ["", "a b", "a.sum()", "f(1)", "floor(1, 2)", "(1", "1)", "1e999", "a ** 2", "a;b", "'x", "((" * 30 + "1"]
)
def test_anything_else_is_no_expression(text: str):
    with pytest.raises(InvalidInputError):
        derived(text)
    with pytest.raises(InvalidInputError):
        derived("(" * 500 + "1" + ")" * 500)
    with pytest.raises(InvalidInputError):
        derived("1 + " * 2000 + "1")


@pytest.mark.parametrize("command", ["plan", "release", "selfcheck"])
def test_a_spec_that_is_not_there_is_said_not_to_be_there(cli: Cli, command: str):
    assert_failed(cli(command, "nowhere.toml"), 2, "nowhere.toml", "No such file")
