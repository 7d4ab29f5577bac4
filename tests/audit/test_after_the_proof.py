"""Attacks on what could be changed, forged or swapped after the proof, and on objects that only look right."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.mechanisms.bounded.conditional import Grid
from noisewright.problem.errors import NoisewrightError, UncertifiedError
from noisewright.problem.matrices import WholeMatrix
from noisewright.proof import certify as certify_module
from noisewright.sample.certified import make_certified
from tests.examples import BOUNDED, COLUMNS, QUERIES

HALF = Fraction(1, 2)


def test_lists_given_to_a_mechanism_are_not_what_it_holds():
    parts = [nw.mechanisms.Additive(nw.Scalar(2), nw.laws.Laplace(9), nw.laws.Lattice.cells(HALF)), None]
    query = nw.Vector(nw.Box([2, 0]))
    given = nw.mechanisms.PerCoordinate(query, parts)
    certified = make_certified(given, nw.PureDP(1))
    parts[0] = None
    assert given.parts[0] is not None
    assert type(given.parts) is tuple
    weights = [[3, 1], [1, 3]]
    rows = nw.mechanisms.Rows(BOUNDED, Grid([0, 1]), [-1, 2], weights)
    weights[0][0] = 10**6
    assert rows.weights == ((3, 1), (1, 3))
    assert certified.certificate.mechanism == given.digest


class Lookalike:
    """Has whatever a certified mechanism is asked for."""

    def __init__(self, mechanism: Any) -> None:
        self.mechanism = self.digest = mechanism.digest
        self.query = mechanism.query


def test_only_what_certify_made_can_be_drawn():
    mechanism = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells(HALF))
    certificate = nw.certify(mechanism, nw.PureDP(1))
    for pair in ((mechanism, Lookalike(mechanism)), (Lookalike(mechanism), certificate), (mechanism, None)):
        with pytest.raises(UncertifiedError):
            nw.Certified(*pair)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(UncertifiedError):
        nw.Certificate.__new__(nw.Certificate).__setstate__([nw.PureDP(1), Fraction(0), "rule", mechanism.digest])
    with pytest.raises(UncertifiedError):
        pickle.dumps(certificate)


def test_a_certificate_and_what_it_certifies_do_not_change():
    certified = make_certified(
        nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells(HALF)), nw.PureDP(1)
    )
    for thing in (certified, certified.certificate):
        for name in ("mechanism", "certificate", "bound", "rule", "requirement", "other"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(thing, name, None)
        assert not hasattr(thing, "__dict__")
        assert copy.deepcopy(thing) is thing
    with pytest.raises(UncertifiedError):
        certified.__setstate__([])


def test_a_pickled_mechanism_is_proven_again():
    certified = make_certified(
        nw.mechanisms.Additive(nw.Scalar("0.3"), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01")), nw.PureDP(1)
    )
    again = pickle.loads(pickle.dumps(certified))  # noqa: S301  # its own bytes
    assert again.mechanism == certified.mechanism
    assert again.certificate.to_dict() == certified.certificate.to_dict()
    rebuild, (plain,) = certified.__reduce__()
    plain["mechanism"]["law"]["scale"] = "1/100"
    with pytest.raises(NoisewrightError):
        rebuild(plain)


def test_a_mechanism_forced_to_change_is_not_drawn():
    law = nw.laws.Laplace(1)
    certified = make_certified(nw.mechanisms.Additive(nw.Scalar(1), law, nw.laws.Lattice.cells(HALF)), nw.PureDP(1))
    object.__setattr__(law, "scale", Fraction(1, 100))
    with pytest.raises(UncertifiedError, match="not the one that was certified"):
        certified.release(0)


def test_no_second_birth_makes_or_changes_a_certificate():
    mechanism = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells(HALF))
    other = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(2), nw.laws.Lattice.cells(HALF))
    certificate, of_other = nw.certify(mechanism, nw.PureDP(1)), nw.certify(other, nw.PureDP(1))
    certified = nw.Certified(mechanism, certificate)
    before = certificate.to_dict()
    forged = nw.Certificate.__new__(nw.Certificate)
    for thing in (forged, certificate):
        with pytest.raises(UncertifiedError):
            thing.__init__(nw.PureDP("0.001"), Fraction(0), "forged", mechanism.digest, "declared", None)  # type: ignore[misc]
    with pytest.raises(UncertifiedError):
        certificate.__init__(  # type: ignore[misc]
            nw.PureDP("0.001"), Fraction(0), "forged", mechanism.digest, "declared", certify_module._MAKER
        )
    with pytest.raises(UncertifiedError):
        certified.__init__(other, of_other)  # type: ignore[misc]  # on purpose
    assert certificate.to_dict() == before
    assert certified.mechanism is mechanism
    with pytest.raises(UncertifiedError):
        nw.Certified(mechanism, forged)


def test_a_record_that_was_refused_holds_nothing():
    made = nw.mechanisms.Additive.__new__(nw.mechanisms.Additive)
    with pytest.raises(NoisewrightError):
        made.construct(query=nw.Scalar(1), law=nw.laws.Laplace(1), lattice=nw.laws.Lattice.cells(50))
    assert not hasattr(made, "law")
    with pytest.raises(AttributeError):
        nw.certify(made, nw.PureDP(1))


def test_checks_called_again_change_nothing():
    question = nw.Scalar(1, inputs=(0, 2), outputs=(-4, 6))
    question.__post_init__()
    assert question.bounded is not None


def test_a_matrix_is_born_once_from_as_many_whole_numbers_as_it_has_places():
    matrix = nw.mechanisms.LinearLaplace(QUERIES, COLUMNS, [HALF, HALF], [2, 3]).columns
    with pytest.raises(TypeError):
        matrix.__init__([10**9] * 6, 2, 3)  # type: ignore[misc]  # on purpose
    for entries, rows, columns in (([0.5, math.nan], 1, 2), ([1, 2, 3], 2, 2), ([True], 1, 1)):
        with pytest.raises(NoisewrightError):
            WholeMatrix(entries, rows, columns)


def test_rows_that_are_handed_out_are_not_the_ones_that_are_drawn():
    rows = nw.mechanisms.Rows(BOUNDED, Grid([0, 1]), [-1, 2], [[3, 1], [1, 3]])
    rows.row(0).__init__((4, 4))  # type: ignore[misc]  # on purpose
    assert rows.row(0).cumulative == (3, 4)


class Shifting(str):
    """Text that says something else each time it is asked."""

    def __str__(self) -> str:
        return self


def test_text_is_copied_from_what_only_looks_like_it():
    block = nw.mechanisms.NormBlock([0, 1], [HALF, HALF], HALF, Shifting("max"))
    assert type(block.norm) is str
    assert type(nw.folds.FormulaFold(Shifting("(1 + x)**-3")).formula) is str


class FoldInName:
    """Everything that a second fold has, and a transform that is none."""

    costly, lowest, inverse_reach = False, Fraction(1), None

    def to_dict(self) -> dict[str, str]:
        return {"kind": "gamma", "shape": "1", "scale": "1"}

    def transform(self, x: Any, field: Any) -> Any:
        return field.real(1)

    slope = inverse_moment = scaled = transform


class Subclass(nw.folds.GammaFold):
    """A registered kind that was given other formulas."""

    def slope(self, x: Any, field: Any) -> Any:
        return field.real(1)


@pytest.mark.parametrize(
    "other", [FoldInName(), Subclass(1, 1), nw.laws.Laplace(1), None, "gamma"], ids=lambda x: type(x).__name__
)
def test_only_registered_kinds_are_taken_for_folds_parts_metrics_and_mechanisms(other):
    for build in (
        lambda: nw.laws.TwoFold(other),
        lambda: nw.folds.Ensemble([1], [other]),
        lambda: nw.mechanisms.Composite(BOUNDED, other, nw.laws.Plateau(1), HALF, (0, 1), 2, 8),
        lambda: nw.MetricPrivacy(other),
        lambda: nw.metrics.WithAbsent(other, 1),
        lambda: nw.Vector(other),
    ):
        with pytest.raises(NoisewrightError):
            build()
    if not isinstance(other, nw.laws.Laplace):
        with pytest.raises(NoisewrightError):
            nw.mechanisms.Additive(nw.Scalar(1), other, nw.laws.Lattice.cells(HALF))
