"""Saved mechanisms: an edit is seen, and a forger who hides it must still tell the truth."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.piecewise import staircase
from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import MechanismFileError, NoisewrightError, UncertifiedError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.records import digest
from noisewright.sample.certified import Certified, make_certified
from tests.brute import privacy_loss
from tests.forgery import at, leaves, put, resealed

ONE = Fraction(1)
STAIRS = staircase(epsilon=ONE, sensitivity=ONE, split=Fraction(1, 4))
SAVED = {
    "laplace": make_certified(Additive(Scalar(1), Laplace(ONE), Lattice.cells(Fraction(1, 4))), PureDP(1)).to_dict(),
    "discrete laplace": make_certified(
        Additive(Scalar(2, integer=True), DiscreteLaplace(Fraction(2)), Lattice.integers()), PureDP(1)
    ).to_dict(),
    "piecewise": make_certified(Additive(Scalar(1), STAIRS, Lattice.cells(Fraction(1, 4))), PureDP(1)).to_dict(),
}
JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    2.5,
    "",
    "x",
    "-1",
    "0",
    "1/0",
    "1e999999999",
    "9" * 4400,
    [],
    {},
    [[]],
    {"kind": "pure"},
]


def edited(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}1"


EVERY_FIELD = [
    pytest.param(name, path, id=f"{name}: {'.'.join(map(str, path))}")
    for name, data in SAVED.items()
    for path in leaves(data)
]


@pytest.mark.parametrize(("name", "path"), EVERY_FIELD)
def test_any_edited_field_is_refused(name, path):
    data = put(SAVED[name], path, edited(at(SAVED[name], path)))
    with pytest.raises(MechanismFileError):
        Certified.from_dict(data)


@pytest.mark.parametrize(("name", "path"), EVERY_FIELD)
def test_junk_under_fresh_seals_is_refused_in_good_order_or_true(name, path):
    """Whatever stands in a field, the answer is a refusal of ours, or a mechanism that keeps its promise."""
    for junk in JUNK:
        try:
            accepted = Certified.from_dict(resealed(put(SAVED[name], path, junk)))
        except NoisewrightError:
            continue
        law, query, requirement = accepted.mechanism.law, accepted.mechanism.query, accepted.certificate.requirement
        assert isinstance(requirement, PureDP)
        assert privacy_loss(law, query.sensitivity) <= requirement.epsilon


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("part", ["format", "mechanism", "certificate", "digest"])
def test_missing_parts_are_named(name, part):
    data = {key: value for key, value in SAVED[name].items() if key != part}
    with pytest.raises(MechanismFileError, match=part):
        Certified.from_dict(data)


@pytest.mark.parametrize("name", SAVED)
def test_more_than_was_written_is_refused_everywhere(name):
    places: list[tuple[Any, ...]] = [(), ("mechanism",), ("mechanism", "law"), ("mechanism", "query"), ("certificate",)]
    for path in places:
        data = copy.deepcopy(SAVED[name])
        at(data, path)["note"] = "trust me"
        with pytest.raises(MechanismFileError):
            Certified.from_dict(resealed(data))


FALSE = {
    "a smaller scale": ("laplace", ("mechanism", "law", "scale"), "999/1000"),
    "a smaller discrete scale": ("discrete laplace", ("mechanism", "law", "scale"), "1999/1000"),
    "a steeper rate": ("piecewise", ("mechanism", "law", "rate"), "1001/1000"),
    "a deeper level": ("piecewise", ("mechanism", "law", "levels", 0), "2"),
    "a higher top": ("piecewise", ("mechanism", "law", "levels", 1), "-1/1000"),
    "a larger real sensitivity": ("laplace", ("mechanism", "query", "sensitivity"), "5/4"),
    "a larger whole sensitivity": ("discrete laplace", ("mechanism", "query", "sensitivity"), "3"),
    "a larger sensitivity": ("piecewise", ("mechanism", "query", "sensitivity"), "5/4"),
    "an enormous sensitivity": ("piecewise", ("mechanism", "query", "sensitivity"), "1000000000000"),
    "a smaller epsilon": ("laplace", ("certificate", "requirement", "epsilon"), "999/1000"),
    "a smaller epsilon for stairs": ("piecewise", ("certificate", "requirement", "epsilon"), "999/1000"),
}


@pytest.mark.parametrize("forged", FALSE)
def test_a_forger_with_a_fresh_digest_cannot_make_a_false_claim(forged):
    name, path, value = FALSE[forged]
    with pytest.raises(UncertifiedError, match="refused"):
        Certified.from_dict(resealed(put(SAVED[name], path, value)))


def test_a_forged_bound_is_refused_although_the_claim_is_true():
    data = put(SAVED["laplace"], ("certificate", "bound"), "1/2")
    with pytest.raises(MechanismFileError, match="verifier"):
        Certified.from_dict(resealed(data, bound=False))


def test_an_honest_change_under_fresh_seals_is_another_true_mechanism():
    """The proof is what counts: a wider scale with its own bound is as good as a design of ours."""
    data = resealed(put(SAVED["laplace"], ("mechanism", "law", "scale"), "2"))
    assert Certified.from_dict(data).certificate.bound == Fraction(1, 2)


@pytest.mark.parametrize("data", [None, [], "text", 3, {"format": []}], ids=repr)
def test_what_is_no_saved_mechanism(data):
    with pytest.raises(MechanismFileError):
        Certified.from_dict(data)


def test_values_that_json_cannot_carry():
    data = {**SAVED["laplace"], "mechanism": {"kind": float("nan")}}
    with pytest.raises(MechanismFileError, match="JSON"):
        Certified.from_dict(data)


def test_groups_nested_too_deep_are_no_mechanism():
    nested: Any = {"kind": "box", "each": ["1"]}
    for _ in range(320):
        nested = {"kind": "groups", "sets": [nested], "at_most": 1}
    saved = SAVED["laplace"]
    query = {"kind": "vector", "sensitivity": nested}
    parts = [saved["mechanism"]]
    content = {**saved, "mechanism": {"kind": "per-coordinate", "query": query, "parts": parts}}
    del content["digest"]
    with pytest.raises(MechanismFileError):
        Certified.from_dict({**content, "digest": digest(content)})
