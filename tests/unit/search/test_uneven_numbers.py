"""Numbers of very different extent, added up without weights: a warning that can be copied, and what it is worth."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import noisewright as nw
from noisewright.search.report.render import UNEVEN, uneven_note

PURE = nw.PureDP(1)
SUMS = nw.Vector(nw.Box([1, 120, 1_000_000]))


def suggested(note: str) -> Any:
    """The utility that a note says to give, made by running what it says."""
    found = re.search(r"give utility=(nw\.\w+\(.*\]\))", note)
    assert found
    return eval(found[1], {"nw": nw, "query": SUMS})  # noqa: S307  # what a reader would paste


@pytest.mark.parametrize("utility", [nw.SquaredError(), nw.AbsoluteError(), nw.PowerError(3)], ids=str)
def test_the_weights_that_are_named_can_be_pasted_and_end_the_warning(utility: Any):
    note = uneven_note(SUMS, utility)
    assert note is not None
    better = suggested(note)
    assert type(better) is type(utility)
    assert better.power == utility.power
    for weight, extent in zip(better.weights, SUMS.extents, strict=True):
        assert float(weight * extent**utility.power) == pytest.approx(1, rel=1e-5)
    assert uneven_note(SUMS, better) is None


def test_a_design_warns_where_it_was_called_and_its_report_says_the_same():
    with pytest.warns(
        nw.errors.UnevenNumbersWarning, match=r"SquaredError\(weights=\[1, 6.94444e-05, 1e-12\]\)"
    ) as seen:
        report = nw.design(SUMS, privacy=PURE, utility=nw.SquaredError())
    assert [w.filename for w in seen] == [__file__]
    assert str(seen[0].message) in report.notes
    assert str(seen[0].message) in str(report)
    assert issubclass(nw.errors.UnevenNumbersWarning, UserWarning)


def test_the_weights_save_the_small_numbers():
    """A count beside incomes: an error of thousands without weights, of a few with them."""
    alike = nw.design(SUMS, privacy=PURE, utility=nw.SquaredError([1, 1, 1]))
    own = nw.design(SUMS, privacy=PURE, utility=suggested(str(uneven_note(SUMS, nw.SquaredError()))))
    assert alike.parts[0][0] > 1000**2
    assert own.parts[0][0] < 3**2


@pytest.mark.parametrize(
    ("query", "utility"),
    [
        (nw.Vector(nw.Box([1, UNEVEN - 1])), nw.SquaredError()),
        (nw.Vector(nw.Box([1, 0, 2])), nw.SquaredError()),
        (nw.Vector(nw.Box([1, 1000])), nw.SquaredError([1, 1])),
        (nw.Vector(nw.Disjoint([1, 1000])), nw.SquaredError()),
        (nw.Vector(nw.Box([1, 1000])), nw.LargestError()),
        (nw.Vector(nw.Box([1, 1000])), nw.Usefulness(1)),
        (nw.Vector(nw.L2Ball(1000, 3)), nw.SquaredError()),
        (nw.Scalar(1000), nw.SquaredError()),
    ],
    ids=str,
)
def test_there_is_no_warning_where_weights_are_given_or_would_not_help(query: Any, utility: Any):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = nw.design(query, privacy=PURE, utility=utility)
    assert not any("weights=[" in note for note in report.notes)


@pytest.mark.parametrize("chosen", [nw.Box([1, UNEVEN]), nw.Sparse(2, [1, 1, UNEVEN]), nw.Points([[1, 90], [0, 1]])])
def test_from_the_stated_ratio_on_it_warns(chosen: Any):
    assert uneven_note(nw.Vector(chosen), nw.SquaredError()) is not None


def test_weights_change_nothing_where_one_number_moves_at_a_time():
    query = nw.Vector(nw.Disjoint([1, 1000]))
    alike = nw.design(query, privacy=PURE, utility=nw.SquaredError())
    own = nw.design(query, privacy=PURE, utility=nw.SquaredError([1, "1e-6"]))
    assert alike.parts[0] == pytest.approx(own.parts[0])


def test_many_weights_are_named_by_a_rule():
    many = nw.Vector(nw.Box([1, 0, *range(2, 60)]))
    note = uneven_note(many, nw.SquaredError())
    assert note is not None
    found = re.search(r"weights=(\[.*\])\)", note)
    assert found
    weights = eval(found[1], {"query": many})  # noqa: S307  # what a reader would paste
    assert [float(w) for w in weights[:3]] == [1, 1, 1 / 4]
    assert uneven_note(many, nw.SquaredError(weights)) is None
