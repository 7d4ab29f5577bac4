"""What SECURITY.md says about released values and entropy, looked at."""

from __future__ import annotations

import inspect
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.answers import LARGEST_FLOAT, STRETCH
from noisewright.sample.certified import make_certified
from tests.replay import SameEntropy

PAGE = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
REAL = make_certified(
    nw.mechanisms.Additive(nw.Scalar("0.3"), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.003")), nw.PureDP(1)
)


def test_the_page_does_not_claim_that_all_proofs_are_rational():
    assert "in exact rationals" not in PAGE
    assert "enclosed in interval arithmetic" in PAGE
    assert "divides the sensitivity" not in re.sub(r"\s+", " ", PAGE)


def test_a_number_with_additive_noise_is_a_multiple_of_its_spacing():
    spacing = REAL.mechanism.spacing
    for _ in range(200):
        released = Fraction(REAL.release("12.3"))
        # The step of 0.003 has three decimals, so a release is within half of the third one of a lattice point.
        assert abs(released - round(released / spacing) * spacing) <= Fraction(1, 2000)
        assert abs(released * 1000 - round(released * 1000)) < Fraction(1, 10**9)


@pytest.mark.parametrize("method", ["release", "release_many", "draw"])
def test_the_page_names_every_way_to_pass_entropy(method):
    assert "entropy" in inspect.signature(getattr(nw.Certified, method)).parameters
    assert f"`{method}`" in PAGE


def test_entropy_that_is_passed_decides_what_is_drawn():
    assert np.array_equal(REAL.draw(50, entropy=SameEntropy()), REAL.draw(50, entropy=SameEntropy()))
    assert not np.array_equal(REAL.draw(50), REAL.draw(50))


def test_the_stated_limits_are_the_limits():
    assert "one part in 2^24" in PAGE
    assert 1 + Fraction(1, 2**24) == STRETCH
    assert "2^26 sensitivities" in re.sub(r"\s+", " ", PAGE)
    assert LARGEST_FLOAT == 2**26
    limit = 2**26 * Fraction("0.3")
    REAL.release(float(limit) * 0.999)
    with pytest.raises(nw.errors.InvalidAnswerError):
        REAL.release(float(limit) * 1.001)


def test_two_answers_off_by_the_stated_error_are_within_the_sensitivity_on_the_lattice():
    sensitivity, error = Fraction("0.3"), Fraction("0.3") / 2**25
    steps = sensitivity / REAL.mechanism.lattice.step
    for x in (Fraction(0), Fraction(7, 11), Fraction(-12345, 7)):
        low, high = REAL.mechanism.law_given(x - error), REAL.mechanism.law_given(x + sensitivity + error)
        assert high.answer_index - low.answer_index <= steps
