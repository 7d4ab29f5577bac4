"""Workloads say what their matrices say, whatever their form; what cannot be meant is refused with a reason."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.numerics.workloads import answers, gram, squares, unit, weighted_gram
from tests.workloads import WORKLOADS, W, explicit, weights

each_workload = pytest.mark.parametrize("name", WORKLOADS)


def _numbers(count: int, seed: int = 3) -> list[int]:
    return [(seed * (i + 1) ** 2 + i) % 11 - 4 for i in range(count)]


@each_workload
def test_answers_and_sums_of_squares_are_those_of_the_matrix(name: str):
    query = WORKLOADS[name]
    matrix, n = explicit(query), query.size
    assert matrix.shape == (query.dimension, n)
    table = np.array(_numbers(n), dtype=object)
    assert (answers(query, table) == matrix @ table).all()
    assert answers(query, table.astype(float)) == pytest.approx((matrix @ table).astype(float))

    whole, below = gram(query)
    wanted = matrix.T @ (weights(query)[:, None] * matrix)
    assert all(Fraction(int(whole[i, j]), below) == wanted[i, j] for i in range(n) for j in range(n))

    pairs = np.array(_numbers(n * n, 5), dtype=object).reshape(n, n)
    found = np.concatenate([values * unit(part) for part, values in squares(query, pairs)])
    assert (found == np.array([row @ pairs @ row for row in matrix])).all()

    parts = [np.array([abs(v) + 1 for v in _numbers(p.questions, 7)], dtype=object) for p in query.parts]
    scaled = [p * unit(part) for p, part in zip(parts, query.parts, strict=True)]
    assert (weighted_gram(query, scaled) == matrix.T @ (np.concatenate(parts)[:, None] * matrix)).all()


def test_forms_are_what_their_names_say():
    wanted: dict[nw.Workload, list[list[int]]] = {
        W.ranges(3): [[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 1, 1], [0, 0, 1]],
        W.prefixes(3): [[1, 0, 0], [1, 1, 0], [1, 1, 1]],
        W.identity(2): [[1, 0], [0, 1]],
        W.total(2): [[1, 1]],
        W.marginals([2, 2], [(1,), ()]): [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]],
        W.identity(2).product(W.total(2)): [[1, 1, 0, 0], [0, 0, 1, 1]],
    }
    for query, rows in wanted.items():
        assert explicit(query).tolist() == rows
    assert W([["1/3", 0.5]]).matrix() == ((Fraction(1, 3), Fraction(1, 2)),)


def test_attributes_are_named_by_position_or_by_name_in_any_order():
    by_name = W.marginals({"age": 3, "sex": 2}, [("sex", "age"), ("age",)])
    assert by_name == W.marginals([3, 2], [(0, 1), (0,)]) == W.marginals([3, 2], [(1, 0), [0]])
    assert by_name.attributes == (3, 2)
    assert (by_name | by_name * 2).attributes == (3, 2)
    assert W.ranges(4).attributes is None


def test_huge_tables_are_asked_about_without_being_built():
    sizes = [100] * 20
    query = W.marginals(sizes, [(0, 1), (19,)])
    assert (query.size, query.dimension) == (100**20, 10_100)
    assert W.ranges(2**20).dimension == 2**19 * (2**20 + 1)
    with pytest.raises(nw.errors.InvalidQueryError, match="too many to build"):
        W.ranges(2**20).matrix()


@each_workload
def test_a_workload_is_frozen_saved_and_known_by_its_digest(name: str):
    query = WORKLOADS[name]
    again = nw.Workload.from_dict(json.loads(json.dumps(query.to_dict())))
    assert again == query == pickle.loads(pickle.dumps(query))  # noqa: S301  # written just now
    assert again.digest == query.digest != (query * 2).digest
    assert (query * 2 * "1/2") == query == 1 * query
    with pytest.raises(AttributeError):
        query.replace = True  # type: ignore[misc]  # on purpose


def test_who_counts_as_one_person_is_kept_and_must_agree():
    query = W.ranges(3, cells_per_person=2, replace=True)
    assert [(q.cells_per_person, q.replace) for q in (query, query * 3, query | query, query.product(query))] == [
        (2, True)
    ] * 4
    assert "2 cells a person" in str(query)
    for other in (W.ranges(3), W.ranges(3, cells_per_person=2)):
        with pytest.raises(nw.errors.InvalidQueryError, match="make them alike"):
            _ = query | other


BAD = {
    "an empty matrix": lambda: W([]),
    "an empty row": lambda: W([[]]),
    "no number": lambda: W([[float("nan"), 1]]),
    "infinity": lambda: W([[float("inf"), 1]]),
    "text": lambda: W([["many", 1]]),
    "rows of two lengths": lambda: W([[1, 2], [1]]),
    "a number for a matrix": lambda: W(3),  # type: ignore[arg-type]  # on purpose
    "a row that is a number": lambda: W([1, 2]),  # type: ignore[list-item]  # on purpose
    "only zeros": lambda: W([[0, 0]]),
    "no cells": lambda: W.ranges(0),
    "half a cell": lambda: W.ranges(2.5),  # type: ignore[arg-type]  # on purpose
    "a truth value": lambda: W.prefixes(True),
    "no marginals": lambda: W.marginals([2, 3], []),
    "no attributes": lambda: W.marginals([], [()]),
    "an attribute without values": lambda: W.marginals([2, 0], [(0,)]),
    "an attribute that is not there": lambda: W.marginals([2, 3], [(2,)]),
    "an attribute twice": lambda: W.marginals([2, 3], [(1, 1)]),
    "a name that is not there": lambda: W.marginals({"age": 3}, [("sex",)]),
    "another number of cells": lambda: W.ranges(3) | W.ranges(4),
    "a weight of zero": lambda: W.ranges(3) * 0,
    "a negative weight": lambda: W.ranges(3) * -1,
    "a product written as a weight": lambda: W.ranges(3) * W.ranges(3),
    "a product with a number": lambda: W.ranges(3).product(3),  # type: ignore[arg-type]  # on purpose
    "no cell per person": lambda: W.ranges(3, cells_per_person=0),
    "half a person": lambda: W.ranges(3, replace=1),  # type: ignore[arg-type]  # on purpose
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_meant_is_refused(case: str):
    with pytest.raises(nw.errors.InvalidInputError) as refusal:
        BAD[case]()
    assert len(str(refusal.value)) > 20


@pytest.mark.parametrize(
    ("query", "utility"),
    [
        (W.ranges(50).product(W.ranges(50)), nw.SquaredError()),
        (W.ranges(4096), nw.WorstVariance()),
        (W.ranges(2**25), nw.SquaredError()),
        (W([[1] * 2100, [2] + [0] * 2099]), nw.SquaredError()),
    ],
)
def test_tables_too_large_for_what_is_asked_are_refused_before_any_work(query: nw.Workload, utility: object):
    with pytest.raises(nw.errors.InvalidQueryError, match="at most"):
        nw.design(query, privacy=nw.ZeroConcentratedDP(1), utility=utility)


@pytest.mark.parametrize(
    "ask",
    [
        lambda **who: W.total(2, **who),
        lambda **who: W.identity(1, **who),
        lambda **who: W.prefixes(1, **who),
        lambda **who: W([[2, 2, 2], ["1/3", "1/3", "1/3"]], **who),
        lambda **who: W.marginals([1, 3], [(), (0,)], **who),
        lambda **who: W.total(3, **who).product(W([[5, 5]], **who)),
    ],
)
@pytest.mark.parametrize(
    "privacy", [nw.ZeroConcentratedDP(1), nw.ApproxDP(1, "1e-6"), nw.PureDP(1), nw.RenyiDP(3, 1)], ids=repr
)
def test_questions_whose_answers_nobody_changes_are_refused_at_once(ask: Any, privacy: Any):
    with pytest.raises(nw.errors.InvalidQueryError, match="nobody changes any answer"):
        nw.design(ask(replace=True), privacy=privacy, utility=nw.SquaredError())
    assert ask(replace=True).still
    assert not ask(replace=True).with_rows(2).still, "who is replaced may have had more rows"
    assert not ask().still


def test_questions_that_nobody_changes_are_asked_together_with_others():
    one, all_of_them = W.prefixes(3, replace=True), W.total(3, replace=True)
    for asked in (one | all_of_them, one.product(all_of_them), all_of_them.product(one), all_of_them.with_rows(2)):
        report = nw.design(asked, privacy=nw.ZeroConcentratedDP(1), utility=nw.SquaredError())
        assert 0.99 < report.best.certificate.bound <= 1


def test_questions_that_a_replaced_person_changes_are_not_refused():
    for kept in (W([[2, 2, 3]], replace=True), W.prefixes(2, replace=True), W.marginals([1, 3], [(1,)], replace=True)):
        assert kept.replace
    several = W.total(3, cells_per_person=2, replace=True)
    design = nw.design(several, privacy=nw.ZeroConcentratedDP(1), utility=nw.SquaredError())
    assert design.best.certificate.bound == 1
