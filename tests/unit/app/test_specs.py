"""A spec says the same as the Python that it mirrors, and numbers are the decimals that were written."""

from __future__ import annotations

from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.app.spec import ReleaseSpec, read_spec
from noisewright.problem.errors import InvalidInputError
from noisewright.release.ask.registry import QUESTIONS

HEAD = '[dataset]\nsource = "t.csv"\nunit = "id"\n[privacy]\nepsilon = 1\n'


def _read(folder: Path, text: str, head: str = HEAD) -> ReleaseSpec:
    path = folder / "spec.toml"
    path.write_text(text if text.startswith("#!") else head + text, encoding="utf-8")
    return read_spec(path)


def _asked(folder: Path, text: str) -> tuple[Any, ...]:
    return _read(folder, text).questions


WARDS = nw.keys("ward", ["A", "B"])
PERSONAL = 'column = "x"\nbounds = [0, 5]\nstep = 0.1\nperson_bounds = [-0.5, 8]'
SAID = {
    "count": ('by = "w"', nw.ask.count(by=WARDS)),
    "persons": ('name = "who"', nw.ask.persons(name="who")),
    "sum": (
        'column = "x"\nbounds = [0.1, 0.3]\nstep = 1e-3\ncentred = true',
        nw.ask.sum("x", bounds=("0.1", "0.3"), step="0.001", centred=True),
    ),
    "mean": ('column = "x"\nbounds = ["1/3", 2]\nby = "w"', nw.ask.mean("x", bounds=("1/3", 2), by=WARDS)),
    "variance": ('column = "x"\nbounds = [0, 1_000.5]', nw.ask.variance("x", bounds=(0, "1000.5"))),
    "histogram": ('column = "x"\nedges = [0, 0.1, 7]', nw.ask.histogram("x", edges=(0, "0.1", 7))),
    "quantiles": (
        'column = "x"\nprobabilities = [0.1, 0.5]\nbounds = [0, 120]\nstep = 0.5\nby = "w"',
        nw.ask.quantiles("x", ["0.1", "0.5"], bounds=(0, 120), step="0.5", by=WARDS),
    ),
    "top": ('column = "ward"\nk = 2\nby = "w"', nw.ask.top("ward", 2, by=WARDS)),
    "workload": ('questions = [[1, 0.5], [0, 1]]\nkeys = "w"', nw.ask.workload([[1, "0.5"], [0, 1]], keys=WARDS)),
}
MORE = {
    'kind = "quantiles"\ncolumn = "x"\nprobabilities = [0.5]\nedges = [0, 1, 2.5]': nw.ask.quantiles(
        "x", ["0.5"], edges=(0, 1, "2.5")
    ),
    'kind = "workload"\nquestions = "ranges"\ncolumn = "x"\nedges = [0, 1, 2]\nby = "w"': nw.ask.workload(
        "ranges", column="x", edges=(0, 1, 2), by=WARDS
    ),
    'kind = "workload"\nquestions = [["ward"], []]\nkeys = "w"': nw.ask.workload([["ward"], []], keys=WARDS),
}


@pytest.mark.parametrize("kind", SAID)
def test_a_question_in_a_file_is_the_question_in_python(tmp_path: Path, kind: str):
    text, question = SAID[kind]
    keys = '[keys.w]\ncolumns = "ward"\nvalues = ["A", "B"]\n'
    assert _asked(tmp_path, f'{keys}[[ask]]\nkind = "{kind}"\n{text}\n') == (question,)


@pytest.mark.parametrize("text", MORE)
def test_other_forms_of_a_question_are_those_of_python(tmp_path: Path, text: str):
    keys = '[keys.w]\ncolumns = "ward"\nvalues = ["A", "B"]\n'
    assert _asked(tmp_path, f"{keys}[[ask]]\n{text}\n") == (MORE[text],)


def test_bounds_of_persons_are_said_as_in_python(tmp_path: Path):
    asked = _asked(tmp_path, f'[[ask]]\nkind = "sum"\n{PERSONAL}\n')
    assert asked == (nw.ask.sum("x", bounds=(0, 5), step="0.1", person_bounds=("-0.5", 8)),)


def test_every_kind_of_question_has_its_function():
    assert set(SAID) <= set(QUESTIONS.kinds)
    for kind in QUESTIONS.kinds:
        assert callable(getattr(nw.ask, kind)), kind


