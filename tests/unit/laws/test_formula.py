"""A formula from a stranger's file is read or refused in no time, whatever it says."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

from noisewright.laws.formula import FormulaFold
from noisewright.problem.errors import InvalidLawError

ENDLESS = (
    "exp(-x)*((9**999)**999)**999",
    "exp(-x*((9**999)**999)**999)",
    "exp(-x)/((2**-999)**999)**999",
    "(1 + x)**-(1 + ((2/3)**999)**999)",
    "exp(-x)*(((1 + 1/3)**900)**900 + ((1/7)**900)**900)",
)


@pytest.mark.parametrize("formula", ENDLESS)
def test_a_tower_of_powers_is_refused_before_it_is_computed(formula):
    # In a process of its own: one such power is a single step of the interpreter, which no time limit here could end.
    code = f"from noisewright.laws.formula import FormulaFold; FormulaFold({formula!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "InvalidLawError" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("exp(-x)*(2*4**511)", "too large or too fine"),
        ("exp(-x)/(2*4**511)", "too large or too fine"),
        ("exp(-x)*(2**1000*2**1000)", "too large or too fine"),
        ("exp(-x)*(2**1000 + 1/2**1000)", "too large or too fine"),
        ("exp(-x)*1e999", "too large or too fine"),
        ("-" * 158 + "exp(-x)", "nested more than 160 deep"),
    ],
)
def test_numbers_and_depth_have_limits(formula, reason):
    with pytest.raises(InvalidLawError, match=reason):
        FormulaFold(formula)


@pytest.mark.parametrize(
    "formula",
    ["exp(-x)*4**511", "exp(-x)/4**511", "exp(-x)*1e307", "-" * 156 + "exp(-x)", "exp(-(x" + "+x" * 140 + ")/141)"],
)
def test_within_the_limits_a_formula_is_still_proven(formula):
    assert FormulaFold(formula).lowest == Fraction(1)
