"""Questions are validated on construction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from noisewright.problem.errors import InvalidNumberError, InvalidQueryError
from noisewright.problem.queries import Scalar


def test_a_question_keeps_its_exact_sensitivity():
    assert Scalar(0.1).sensitivity == Fraction(1, 10)
    assert Scalar() == Scalar(1, integer=False)
    assert Scalar(np.int64(3), integer=True).sensitivity == 3  # type: ignore[arg-type]  # numpy's are welcome too
    assert Scalar("6/2", integer=True).sensitivity == 3


@pytest.mark.parametrize("sensitivity", [0, -1, -0.5, "-1e400", "1e400", "1e101", "1e-101"], ids=repr)
@pytest.mark.parametrize("integer", [False, True])
def test_impossible_sensitivities(sensitivity, integer):
    with pytest.raises(InvalidQueryError, match="sensitivity is"):
        Scalar(sensitivity, integer=integer)


@pytest.mark.parametrize("sensitivity", ["1/2", 1.5, "1000000000001"])
def test_integers_need_a_whole_sensitivity_of_bounded_size(sensitivity):
    Scalar(sensitivity)
    with pytest.raises(InvalidQueryError, match="integer"):
        Scalar(sensitivity, integer=True)


@pytest.mark.parametrize("sensitivity", [float("nan"), float("inf"), True, None, "wide"], ids=repr)
def test_what_is_no_number_is_no_sensitivity(sensitivity):
    with pytest.raises(InvalidNumberError):
        Scalar(sensitivity)


@pytest.mark.parametrize("integer", [1, 0, None, "yes", np.bool_(True)], ids=repr)
def test_integer_is_a_truth_value(integer):
    with pytest.raises(InvalidQueryError, match="True or False"):
        Scalar(1, integer=integer)


def test_a_question_says_what_it_is():
    assert str(Scalar(2)) == "one number, sensitivity 2"
    assert str(Scalar(2, integer=True)) == "one integer, sensitivity 2"
    assert Scalar("1/3").to_dict() == {"kind": "scalar", "sensitivity": "1/3", "integer": False, "exact": False}