def test_keys_are_said_as_in_python(tmp_path: Path):
    forms = {
        'columns = { sex = ["f", "m"], smokes = [true, false] }': nw.keys({"sex": ["f", "m"], "smokes": [True, False]}),
        'columns = ["sex", "n"], values = [["f", 1], ["m", 2]]': nw.keys(["sex", "n"], [("f", 1), ("m", 2)]),
    }
    for text, keys in forms.items():
        assert _asked(tmp_path, f'[[ask]]\nkind = "count"\nby = {{ {text} }}\n') == (nw.count(by=keys),)
    (question,) = _asked(tmp_path, '[[ask]]\nkind = "count"\nby = { columns = "d", values = [2025-01-31] }\n')
    assert question.by.kinds == ("date",)


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("epsilon = 0.1", nw.PureDP("0.1")),
        ("epsilon = 1\ndelta = 1e-6", nw.ApproxDP(1, "1e-6")),
        ("rho = 0.1", nw.ZeroConcentratedDP("0.1")),
        ("alpha = 2\nepsilon = 0.5", nw.RenyiDP(2, "0.5")),
        ('kind = "probabilistic"\nepsilon = 1\ndelta = "1/1000"', nw.ProbabilisticDP(1, "1/1000")),
    ],
    ids=str,
)
def test_a_requirement_is_told_by_its_amounts(tmp_path: Path, text: str, requirement: Any):
    head = '[dataset]\nsource = "t.csv"\nunit = "id"\n'
    assert _read(tmp_path, f'[privacy]\n{text}\n[[ask]]\nkind = "count"\n', head).plan["privacy"] == requirement


def test_a_decimal_is_not_the_nearest_float(tmp_path: Path):
    read = _read(tmp_path, '[weights]\ncount = 0.10000000000000000001\n[[ask]]\nkind = "count"\n')
    assert Fraction(read.plan["weights"]["count"]) == Fraction("0.10000000000000000001")


def test_paths_are_those_of_the_spec_and_names_stay_as_written(tmp_path: Path):
    head = 'output = "out/a.csv"\n' + HEAD.replace('unit = "id"', 'unit = "id"\nledger = "l/b.ledger"')
    read = _read(tmp_path, '[[ask]]\nkind = "count"\n', head)
    assert read.dataset["source"] == str(tmp_path / "t.csv")
    assert read.dataset["ledger"] == str(tmp_path / "l" / "b.ledger")
    assert read.dataset["name"] == "t.csv"
    assert read.output == tmp_path / "out" / "a.csv"
    address = _read(
        tmp_path, '[[ask]]\nkind = "count"\n', HEAD.replace("\nunit", '\nledger = "postgresql://x/y"\nunit')
    )
    assert address.dataset["ledger"] == "postgresql://x/y"


def test_every_parameter_of_a_dataset_can_be_said(tmp_path: Path):
    said = {
        "source": '"t.csv"', "unit": '"id"', "name": '"n"', "version": "2", "budget": "{ rho = 1 }", "ledger": '"l"',
        "rows_per_group": "2", "groups_per_person": "3", "one_row_per_person": "false", "types": '{ a = "date" }',
        "local_views": '["v"]', "modified_is_public": "true",
    }  # fmt: skip
    assert set(said) == set(signature(nw.Dataset).parameters)
    head = "[dataset]\n" + "".join(f"{name} = {value}\n" for name, value in said.items()) + "[privacy]\nrho = 1\n"
    read = _read(tmp_path, '[[ask]]\nkind = "count"\n', head).dataset
    assert set(read) == set(said)
    assert read["budget"] == nw.ZeroConcentratedDP(1)
    assert (read["rows_per_group"], read["types"], read["local_views"]) == (2, {"a": "date"}, ["v"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", r"there is no \[\[ask\]\]"),
        ('[ask]\nkind = "count"\n', r"begin each with \[\[ask\]\]"),
        ("[[ask]]\nkind = 3\n", "kind is 3; give a text"),
        ('[[ask]]\ncolumn = "x"\n', "kind is missing; give one of count"),
        ('[[ask]]\nkind = "sum"\ncolumn = 3\nbounds = [0, 1]\n', "column is 3; give text"),
        ('[[ask]]\nkind = "sum"\ncolumn = "x"\nbounds = 3\n', "bounds is 3; give a pair"),
        ('[[ask]]\nkind = "count"\nby = 3\n', "by is 3; give a table"),
        ('[[ask]]\nkind = "count"\nby = { columns = "w" }\n', "list the values that may"),
        ('[[ask]]\nkind = "count"\nby = { columns = "w", values = [0.5] }\n', "a float is no key|keys are text"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_in_words(tmp_path: Path, text: str, told: str):
    with pytest.raises(InvalidInputError, match=told):
        _read(tmp_path, text)
