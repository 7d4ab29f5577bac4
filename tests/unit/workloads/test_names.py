"""Every question has a name that says which cells it is about."""

from __future__ import annotations

import pytest

import noisewright as nw

W = nw.Workload


@pytest.mark.parametrize("size", [1, 2, 5, 37])
def test_runs_are_named_by_their_first_and_last_cell(size: int):
    wanted = [f"{i}..{j}" if j > i else f"{i}" for i in range(size) for j in range(i, size)]
    assert list(W.ranges(size).names) == wanted
    assert W.ranges(size).names[-1] == wanted[-1]


def test_names_follow_the_order_of_answers():
    people = W.marginals({"age": 3, "sex": 2}, [("sex", "age"), ("age",), ()])
    assert list(people.names) == [
        *(f"age={a} × sex={s}" for a in range(3) for s in range(2)),
        *(f"age={a}" for a in range(3)),
        "total",
    ]
    assert people.names[6:8] == ["age=0", "age=1"]
    assert (people * 3 | people).names[10:12] == ["age=0 × sex=0", "age=0 × sex=1"]
    assert list(W.prefixes(2).product(W([[1, 0], [1, 1]])).names) == [
        "0=0 × 1=row 0", "0=0 × 1=row 1", "0=0..1 × 1=row 0", "0=0..1 × 1=row 1"
    ]  # fmt: skip
    assert list(W.total(3).names) == ["total"]


def test_a_name_far_down_a_long_list_takes_no_time():
    names = W.ranges(2**20).names
    assert len(names) == 2**19 * (2**20 + 1)
    assert names[-1] == f"{2**20 - 1}"
    with pytest.raises(IndexError):
        names[len(names)]


def test_attributes_keep_their_names_in_files_and_products_but_are_the_same_question():
    named, plain = W.marginals({"a": 2, "b": 3}, [("a",)]), W.marginals([2, 3], [(0,)])
    assert named == plain
    assert hash(named) == hash(plain)
    assert W.from_dict(named.to_dict()).axes == ("a", "b")
    assert plain.axes is None
    assert "axes" not in plain.to_dict()
    assert named.product(W.marginals({"c": 2}, [("c",)])).axes == ("a", "b", "c")
    assert named.product(named).axes is None
    assert (named | plain).axes is None
    assert (named * 2).axes == ("a", "b")
    with pytest.raises(nw.errors.InvalidQueryError, match="one name for each attribute"):
        W.from_dict({**named.to_dict(), "axes": ["a"]})


def test_reports_and_explanations_name_the_questions():
    report = nw.design(
        W.marginals({"age": 2, "sex": 2}, [("age", "sex"), ()]), privacy=nw.PureDP(1), utility=nw.SquaredError()
    )
    assert "age=1 × sex=0" in str(report)
    assert "- age=1 × sex=0: within" in report.best.explain()
