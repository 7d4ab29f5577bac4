"""Budgets for telling two elements apart: positive numbers, or the word "infinite" where nothing is promised."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final, TypeAlias

from noisewright.problem import fields
from noisewright.problem.errors import InvalidPrivacyError
from noisewright.problem.numbers import Number, parameter, show

INFINITE: Final = "infinite"
"""The budget of two elements that may be told apart freely.

A word and no number: a computed float that overflowed would silently take all protection away.
"""

Budget: TypeAlias = Fraction | str
"""A positive rational, or `INFINITE`."""


def budget(value: Number, name: str) -> Fraction:
    """A positive budget."""
    return budget_field().read(value, name, InvalidPrivacyError)  # type: ignore[no-any-return]  # a rational


def budget_field() -> fields.Rational:
    """A positive budget."""
    return fields.rational(at_least=Fraction(1, 10**30), at_most=10**30, hint=": a budget is positive")


def is_infinite(value: Any, name: str) -> bool:
    """Whether the word was given; an infinite float is refused, with the word."""
    if isinstance(value, float) and math.isinf(value):
        raise InvalidPrivacyError(
            f'{name} is {value}; write "{INFINITE}" where two elements may be told apart freely.', given=value
        )
    return isinstance(value, str) and value.strip().lower() == INFINITE


def any_budget(value: Number, name: str) -> Budget:
    """A positive budget, or the word."""
    return INFINITE if is_infinite(value, name) else budget(value, name)


def any_distance(value: Number, name: str) -> Budget:
    """A distance: 0, a positive budget, or the word."""
    if is_infinite(value, name):
        return INFINITE
    exact = parameter(value, name)
    if exact < 0:
        raise InvalidPrivacyError(f"{name} is {show(exact)}; it cannot be negative.", given=exact)
    return budget(exact, name) if exact else exact


def distance_field() -> fields.Spec[Number, Budget]:
    """A distance; in files a rational, or the word."""

    def load(plain: object) -> Budget:
        return INFINITE if plain == INFINITE else fields.exact_text(plain)

    return fields.Spec(lambda value, name, error: any_distance(value, name), str, load)


def smaller(first: Budget, second: Budget) -> Budget:
    """The smaller one of two budgets."""
    if isinstance(first, str) or isinstance(second, str):
        return second if isinstance(first, str) else first
    return min(first, second)


def added(first: Budget, second: Budget) -> Budget:
    """Two budgets together: infinite if one of them is."""
    if isinstance(first, str) or isinstance(second, str):
        return INFINITE
    return first + second
