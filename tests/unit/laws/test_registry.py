"""Laws come back from plain data, and nothing else comes with them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.laws.laplace import Laplace
from noisewright.laws.registry import law_from_dict
from noisewright.problem.fields import exact_text as exact, whole


@pytest.mark.parametrize("text", ["0", "-3", "1/3", "-7/2"])
def test_exact_text_is_read(text):
    assert exact(text) == Fraction(text)


@pytest.mark.parametrize("other", [1, 0.5, None, ["1"], Fraction(1, 3), True], ids=repr)
def test_other_types_are_not_exact_text(other):
    with pytest.raises(TypeError, match="expected str"):
        exact(other)


@pytest.mark.parametrize("text", ["", "0.5", "1e3", "1e999999999", " 1", "+1", "1/3/5", "nan", "१", "9" * 5000])
def test_other_text_is_refused_before_it_costs_anything(text):
    with pytest.raises(ValueError, match="rational"):
        exact(text)


@pytest.mark.parametrize("other", [True, 1.0, "1", None], ids=repr)
def test_whole_numbers_are_plain(other):
    assert whole().load(3) == 3
    with pytest.raises(TypeError, match="int"):
        whole().load(other)


@pytest.mark.parametrize("data", [{"kind": "gauss", "scale": "1"}, {"kind": "laplace"}, {}, {"scale": "1"}], ids=repr)
def test_unknown_laws_and_missing_fields(data):
    assert law_from_dict({"kind": "laplace", "scale": "1"}) == Laplace(Fraction(1))
    with pytest.raises(KeyError):
        law_from_dict(data)
