"""The closed-form laws and the bounds meet every known value within its tolerance."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from noisewright.laws.laplace import Laplace
from noisewright.laws.piecewise import staircase
from noisewright.mechanisms.expected import ErrorLaw
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import AbsoluteError, SquaredError, Usefulness, Utility
from noisewright.search.bounds.pure import best_possible
from noisewright.search.design import design
from noisewright.search.families.scalar_pure import best_split
from tests.golden.facts import ABSOLUTE, FACTS, LAPLACE_ABSOLUTE, LAPLACE_SQUARED, SQUARED, USEFUL, Fact

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("NOISEWRIGHT_REFERENCE", ROOT.parent / "shared"))
POWERS = {ABSOLUTE: 1, LAPLACE_ABSOLUTE: 1, SQUARED: 2, LAPLACE_SQUARED: 2}
OPTIMA = [fact for fact in FACTS if fact.problem in (ABSOLUTE, SQUARED, USEFUL)]


def name(fact: Fact) -> str:
    return f"{fact.problem}, {fact.epsilon}, {fact.sensitivity}, {fact.within}"


def utility_of(fact: Fact) -> Utility:
    if fact.within is not None:
        return Usefulness(fact.within)
    return AbsoluteError() if POWERS[fact.problem] == 1 else SquaredError()


def value_of_the_law(fact: Fact) -> float:
    """The utility of the continuous law itself, before any rounding."""
    epsilon, sensitivity = Fraction(fact.epsilon), Fraction(fact.sensitivity)
    if fact.problem in (LAPLACE_ABSOLUTE, LAPLACE_SQUARED):
        return float(Laplace(sensitivity / epsilon).moment(POWERS[fact.problem], BALLS))
    if fact.within is not None:
        split = Fraction(fact.within) / sensitivity % 1 or Fraction(1)
        law = staircase(epsilon=epsilon, sensitivity=sensitivity, split=split)
        return float(ErrorLaw(law, integer=False).chances((Fraction(fact.within),), BALLS)[0])
    utility = utility_of(fact)
    assert isinstance(utility, AbsoluteError | SquaredError)
    split = Fraction(best_split(utility, epsilon)).limit_denominator(10**12)
    law = staircase(epsilon=epsilon, sensitivity=sensitivity, split=split)
    return float(law.moment(POWERS[fact.problem], BALLS))


@pytest.mark.parametrize("fact", FACTS, ids=name)
def test_the_law_has_the_known_value(fact):
    with precision():
        assert value_of_the_law(fact) == pytest.approx(fact.value, rel=fact.tolerance, abs=0)


@pytest.mark.parametrize("fact", OPTIMA, ids=name)
def test_the_bound_is_the_known_optimum(fact):
    bound = best_possible(Scalar(fact.sensitivity), Fraction(fact.epsilon), utility_of(fact))
    assert float(bound) == pytest.approx(fact.value, rel=fact.tolerance, abs=0)


@pytest.mark.parametrize("fact", OPTIMA, ids=name)
def test_the_winner_as_drawn_is_within_a_thousandth(fact):
    report = design(Scalar(fact.sensitivity), privacy=PureDP(fact.epsilon), utility=utility_of(fact))
    assert report.candidates[0].value == pytest.approx(fact.value, rel=1e-3, abs=0)


@pytest.mark.skipif(not (FOLDER / "reference.json").exists(), reason="the reference collection is not at hand")
def test_the_facts_are_those_of_the_reference_collection():
    entries = json.loads((FOLDER / "reference.json").read_text(encoding="utf-8"))
    problems = {fact.problem for fact in FACTS}

    def key(parameters: dict[str, float]) -> tuple[float, ...]:
        return tuple(float(parameters.get(part, -1)) for part in ("eps", "Delta", "gamma"))

    said = {
        (entry["problem"], *key(entry["parameters"])): (entry["value"], entry["tolerance"])
        for entry in entries
        if entry["problem"] in problems
    }
    ours = {
        (fact.problem, float(fact.epsilon), float(fact.sensitivity), float(fact.within or -1)): (
            fact.value,
            fact.tolerance,
        )
        for fact in FACTS
    }
    assert ours == said
