"""Questions are exact on construction, say what one person changes, and turn noisy numbers into honest intervals."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import noisewright as nw
from noisewright.release.ask import estimates
from noisewright.release.ask.mean import Mean
from noisewright.release.ask.variance import Variance
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.layout import ContributionBounds
from noisewright.release.stage.aggregates import Partial, Persons, Present, Rows, Squares, Total
from noisewright.release.stage.ranges import Range

AGES = Range((0, 120), 1)
MEAN, VARIANCE = Mean("age", AGES), Variance("age", AGES)


def test_extents_are_those_of_the_table_in_the_docstring():
    assert [n.sensitivity(3) for n in (Rows(), Persons(), Present("x"))] == [3, 1, 3]
    assert Total("x", AGES, True).sensitivity(3) == 180
    assert Total("x", AGES, False).sensitivity(3) == 360
    assert Total("x", Range((-200, 10), 1), False).sensitivity(1) == 200
    assert [Partial("x", AGES, (-200, 10)).sensitivity(rows) for rows in (1, 9)] == [200, 200]
    assert Partial("x", Range((0, 3), "0.1"), (0, 3.14)).sensitivity(1) == 31
    assert Squares("x", AGES).sensitivity(1) == 1800
    assert Squares("x", Range((0, 5), 1)).sensitivity(2) == 10, "of 0..9 less 4: from -4 to 5"


def test_a_range_is_exact_and_its_step_fine():
    span = Range((0, 0.3))
    assert (span.step, span.first, span.last) == (Fraction(1, 10**7), 0, 3_000_000)
    assert Range((-1, 1), 1).radius == 1
    assert nw.ask.variance("x", bounds=(0, 120)).range.step == Fraction(1, 100)


def test_one_person_changes_every_table_at_once():
    wards = nw.keys("ward", ["A", "B", "C"])
    layout = layout_of(
        [nw.count(by=wards), nw.ask.persons(), nw.mean("age", bounds=(0, 120), step=1)], ContributionBounds(2, 2, False)
    )
    assert str(layout.sensitivity).startswith("at most 2 of 2 groups change")
    assert layout.sensitivity.extents == (2, 2, 2, 1, 2, 120)
    assert layout.holds([2, 0, -2, 1, 2, -120])
    assert not layout.holds([1, 1, 1, 0, 0, 0]), "three groups at once"
    assert not layout.holds([0, 0, 0, 2, 0, 0]), "one person is one person"
    assert not layout.holds([0, 0, 0, 0, 0, 121])
    assert not layout.holds([0, 0, 0])


def test_keys_are_listed_once_and_of_one_kind():
    keys = nw.keys("ward", np.array(["A", "B", "A"]))
    assert keys.rows == (("A",), ("B",))
    assert nw.keys({"a": [1, 2], "b": [True, False]}).rows == ((1, True), (1, False), (2, True), (2, False))
    assert nw.keys("day", [date(2020, 1, 2)]).kinds == ("date",)
    assert nw.keys(["a", "b"], [("x", 1)]).kinds == ("text", "integer")
    again = type(keys).from_dict(nw.keys("day", [date(2020, 1, 2)]).to_dict())
    assert again.rows == ((date(2020, 1, 2),),)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: nw.keys("ward"), "taken from the data"),
        (lambda: nw.keys("ward", []), "has 0 items"),
        (lambda: nw.keys("ward", "AB"), "give a list of values"),
        (lambda: nw.keys("ward", ["A", 1]), "integer and text; give values of one kind"),
        (lambda: nw.keys("ward", [0.5]), "a float is no key"),
        (lambda: nw.keys("ward", [None]), "of type NoneType"),
        (lambda: nw.keys("ward", [2**63]), "at most 64 bits"),
        (lambda: nw.keys("ward", ["\ud800"]), "UTF-8 cannot write"),
        (lambda: nw.keys(["a", "a"], [(1, 2)]), "twice"),
        (lambda: nw.keys(["a", "b"], [(1,)]), "each row of keys has 2 values"),
        (lambda: nw.keys({"a": range(2000), "b": range(2000)}), "4000000 groups"),
        (lambda: nw.mean("age", bounds=(120, 0)), r"give \(lowest, highest\)"),
        (lambda: nw.mean("age", bounds=(0, float("nan"))), "finite"),
        (lambda: nw.mean("age", bounds=(0, 1), step=3), "wider than the bounds"),
        (lambda: nw.mean("age", bounds=(0, 1), step="1e-30"), r"beyond 2\^40"),
        (lambda: nw.mean("age", bounds=(0, 1), by=["A"]), "give a Keys"),
        (lambda: nw.mean(3, bounds=(0, 1)), "give text"),
        (lambda: nw.ask.histogram("age", edges=[0, 0]), "must increase"),
        (lambda: nw.ask.histogram("age", edges=[0]), "give at least 2"),
        (
            lambda: layout_of([nw.ask.sum("x", bounds=(0, 2**39), step=1)], ContributionBounds(5, 1, False)),
            "give a coarser step=",
        ),
        (lambda: ContributionBounds(0, 1, False), "rows_per_group is 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(made: Any, words: str):
    with pytest.raises(nw.errors.InvalidInputError, match=words):
        made()


def test_a_plain_answer_is_in_the_middle_of_its_interval():
    generator = np.random.default_rng(4)
    for _ in range(300):
        value = int(generator.integers(-(2**60), 2**60)) * 10 ** int(generator.integers(0, 20))
        width, unit = (Fraction(int(a), int(b)) for a, b in generator.integers(1, 10**9, (2, 2)))
        found = estimates.plain(value, width, unit)
        exact = [value * unit, width * unit, (value - width) * unit, (value + width) * unit]
        assert [found.value, found.half_width, found.low, found.high] == exact
        assert list(found.doubles) == [float(part) for part in exact]
        assert estimates.Interval(found.value, found.low, found.high).doubles == found.doubles


def test_a_mean_of_too_few_says_nothing():
    assert MEAN.estimate([5, 7], [Fraction(5), Fraction(100)]) == estimates.NOTHING
    assert MEAN.estimate([-5, 7], [Fraction(1), Fraction(100)]).value is None
    found = MEAN.estimate([100, -500], [Fraction(10), Fraction(90)])
    assert found.value == 60 - 5
    assert (found.low, found.high) == (60 - Fraction(590, 90), 60 - Fraction(410, 110))
    assert found.half_width == Fraction(590, 90) - 5


def test_intervals_stay_within_the_bounds():
    found = MEAN.estimate([4, 1000], [Fraction(1), Fraction(5000)])
    assert [found.low, found.value, found.high] == [0, 120, 120]
    spread = VARIANCE.estimate([4, 0, 1000], [Fraction(1), Fraction(5000), Fraction(10**6)])
    assert [spread.low, spread.high] == [0, 3600]


def test_an_interval_holds_the_truth_whenever_its_numbers_do():
    generator = np.random.default_rng(3)
    for _ in range(300):
        values = generator.integers(0, 121, generator.integers(1, 40))
        centred = values.astype(int) - 60
        true = [len(values), int(centred.sum()), int((centred**2 - 1800).sum())]
        reach = [Fraction(int(generator.integers(0, 3))), Fraction(int(generator.integers(0, 200))), Fraction(5000)]
        noisy = [n + int(generator.integers(-int(r), int(r) + 1)) for n, r in zip(true, reach, strict=True)]
        mean = MEAN.estimate(noisy[:2], reach[:2])
        spread = VARIANCE.estimate(noisy, reach)
        if mean.value is not None:
            assert float(mean.low or 0) - 1e-9 <= values.mean() <= float(mean.high or 0) + 1e-9
            assert float(spread.low or 0) - 1e-9 <= values.var() <= float(spread.high or 0) + 1e-9


def test_keys_come_from_a_public_table(tmp_path: Path):
    path = tmp_path / "wards.csv"
    path.write_text("ward,floor,since\nB,2,2026-01-01\nA,1,\nA,1,2025-02-01\n,3,2026-02-30\n", encoding="utf-8")
    assert nw.keys("ward", path).rows == (("A",), ("B",)), "in order, each once, and no missing one"
    assert nw.keys("floor", str(path), types={"floor": "integer"}).rows == ((1,), (2,), (3,))
    assert nw.keys(["ward", "floor"], path).rows == (("A", "1"), ("B", "2"))
    since = nw.keys({"since": path, "sex": ["f"]}, types={"since": "date"})
    assert since.rows == ((date(2025, 2, 1), "f"), (date(2026, 1, 1), "f"))
    assert nw.keys("ward", pl.DataFrame({"ward": [3, None, 1]})).rows == ((1,), (3,))
    refused = {
        "AB": "give a list of values, or a public table",
        str(tmp_path / "none.csv"): "there is no file",
        str(path): "there is no column 'wart'",
    }
    for values, words in refused.items():
        with pytest.raises(nw.errors.InvalidInputError, match=words):
            nw.keys("wart", values)
    with pytest.raises(nw.errors.InvalidInputError, match="is of type float64; keys are text"):
        nw.keys("x", pl.DataFrame({"x": [1.5]}))
    with pytest.raises(nw.errors.InvalidInputError, match="are listed"):
        nw.keys("x", ["1"], types={"x": "integer"})


def test_a_sum_with_bounds_of_persons():
    asked = nw.ask.sum("cost", bounds=(0, 5000), step=1, person_bounds=(0, 8000))
    assert asked.aggregates == (Partial("cost", Range((0, 5000), 1), (0, 8000)),)
    assert layout_of([asked], ContributionBounds(7, 1, False)).sensitivity.extents == (8000,), "whatever the rows"
    assert type(asked).from_dict(asked.to_dict()) == asked
    plain = nw.ask.sum("cost", bounds=(0, 5000))
    assert "person_bounds" not in plain.to_dict(), "plans that were saved before it still load"
    beside = layout_of([asked, nw.count(), nw.ask.persons()], ContributionBounds(7, 1, False))
    assert beside.sensitivity.extents == (8000, 7, 1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"person_bounds": (100, 8000)}, "0 must be within them"),
        ({"person_bounds": (8000, 0)}, "give \\(lowest, highest\\)"),
        ({"person_bounds": 8000}, "a pair"),
        ({"person_bounds": (0, "0.4"), "step": 1}, "narrower than the step"),
        ({"person_bounds": (0, 8000), "centred": True}, "give one of them"),
        ({"person_bounds": (0, float("nan"))}, "person_bounds"),
    ],
)
def test_bounds_of_persons_that_mean_nothing_are_refused(given: Any, words: str):
    with pytest.raises(nw.errors.InvalidInputError, match=words):
        nw.ask.sum("cost", bounds=(0, 5000), **given)


def test_a_persons_sum_of_too_many_steps_is_refused():
    with pytest.raises(nw.errors.InvalidQueryError, match="coarser step"):
        layout_of(
            [nw.ask.sum("x", bounds=(0, 5), step="0.001", person_bounds=(0, 10**10))], ContributionBounds(1, 1, False)
        )
