"""An answer says which rows it is over: nobody may take the number within limits for that of the whole table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import noisewright as nw
from noisewright.app.answer_table import counted_text, plot_answers, text_of
from noisewright.app.reports.plans import release_page
from noisewright.release.plan.arranging import layout_of
from noisewright.release.run.answers import counted_in

WARDS = nw.keys("ward", ["A", "B", "C"])
ONE, TWO = nw.keys("ward", ["A"]), nw.keys("ward", ["A", "B"])
EDGES = [0, 20, 40, 200]
VISITS = pd.DataFrame({"id": [i % 7 for i in range(90)], "ward": ["ABC"[i % 3] for i in range(90)], "age": range(90)})
AGES = {"bounds": (0, 120), "step": 20}
QUESTIONS: dict[str, tuple[Any, str]] = {
    "rows of wards": (nw.count(by=WARDS), "at most 4 rows of each id in a group, in at most 2 groups"),
    "groups that are not limited": (nw.count(by=TWO), "at most 4 rows of each id in a group"),
    "one group": (nw.count(by=ONE), "at most 4 rows of each id"),
    "everything": (nw.count(), "at most 4 rows of each id"),
    "persons": (nw.ask.persons(by=WARDS), "all rows of each id, in at most 2 groups"),
    "persons of all": (nw.ask.persons(), "all rows of each id"),
    "sums": (
        nw.ask.sum("age", bounds=(0, 50), by=ONE),
        "at most 4 rows of each id; values clamped to [0, 50]",
    ),
    "sums of persons": (
        nw.ask.sum("age", bounds=(0, 50), person_bounds=(0, 99), by=WARDS),
        "all rows of each id, in at most 2 groups; values clamped to [0, 50]; sums of persons clamped to [0, 99]",
    ),
    "means": (nw.mean("age", bounds=("0.5", 50)), "at most 4 rows of each id; values clamped to [0.5, 50]"),
    "bins": (nw.ask.histogram("age", edges=EDGES), "at most 4 rows of each id in a group, in at most 2 groups"),
    "quantiles": (
        nw.ask.quantiles("age", [0.5], **AGES, by=WARDS),
        "at most 4 rows of each id in a group, in at most 2 groups; values clamped to [0, 120]",
    ),
    "cells": (nw.ask.workload("ranges", column="age", edges=EDGES), "at most 4 rows of each id"),
    "in bounds": (
        nw.count(by=ONE, outputs=(-90, 90), inputs=(0, 50)),
        "at most 4 rows of each id; true answers clamped to [0, 50]",
    ),
}


def dataset(**limits: Any) -> nw.Dataset:
    known = limits or {"rows_per_group": 4, "groups_per_person": 2}
    return nw.Dataset(VISITS, "id", name="x", budget=nw.PureDP(9), ledger=None, **known)


pytestmark = pytest.mark.filterwarnings("ignore::noisewright.errors.EphemeralBudgetWarning")


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_question_says_which_rows_count_and_what_is_clamped(name: str):
    question, told = QUESTIONS[name]
    plan = dataset().plan(question, privacy=nw.PureDP(1))
    assert counted_in(plan) == {question.label: told}


def test_every_row_counts_where_the_owner_declared_one_for_each_person():
    plan = dataset(one_row_per_person=True).plan(nw.count(by=WARDS), privacy=nw.PureDP(1))
    assert counted_in(plan) == {"count": "every row, one of each id as declared"}


def test_groups_that_are_chosen_privately_are_limited_however_many_there_are():
    data = nw.Dataset(VISITS, "id", name="x", rows_per_group=4, groups_per_person=2)
    plan = data.plan(nw.count(by=nw.keys("ward", private=True)), privacy=nw.ApproxDP(2, "1e-5"))
    assert counted_in(plan) == {"count": "at most 4 rows of each id in a group, in at most 2 groups"}


def test_what_is_said_to_count_is_what_is_counted():
    data = dataset(rows_per_group=3, groups_per_person=2)
    counted = sum(data._checked.true_aggregates(layout_of([nw.count(by=WARDS)], data.limits), 7))
    rows = Counter(zip(VISITS["id"], VISITS["ward"], strict=True))
    persons = {person: sorted(n for (own, _), n in rows.items() if own == person) for person in range(7)}
    assert counted == sum(3 * min(2, len(each)) for each in persons.values() if min(each) >= 3) == 42
    assert len(VISITS) == 90


def test_frames_text_pictures_and_pages_name_the_rows_and_none_speaks_of_the_truth(tmp_path: Path, monkeypatch: Any):
    plan = dataset().plan(nw.count(by=WARDS), nw.mean("age", bounds=(0, 99), by=WARDS), privacy=nw.PureDP(8))
    answers = plan.release(frame="pyarrow").to_pydict()
    told = ["at most 4 rows of each id in a group, in at most 2 groups"]
    told.append(f"{told[0]}; values clamped to [0, 99]")
    assert answers["counted"] == [told[0]] * 3 + [told[1]] * 3
    texts = {"text": text_of(answers, 60) + counted_text(answers)}
    texts["page"] = release_page(plan, answers, "", "x.html").html()
    figures: list[Any] = []
    monkeypatch.setattr("noisewright.drawing.style.save", lambda figure, _: figures.append(figure))
    plot_answers(answers, tmp_path / "x.png")
    labels = [" ".join(axes.get_xlabel().split()) for axes in figures[0].axes]
    texts["picture"] = "; ".join([figures[0].get_suptitle(), *labels])
    for place, text in texts.items():
        assert all(each in text for each in told), place
        assert "truth" not in text.replace("truth value", ""), place
    assert labels[0].endswith(f"over {told[0]}")
    assert f"over {told[0]}. What is left out or clamped is in no interval." in texts["page"]
    assert "What is left out or clamped is in no interval." in texts["text"]


def test_nothing_is_said_to_be_left_out_where_every_row_counts():
    plan = dataset(one_row_per_person=True).plan(nw.count(by=WARDS), privacy=nw.PureDP(8))
    answers = plan.release(frame="pyarrow").to_pydict()
    assert "left out" not in counted_text(answers)
    assert "every row" in counted_text(answers)
    assert "is in no line" not in release_page(plan, answers, "", "x.html").html()


def test_a_key_called_counted_keeps_its_values_beside_the_column():
    data = nw.Dataset(
        VISITS.rename(columns={"ward": "counted"}), "id", name="x", budget=nw.PureDP(9), rows_per_group=30
    )
    answers = data.plan(nw.count(by=nw.keys("counted", ["A"])), privacy=nw.PureDP(8)).release()
    assert list(answers["key counted"]) == ["A"]
    assert list(answers["counted"]) == ["at most 30 rows of each id"]
