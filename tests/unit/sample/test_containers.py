"""Labels and shapes come back: what a person hands over, in the very container it came in."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import hypothesis
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import strategies as st

import noisewright as nw
from noisewright.mechanisms.per_coordinate import Several
from noisewright.problem.errors import InvalidAnswerError
from noisewright.sample.certified import make_certified
from noisewright.sample.containers import held, release_in_kind, release_many_in_kind
from noisewright.sample.drawers import OneByOne
from tests.mechanisms_by_hand import GEOMETRIC
from tests.replay import Replay

LABELS = ("north", "south", "east", "west")


class Echo(OneByOne):
    """Releases the truth, and keeps what it was handed: what is left is what containers do."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def release(self, answer: Any, entropy: Any) -> Any:
        if isinstance(answer, list | np.ndarray):
            self.seen.append(list(answer))
            return np.array([float(x) for x in answer])
        return float(answer)

    def draw(self, count: int, entropy: Any) -> Any:
        raise AssertionError("containers draw nothing by themselves")


class Labelled(Several):
    """Several numbers that the question has names for."""

    query: Any = SimpleNamespace(labels=LABELS, dimension=4)


class Unlabelled(Several):
    """Several numbers without names."""

    query: Any = SimpleNamespace(dimension=4)


NAMED, PLAIN = object.__new__(Labelled), object.__new__(Unlabelled)
ONE = SimpleNamespace(query=nw.Scalar(1))


def _same(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, pd.Series):
        pd.testing.assert_series_equal(left, right, check_dtype=False)
        return True
    if isinstance(left, pd.DataFrame):
        pd.testing.assert_frame_equal(left, right, check_dtype=False)
        return True
    if isinstance(left, pl.Series | pl.DataFrame):
        return bool(left.equals(right))
    if isinstance(left, dict):
        return list(left.items()) == list(right.items())
    return bool(left.shape == right.shape and (left == right).all())


SERIES = pd.Series([1.0, 2.5, 3.0, 4.0], index=list("wxyz"), name="people")
CONTAINERS = {
    "array": np.array([1.0, 2.5, 3.0, 4.0]),
    "square": np.array([[1.0, 2.5], [3.0, 4.0]]),
    "column-major": np.asfortranarray([[1.0, 2.5], [3.0, 4.0]]),
    "deep": np.arange(4.0).reshape(1, 2, 1, 2),
    "dict": {"b": 1.0, "a": 2.5, 7: 3.0, ("x", 1): 4.0},
    "series": SERIES,
    "series-of-dates": SERIES.set_axis(pd.date_range("2026-01-01", periods=4, name="day")),
    "series-by-two-levels": SERIES.set_axis(pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["k", "n"])),
    "series-same-label": SERIES.set_axis(["a", "a", "b", "b"]),
    "frame": pd.DataFrame({"x": [1.0, 2.5], "y": [3.0, 4.0]}, index=pd.Index(["r", "s"], name="row")),
    "frame-same-columns": pd.DataFrame([[1.0, 2.5], [3.0, 4.0]], columns=["x", "x"]),
    "one-column": SERIES.to_frame(),
    "polars-series": pl.Series("people", [1.0, 2.5, 3.0, 4.0]),
    "polars-frame": pl.DataFrame({"x": [1.0, 2.5], "y": [3.0, 4.0]}),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_comes_back_with_its_labels_and_shape(name: str):
    given = CONTAINERS[name]
    assert _same(release_in_kind(PLAIN, Echo(), given, Replay()), given)
    assert _same(release_many_in_kind(ONE, Echo(), given, Replay()), given)


@pytest.mark.parametrize("form", [list, tuple, lambda values: range(1, 5)])
def test_a_list_gives_an_array(form: Any):
    released = release_in_kind(PLAIN, Echo(), form([1, 2, 3, 4]), Replay())
    assert isinstance(released, np.ndarray)
    assert released.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "dtype", ["int8", "int64", "uint64", "float32", "float64", "Int64", "UInt8", "Float64", object]
)
def test_a_series_may_hold_any_kind_of_number(dtype: Any):
    given = pd.Series([1, 2, 3, 4], index=list("wxyz"), dtype=dtype)
    released = release_in_kind(PLAIN, Echo(), given, Replay())
    assert released.to_dict() == {"w": 1, "x": 2, "y": 3, "z": 4}
    assert str(released.dtype) == ("Float64" if str(dtype)[0].isupper() else "float64")


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2), pl.Int128])
def test_a_polars_series_may_too(dtype: Any):
    released = release_in_kind(PLAIN, Echo(), pl.Series("n", [1, 2, 3, 4], dtype=dtype), Replay())
    assert released.to_list() == [1, 2, 3, 4]


