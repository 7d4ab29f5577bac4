"""A law, a lattice and a question that fit together."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import HALF, Lattice
from noisewright.laws.piecewise import skewed_staircase, staircase
from noisewright.laws.tabulated import Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.renewed import mechanism_from_dict
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.queries import Scalar

ONE = Fraction(1)
TENTH = Fraction(1, 10)
STAIRS = staircase(epsilon=ONE, sensitivity=ONE, split=Fraction(3, 10))
REAL = Additive(Scalar(1, exact=True), Laplace(ONE), Lattice.cells(TENTH))
COMPUTED = Additive(Scalar(1), Laplace(ONE), Lattice.cells(TENTH))
COUNT = Additive(Scalar(2, integer=True), DiscreteLaplace(Fraction(2)), Lattice.integers())


@pytest.mark.parametrize(
    ("query", "law", "lattice", "why"),
    [
        (Scalar(1), Laplace(ONE), Lattice.cells(Fraction(3, 10)), "divide"),
        (Scalar(1), Laplace(ONE), Lattice.cells(Fraction(2)), "divide"),
        (Scalar(1), Laplace(ONE), Lattice.cells(Fraction(1, 2**61)), "divide"),
        (Scalar(10**100), Laplace(ONE), Lattice.cells(Fraction(1, 10**400)), "divide"),
        (Scalar(1), Laplace(ONE), Lattice.integers(), "edge 0"),
        (Scalar(1, integer=True), DiscreteLaplace(ONE), Lattice.cells(ONE), "step 1"),
        (Scalar(2, integer=True), DiscreteLaplace(ONE), Lattice(Fraction(2), HALF), "step 1"),
        (Scalar(1, integer=True), Laplace(ONE), Lattice.integers(), "real answers only"),
        (Scalar(1), DiscreteLaplace(ONE), Lattice.cells(TENTH), "integer answers only"),
        (Scalar(1), STAIRS, Lattice.cells(Fraction(1, 4)), "jumps"),
        (Scalar(3, integer=True), Tabulated(Fraction(3), (3, 1), HALF), Lattice.integers(), "width 1"),
        (Scalar(1, integer=True), STAIRS, Lattice.integers(), "jumps"),
    ],
)
def test_what_does_not_fit_is_refused(query, law, lattice, why):
    with pytest.raises(InvalidMechanismError, match=why):
        Additive(query, law, lattice)


@pytest.mark.parametrize(
    ("answer", "index"),
    [(0.35, 3), ("0.3", 3), (0.3, 3), (Decimal("0.3"), 3), (Fraction(3, 10), 3), (-0.05, -1), (np.int16(7), 70)]
    + [(0.1 + 0.2, 3), (0.8 - 0.5, 3), (0.7 - 0.4, 2)],
    ids=repr,
)
def test_an_answer_is_the_number_that_was_typed_or_is_stored(answer, index):
    """The float 0.3 is three tenths; 0.7 - 0.4 is a float below it, so it belongs to the cell before."""
    assert REAL.law_given(answer).answer_index == index


@pytest.mark.parametrize(("answer", "index"), [("0.3", 2), ("-0.3", -3), ("0.300001", 3), (0, 0), (7, 69)], ids=repr)
def test_answers_that_may_carry_rounding_errors_are_contracted(answer, index):
    assert COMPUTED.law_given(answer).answer_index == index


def test_computed_answers_a_sensitivity_apart_stay_within_as_many_steps():
    for i in range(200):
        low = 0.1 * i - 7
        lower, upper = (COMPUTED.law_given(x).answer_index for x in (low, low + 1))
        assert upper - lower <= 10


@pytest.mark.parametrize("answer", [3, 3.0, "3", np.int64(3), np.float32(3), Fraction(3)], ids=repr)
def test_whole_answers_of_every_type(answer):
    assert COUNT.law_given(answer).answer_index == 3


@pytest.mark.parametrize("answer", [0.5, "1/3", Decimal("0.1"), Fraction(2 * 10**400 + 1, 2)], ids=lambda x: str(x)[:8])
def test_fractions_are_no_answers_to_integer_questions(answer):
    with pytest.raises(InvalidAnswerError, match="integers"):
        COUNT.law_given(answer)


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), True, None, "many", [1], 1j], ids=repr)
@pytest.mark.parametrize("mechanism", [REAL, COUNT], ids=["real", "integer"])
def test_what_is_no_number_is_no_answer(mechanism, answer):
    with pytest.raises(InvalidAnswerError, match="finite number"):
        mechanism.law_given(answer)


@pytest.mark.parametrize("answer", ["31.4159 dollars", "31.4159e400", 31.4159, "31.4159e99"])
def test_errors_do_not_repeat_the_private_answer(answer):
    with pytest.raises(InvalidAnswerError) as caught:
        COUNT.law_given(answer)
    assert "31" not in f"{caught.value} {caught.value.fields}"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("mechanism", [REAL, COMPUTED, COUNT], ids=["real", "computed", "integer"])
@pytest.mark.parametrize("sign", [1, -1])
def test_answers_beyond_the_lattice_are_refused_with_the_limit(mechanism, sign):
    limit = int((2**200 if mechanism.query.integer else 2**51) * mechanism.spacing)
    mechanism.law_given(sign * (limit - 1))
    for answer in (sign * (limit + 1), sign * 10**400, "1e300"):
        with pytest.raises(InvalidAnswerError, match="too large") as caught:
            mechanism.law_given(answer)
        assert caught.value.limit == pytest.approx(limit, rel=1e-12)


def test_floats_too_large_to_be_precise_are_refused_unless_answers_are_exact():
    large = float(2**26 + 1)
    assert REAL.law_given(large).answer_index == 10 * (2**26 + 1)
    with pytest.raises(InvalidAnswerError, match="too large for a float"):
        COMPUTED.law_given(large)
    COMPUTED.law_given(int(large))


def test_the_released_value_is_the_answers_cell_plus_the_noise():
    assert REAL.law_given("0.32").value(0) == Fraction(4, 10)
    assert REAL.law_given("0.32").value(-1) == Fraction(3, 10)
    assert COMPUTED.law_given("0.32").value(-1) == Fraction(3, 10) * COMPUTED.stretch == 3 * COMPUTED.spacing
    assert COUNT.law_given(5).value(-2) == 3


@pytest.mark.parametrize(
    "mechanism",
    [
        REAL,
        COMPUTED,
        COUNT,
        Additive(Scalar(1), STAIRS, Lattice.cells(Fraction(1, 20))),
        Additive(
            Scalar(3, integer=True),
            skewed_staircase(epsilon=ONE, sensitivity=Fraction(3), left=-HALF, right=3 * HALF),
            Lattice.integers(),
        ),
    ],
    ids=["laplace", "computed", "discrete", "staircase", "integer staircase"],
)
def test_mechanisms_come_back_from_plain_data(mechanism):
    data = mechanism.to_dict()
    assert data["kind"] in MECHANISMS.kinds
    again = mechanism_from_dict(data)
    assert again == mechanism
    assert again.digest == mechanism.digest


def test_different_mechanisms_have_different_digests():
    others = [
        Additive(Scalar(1), Laplace(Fraction(2)), Lattice.cells(TENTH)),
        Additive(Scalar(1), Laplace(ONE), Lattice.cells(Fraction(1, 20))),
        Additive(Scalar(2), Laplace(ONE), Lattice.cells(TENTH)),
        COMPUTED,
    ]
    assert len({REAL.digest, COUNT.digest, *(other.digest for other in others)}) == 6


@pytest.mark.parametrize("field", ["query", "law", "lattice", "kind"])
def test_missing_parts_make_no_mechanism(field):
    data = {key: value for key, value in REAL.to_dict().items() if key != field}
    with pytest.raises(KeyError):
        mechanism_from_dict(data)


def test_other_kinds_are_not_read():
    with pytest.raises(ValueError, match="additive"):
        Additive.from_dict({**REAL.to_dict(), "kind": "multiplicative"})
    with pytest.raises(ValueError, match="no scalar"):
        Additive.from_dict({**REAL.to_dict(), "query": {"kind": "vector"}})
