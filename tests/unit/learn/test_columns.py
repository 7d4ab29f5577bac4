"""Columns by name, bounds that must be given or paid for, and what fits and searches spend."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

sklearn = pytest.importorskip("sklearn", reason="needs the extra noisewright[learn]")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, PredefinedSplit  # noqa: E402

from noisewright.learn import NaiveBayes  # noqa: E402
from noisewright.learn.columns import MAGNITUDES, _ends, bounds_from, magnitudes  # noqa: E402
from noisewright.problem.errors import InvalidInputError  # noqa: E402
from tests.unit.learn.watching import change, lies_in, releases_of, watching  # noqa: E402

ROWS = np.array([[0, 1.0], [2, -1.5], [1, 5.0], [0, 2.5], [2, 6.0], [1, 0.0]])
LABELS = np.array([5, 7, 9, 7, 5, 9])
NAMED: dict[str, Any] = {"categorical": {"kind": 3}, "bounds": {"size": (-2, 6)}, "classes": [5, 7, 9]}


def test_bounds_are_required_and_the_error_says_how():
    with watching() as seen, pytest.raises(InvalidInputError) as refusal:
        NaiveBayes(1, categorical={0: 3}).fit(ROWS, LABELS)
    assert seen == [], "nothing is spent"
    for word in ("column 1 has no bounds", "bounds=(0, 120)", "publicly known", 'bounds="estimate"', "not private"):
        assert word in str(refusal.value)
    assert not any(str(value) in str(refusal.value) for value in (6.0, -1.5))


def test_a_mapping_without_a_column_leaves_it_without_bounds():
    with pytest.raises(InvalidInputError, match="column size has no bounds"):
        NaiveBayes(1, bounds={"kind": (0, 2)}, feature_names=["kind", "size"]).fit(ROWS, LABELS)


def test_columns_are_meant_by_name():
    model = NaiveBayes(1, feature_names=["kind", "size"], **NAMED)
    by_name = releases_of(model, ROWS, LABELS)
    by_number = releases_of(NaiveBayes(1, categorical={0: 3}, bounds={1: (-2, 6)}, classes=[5, 7, 9]), ROWS, LABELS)
    assert [r.answer for r in by_name] == [r.answer for r in by_number]
    assert [r.certified.mechanism for r in by_name] == [r.certified.mechanism for r in by_number]
    assert list(model.feature_names_in_) == ["kind", "size"]
    assert clone(model).feature_names == ["kind", "size"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(ROWS).shape == (6,)


def test_a_frame_brings_its_names():
    pyarrow = pytest.importorskip("pyarrow", reason="needs the extra noisewright[lab]")
    frame = pyarrow.table({"kind": ROWS[:, 0], "size": ROWS[:, 1]})
    model = NaiveBayes(1, **NAMED).fit(frame, LABELS)
    assert list(model.feature_names_in_) == ["kind", "size"]
    assert model.bounds_ == {1: (-2.0, 6.0)}
    assert model.predict(frame).shape == (6,)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename_columns(["size", "kind"]))
    with pytest.raises(InvalidInputError, match="differ"):
        NaiveBayes(1, feature_names=["a", "b"], **NAMED).fit(frame, LABELS)


@pytest.mark.parametrize("wrong", [{"bounds": {"sise": (0, 1)}}, {"categorical": {"kinds": 3}}])
def test_a_name_that_is_not_there_is_answered_with_those_that_are(wrong):
    with pytest.raises(InvalidInputError, match="the columns are kind, size"):
        NaiveBayes(1, feature_names=["kind", "size"], **{**NAMED, **wrong}).fit(ROWS, LABELS)


def test_a_name_for_columns_without_names_is_refused():
    with pytest.raises(InvalidInputError, match="give feature_names"):
        NaiveBayes(1, **NAMED).fit(ROWS, LABELS)


values = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(values, min_size=1, max_size=30))
def test_a_value_is_in_the_cell_that_holds_it(column):
    for value, cell in zip(column, magnitudes(np.array(column)), strict=True):
        assert 0 <= cell < MAGNITUDES
        low, high = _ends(int(cell))
        inside = low <= value <= high
        beyond = abs(value) >= 2.0**39 and math.copysign(1, value) == math.copysign(1, low)
        assert inside or beyond


def test_cells_lie_side_by_side():
    ends = sorted(_ends(k) for k in range(MAGNITUDES))
    assert all(a[1] == b[0] for a, b in pairwise(ends))
    assert ends[-1][1] == -ends[0][0] == 2.0**40


def test_bounds_cover_the_cells_that_stand_out():
    noisy = np.zeros(MAGNITUDES)
    cells = magnitudes(np.array([3.0, 100.0, -0.3]))
    noisy[cells] = 1000
    noisy[5] = 20  # what noise may do in an empty cell
    assert bounds_from(noisy, Fraction(1, 2), 1) == (-0.5, 128.0)
    assert bounds_from(noisy / 1000, Fraction(1, 100), 1) == _ends(int(np.argmax(noisy)))


def test_bounds_are_found_with_a_part_of_epsilon_that_is_charged():
    generator = np.random.Generator(np.random.PCG64(7))
    labels = np.repeat([0, 1], 2000)
    rows = np.column_stack([generator.normal(40 + 20 * labels, 5), generator.uniform(0, 1, 4000)])
    model = NaiveBayes("3/2", bounds={0: "estimate", 1: (0, 1)}, classes=[0, 1])
    releases = releases_of(model, rows, labels)
    assert [len(r.answer) for r in releases] == [2, MAGNITUDES, 2, 2, 2, 2]
    assert sum(releases[1].answer) == 4000
    assert model.bounds_[1] == (0.0, 1.0)
    low, high = model.bounds_[0]
    assert low <= 32
    assert high >= 64
    assert model.spent_ <= Fraction(3, 2)
    charged: list[Any] = [r.certified.certificate.requirement for r in releases]
    assert model.spent_ == sum(requirement.epsilon for requirement in charged)
    assert model.estimated_ == ["0"]
    assert "found the bounds of 0" in model.describe()
    assert np.mean(model.predict(rows) == labels) > 0.9


persons = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 2.0]), values, st.sampled_from([5, 7, 9])), min_size=1, max_size=3
)


@settings(max_examples=25)
@given(persons)
def test_whatever_rows_a_person_has_the_change_of_the_histogram_is_in_the_certified_set(person):
    def histogram(rows: list[Any], labels: list[Any]) -> Any:
        options: dict[str, Any] = {"categorical": {0: 3}, "bounds": "estimate", "classes": [5, 7, 9]}
        return releases_of(NaiveBayes(1, rows_per_person=len(person), **options), rows, labels)[2]

    others, known = ROWS.tolist(), LABELS.tolist()
    here = histogram(others + [[a, b] for a, b, _ in person], known + [label for *_, label in person])
    there = histogram(others, known)
    assert len(here.answer) == MAGNITUDES
    assert here.certified.mechanism == there.certified.mechanism
    assert lies_in(change(here, there), here.certified.mechanism.query.sensitivity)


@pytest.mark.parametrize("most", [1, 3])
def test_the_histogram_is_certified_for_all_rows_of_a_person(most):
    options: dict[str, Any] = {"categorical": {0: 3}, "bounds": "estimate", "classes": [5, 7, 9]}
    release = releases_of(NaiveBayes(1, rows_per_person=most, **options), ROWS, LABELS)[2]
    assert set(release.certified.mechanism.query.extents) == {most}


def test_a_fit_says_what_it_spent():
    model = NaiveBayes("0.7", feature_names=["kind", "size"], **NAMED).fit(ROWS, LABELS)
    assert Fraction(699, 1000) < model.spent_ <= Fraction(7, 10)
    said = model.describe()
    assert "on 4 releases" in said
    assert "at most 1 row." in said
    assert "spends epsilon again" in said
    assert "not private" in said


@pytest.mark.parametrize(
    ("most", "options", "fits"),
    [(1, {}, 3 * 4 + 1), (1, {"refit": False}, 3 * 4), (2, {}, 3 * 5 + 1), (2, {"grouped": True}, 3 * 4 + 1)],
)
def test_a_search_spends_epsilon_on_every_fit_a_person_is_in(most, options, fits):
    model = NaiveBayes("1/3", bounds=(0, 1), rows_per_person=most)
    assert model.spent_by_search(3, 5, **options) == Fraction(fits, 3)


@pytest.mark.parametrize(("points", "folds"), [(0, 5), (3, 1)])
def test_no_search_is_that_small(points, folds):
    with pytest.raises(InvalidInputError, match="at least"):
        NaiveBayes(1, bounds=(0, 1)).spent_by_search(points, folds)


def test_the_fits_of_a_search_are_those_that_are_counted():
    """Counted from outside: a person's row is in the training rows of so many fits, each of which spends epsilon."""
    rows = np.column_stack([np.tile(ROWS[:, :1], (4, 1)), np.arange(24.0)])
    labels, folds = np.tile(LABELS, 4), np.arange(24) % 3
    model = NaiveBayes(1, categorical={0: 3}, bounds={1: (0, 24)}, classes=[5, 7, 9])
    seen: list[bool] = []

    class Counted(NaiveBayes):  # type: ignore[misc]  # scikit-learn ships no types
        def fit(self, X, y, groups=None):  # noqa: N803
            seen.append(17.0 in X[:, 1])
            return super().fit(X, y, groups)

    search = GridSearchCV(Counted(**model.get_params()), {"noise": ["Laplace", "staircase"]}, cv=PredefinedSplit(folds))
    search.fit(rows, labels)
    assert len(seen) == 3 * 2 + 1
    assert sum(seen) * Fraction(1) == model.spent_by_search(points=2, folds=3) == 5