def test_nothing_is_rounded_on_the_way_to_the_mechanism():
    large, tenth = 2**60 + 1, Decimal("0.1")
    for given in (
        [large, 0.5, tenth, Fraction(1, 3)],
        {"a": large, "b": 0.5, "c": tenth, "d": Fraction(1, 3)},
        pd.Series([large, 0.5, tenth, Fraction(1, 3)], dtype=object),
        pd.DataFrame({"a": [large], "b": [0.5], "c": [tenth], "d": [Fraction(1, 3)]}),
    ):
        echo = Echo()
        release_in_kind(PLAIN, echo, given, Replay())
        assert echo.seen == [[large, 0.5, tenth, Fraction(1, 3)]]
    single = held(pd.DataFrame({"a": np.array([0.1], dtype=np.float32), "b": [1]}))
    assert single is not None
    assert single.numbers[0].dtype == np.float32


def _labelled(order: tuple[str, ...]) -> list[Any]:
    values = [10.0 * LABELS.index(label) for label in order]
    series = pd.Series(values, index=list(order), name="n")
    return [
        dict(zip(order, values, strict=True)),
        series,
        series.astype("Float64"),
        series.to_frame(),
        series.to_frame().T,
        pl.DataFrame({label: [value] for label, value in zip(order, values, strict=True)}),
    ]


@pytest.mark.parametrize("order", [*permutations(LABELS)], ids="-".join)
def test_every_wrong_order_of_labels_is_put_right_and_comes_back_as_it_was(order: tuple[str, ...]):
    for given in _labelled(order):
        echo = Echo()
        released = release_in_kind(NAMED, echo, given, Replay())
        assert echo.seen == [[0, 10, 20, 30]], type(given)
        assert _same(released, given)


@pytest.mark.parametrize("order", [*permutations(LABELS)], ids="-".join)
def test_rows_are_matched_by_their_columns(order: tuple[str, ...]):
    rows = [[10.0 * LABELS.index(label) + i for label in order] for i in range(3)]
    for given in (
        pd.DataFrame(rows, columns=list(order), index=["p", "q", "r"]),
        pl.DataFrame(rows, list(order), orient="row"),
    ):
        echo = Echo()
        assert _same(release_many_in_kind(NAMED, echo, given, Replay()), given)
        assert echo.seen == [[i, 10 + i, 20 + i, 30 + i] for i in range(3)]


def test_numbers_without_labels_are_taken_in_the_order_of_the_question():
    for given in ([1, 2, 3, 4], np.array([[1, 2], [3, 4]]), pl.Series([1, 2, 3, 4])):
        echo = Echo()
        release_in_kind(NAMED, echo, given, Replay())
        assert echo.seen == [[1, 2, 3, 4]]


def test_a_crosstab_is_matched_by_row_and_column():
    class Crossed(Several):
        query: Any = SimpleNamespace(labels=(("a", 1), ("a", 2), ("b", 1), ("b", 2)), dimension=4)

    frame, echo = pd.DataFrame({2: [4.0, 2.0], 1: [3.0, 1.0]}, index=["b", "a"]), Echo()
    assert _same(release_in_kind(object.__new__(Crossed), echo, frame, Replay()), frame)
    assert echo.seen == [[1, 2, 3, 4]]


def test_a_label_answers_to_its_text():
    class Years(Several):
        query: Any = SimpleNamespace(labels=("2024", "2025"), dimension=2)

    echo = Echo()
    assert release_in_kind(object.__new__(Years), echo, {2025: 5, 2024: 4}, Replay()) == {2025: 5, 2024: 4}
    assert echo.seen == [[4, 5]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"north": 8675309, "south": 1, "east": 2}, "missing: 'west'"),
        (Counter(["north", "north"]), "missing: 'south', 'east', 'west'"),
        ({**dict.fromkeys(LABELS, 8675309), "up": 1, "down": 2}, "unknown: 'up', 'down'"),
        (pd.Series([8675309] * 4, index=["north", "south", "east", "East"]), "missing: 'west'; unknown: 'East'"),
        (pd.Series([8675309] * 5, index=[*LABELS, "west"]), "given twice: 'west'"),
        ({str(i): 1 for i in range(40)}, "and 35 more"),
    ],
)
def test_labels_that_do_not_fit_are_named(given: Any, said: str):
    with pytest.raises(InvalidAnswerError) as caught:
        release_in_kind(NAMED, Echo(), given, Replay())
    assert said in str(caught.value)
    assert "8675309" not in str(caught.value)


MISSING = {
    "list": [7.0, None, 8675309.0, 1.0],
    "nan": [7.0, float("nan"), 8675309.0, 1.0],
    "numpy-nan": np.array([[7.0, np.nan], [8675309.0, 1.0]]),
    "object": np.array([7, None, 8675309, 1], dtype=object),
    "masked": np.ma.array([7, 1, 8675309, 1], mask=[0, 1, 0, 0]),
    "dict": {"a": 7, "b": np.float32("nan"), "c": 8675309, "d": 1},
    "series": pd.Series([7, np.nan, 8675309, 1]),
    "nullable": pd.Series([7, pd.NA, 8675309, 1], dtype="Int64"),
    "nat": pd.Series([7, pd.NaT, 8675309, 1], dtype=object),
    "frame": pd.DataFrame({"x": [7, 8675309], "y": [np.nan, 1]}),
    "polars": pl.Series([7, None, 8675309, 1]),
    "polars-nan": pl.Series([7.0, float("nan"), 8675309.0, 1.0]),
    "polars-frame": pl.DataFrame({"x": [7, 8675309], "y": [None, 1]}),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_number_is_refused_by_its_place(name: str):
    for call in (
        lambda x: release_in_kind(PLAIN, Echo(), x, Replay()),
        lambda x: release_many_in_kind(ONE, Echo(), x, Replay()),
    ):
        with pytest.raises(InvalidAnswerError, match="place 1 ") as caught:
            call(MISSING[name])
        assert "8675309" not in str(caught.value)


NO_NUMBERS = {
    "array of truth": np.array([True] * 4),
    "array of times": np.array(["2026-01-01"] * 4, dtype="datetime64[D]"),
    "array of spans": np.array([1, 2, 3, 4], dtype="timedelta64[s]"),
    "complex": np.array([1j] * 4),
    "category": pd.Series([1, 2, 3, 4]).astype("category"),
    "truth": pd.Series([True, False, True, True]),
    "nullable truth": pd.Series([True, False, True, True], dtype="boolean"),
    "text": pd.Series(list("abcd"), dtype="string"),
    "times": pd.Series(pd.date_range("2026-01-01", periods=4)),
    "column of text": pd.DataFrame({"ward": pd.Series(["a", "b"], dtype="string"), "n": [1, 2]}),
    "polars truth": pl.Series([True] * 4),
    "polars category": pl.Series(list("abcd"), dtype=pl.Categorical),
    "polars text": pl.DataFrame({"ward": ["a", "b"], "n": [1, 2]}),
}


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_what_is_no_number_is_refused(name: str):
    with pytest.raises(InvalidAnswerError, match="no numbers"):
        release_in_kind(PLAIN, Echo(), NO_NUMBERS[name], Replay())


def test_truth_values_and_words_in_a_list_are_refused_by_the_mechanism():
    several = nw.design(nw.Vector(nw.Disjoint([1, 1])), privacy=nw.PureDP(1), utility=nw.SquaredError()).best
    for bad in ([True, 1], {"a": 1, "b": "many"}, pd.Series([1, "x"], dtype=object), [1, float("inf")], [1, 2, 3]):
        with pytest.raises(InvalidAnswerError):
            several.release(bad)


@pytest.mark.parametrize("bad", [{1, 2, 3, 4}, frozenset({1})])
def test_a_set_has_no_order(bad: Any):
    for mechanism in (PLAIN, ONE):
        with pytest.raises(InvalidAnswerError, match="no order"):
            release_in_kind(mechanism, Echo(), bad, Replay())
    with pytest.raises(InvalidAnswerError, match="list"):
        release_many_in_kind(PLAIN, Echo(), bad, Replay())


@pytest.mark.parametrize("bad", ["1234", b"12", 5, None, np.array(5), 3.5])
def test_many_answers_are_a_list(bad: Any):
    for mechanism in (PLAIN, ONE):
        with pytest.raises(InvalidAnswerError, match="list"):
            release_many_in_kind(mechanism, Echo(), bad, Replay())


@pytest.mark.parametrize("bad", [[3], [3, 4], np.array([3.0]), pd.Series([3]), {"a": 3}])
def test_one_number_takes_one_and_says_where_many_go(bad: Any):
    with pytest.raises(InvalidAnswerError, match="release_many"):
        make_certified(GEOMETRIC, nw.PureDP(1)).release(bad)


def test_many_answers_of_several_numbers():
    rows = [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]
    assert release_many_in_kind(PLAIN, Echo(), rows, Replay()).tolist() == rows
    assert release_many_in_kind(PLAIN, Echo(), iter(rows), Replay()).tolist() == rows
    assert release_many_in_kind(PLAIN, Echo(), [], Replay()).shape == (0, 4)
    for none in (np.empty((0, 4)), pd.DataFrame(columns=list(LABELS), dtype=float)):
        assert release_many_in_kind(NAMED, Echo(), none, Replay()).shape == (0, 4)
    deep = np.arange(16.0).reshape(4, 2, 2)
    assert _same(release_many_in_kind(PLAIN, Echo(), deep, Replay()), deep)
    keyed = release_many_in_kind(PLAIN, Echo(), {"p": rows[0], "q": SERIES}, Replay())
    assert list(keyed) == ["p", "q"]
    assert keyed["p"].tolist() == rows[0]
    assert _same(keyed["q"], SERIES)
    listed = release_many_in_kind(PLAIN, Echo(), [SERIES, SERIES], Replay())
    assert all(_same(one, SERIES) for one in listed)
    for bad in ([1, 2], SERIES, pl.Series([1, 2, 3, 4])):
        with pytest.raises(InvalidAnswerError, match="several numbers"):
            release_many_in_kind(PLAIN, Echo(), bad, Replay())


def test_whole_numbers_stay_whole_in_every_container():
    counts = make_certified(GEOMETRIC, nw.PureDP(1))
    assert counts.release_many([1, 2, 3]).dtype == np.int64
    assert counts.release_many(pd.Series([1, 2], dtype="Int64")).dtype == "Int64"
    assert counts.release_many(pl.Series([1, 2])).dtype == pl.Int64
    assert all(type(v) is int for v in counts.release_many({"a": 1, "b": 2}).values())
    assert type(counts.release(np.array(3))) is int


def test_a_histogram_is_matched_by_its_labels():
    histogram = nw.design(nw.Histogram(["a", "b", "c"]), privacy=nw.PureDP(8), utility=nw.AbsoluteError()).best
    released = histogram.release(pd.Series({"c": 3000, "a": 1000, "b": 2000}, name="people"))
    assert list(released.index) == ["c", "a", "b"]
    assert released.name == "people"
    assert released.dtype == np.int64
    # At epsilon 8 noise of 50 and more has a chance below 1e-170.
    assert (abs(released - [3000, 1000, 2000]) < 50).all()
    with pytest.raises(InvalidAnswerError, match="missing: 'b'"):
        histogram.release({"a": 1, "c": 2})


def test_scores_of_a_choice_may_be_a_series():
    best = nw.design(nw.Choice(("a", "b")), privacy=nw.PureDP(8), utility=nw.AbsoluteError()).best
    assert best.release(pd.Series({"b": 1000, "a": 0})) == "b"
    for bad in (pd.Series([1, 2, 3], index=["a", "b", "b"]), [1, 2], pd.Series({"a": 1})):
        with pytest.raises(InvalidAnswerError, match="score"):
            best.release(bad)


@hypothesis.given(
    st.permutations(range(6)).flatmap(
        lambda order: st.tuples(st.just(order), st.lists(st.integers(-(2**70), 2**70), min_size=6, max_size=6))
    )
)
def test_any_labels_in_any_order(case: tuple[list[int], list[int]]):
    order, values = case

    class Numbered(Several):
        query: Any = SimpleNamespace(labels=tuple(range(6)), dimension=6)

    given, echo = {label: values[label] for label in order}, Echo()
    released = release_in_kind(object.__new__(Numbered), echo, given, Replay())
    assert echo.seen == [values]
    assert released == {label: float(value) for label, value in given.items()}


def test_neither_pandas_nor_polars_is_loaded_for_those_who_do_not_use_them():
    code = (
        "import sys, noisewright as nw, numpy as np\n"
        "best = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.AbsoluteError()).best\n"
        "best.release_many({'a': 1}), best.release_many(np.ones((2, 2))), best.half_width(0.9), best.explain()\n"
        "assert not {'pandas', 'polars'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
