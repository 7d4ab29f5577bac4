"""What `budget_for` returns: the smallest amount of privacy that each mechanism needs for a target."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.drawing.tables import html_table, text_table
from noisewright.numerics.balls import Ball, lower, precision, upper
from noisewright.problem.numbers import show
from noisewright.problem.privacy import (
    LARGEST_DIVERGENCE,
    LARGEST_EPSILON,
    SMALLEST_DIVERGENCE,
    SMALLEST_EPSILON,
    RenyiDP,
    Requirement,
    ZeroConcentratedDP,
)
from noisewright.problem.utility import Utility
from noisewright.sample.certified import Certified
from noisewright.search.report.shown import number
from noisewright.search.report.words import many, over


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One mechanism: the smallest amount at which it reaches the target, checked on both sides.

    Guarantees: at `amount` the certified mechanism reaches the target (in balls); at
    `not_below`, at most 0.1 % smaller, the best of its kind does not. The two are equal where the target is reached
    at the smallest amount that the requirement allows.

    >>> row = nw.budget_for(nw.Scalar(1), utility=nw.SquaredError(), target=2).rows[0]
    >>> row.not_below <= row.amount, row.value <= 2
    (True, True)
    """

    name: str
    amount: Fraction
    not_below: Fraction
    value: float
    certified: Certified

    @property
    def requirement(self) -> Requirement:
        """What the mechanism is certified for."""
        return self.certified.certificate.requirement

    @property
    def epsilon(self) -> Fraction:
        """The amount, where it is an epsilon."""
        return amount_named("epsilon", self.requirement)

    @property
    def rho(self) -> Fraction:
        """The amount, where it is a rho."""
        return amount_named("rho", self.requirement)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a target accuracy costs, cheapest mechanism first; `out_of_reach` names those that cannot pay.

    `impossible_at` is an amount at which a proven bound excludes the target, None where no bound does; `over` says
    which mechanisms the bound is for, where it is not for all.

    >>> needed = nw.budget_for(nw.Scalar(1), utility=nw.SquaredError(), target=2)
    >>> [row.name for row in needed.rows][:2], float(needed.impossible_at) < needed.rows[0].amount
    (['staircase', 'tailored'], True)
    """

    query: Any
    utility: Utility
    target: Fraction
    rows: tuple[BudgetRow, ...]
    impossible_at: Fraction | None
    out_of_reach: tuple[str, ...] = ()
    over: str = ""

    @property
    def amount(self) -> Fraction:
        """The smallest amount, epsilon or rho, at which some mechanism reaches the target."""
        return self.rows[0].amount

    @property
    def requirement(self) -> Requirement:
        """The weakest cost that pays for the target: the requirement with that amount."""
        return self.rows[0].requirement

    @property
    def epsilon(self) -> Fraction:
        """The smallest epsilon at which some mechanism reaches the target; a zero-concentrated budget has `rho`."""
        return self.rows[0].epsilon

    @property
    def rho(self) -> Fraction:
        """The smallest rho at which some mechanism reaches the target, under zero-concentrated privacy."""
        return self.rows[0].rho

    @property
    def best(self) -> Certified:
        """The mechanism that reaches the target at that amount."""
        return self.rows[0].certified

    def __str__(self) -> str:
        lines = [f"Question: {self.query}", f"Target:   {self._goal()}", *self._notion()]
        return "\n".join([*lines, "", text_table(*self._table()), "", self.conclusion])

    def _repr_html_(self) -> str:
        caption = "; ".join([str(self.query), self._goal(), *(line.split(maxsplit=1)[1] for line in self._notion())])
        return html_table(caption, *self._table(), self.conclusion)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, mechanisms included; the amount has its own name, epsilon or rho."""
        name = parameter(type(self.requirement))
        return {
            "query": self.query.to_dict(),
            "utility": self.utility.to_dict(),
            "target": str(self.target),
            "privacy": self.requirement.to_dict(),
            name: str(self.amount),
            "impossible_at": None if self.impossible_at is None else str(self.impossible_at),
            "out_of_reach": list(self.out_of_reach),
            "rows": [
                {"name": r.name, name: str(r.amount), "value": r.value, "certified": r.certified.to_dict()}
                for r in self.rows
            ],
        }

    def _goal(self) -> str:
        wanted = f"{'at least' if self.utility.larger_is_better else 'at most'} {show(self.target)}"
        return f"{self._title()} {wanted}"

    def _title(self) -> str:
        return str(self.utility.several() if hasattr(self.query, "dimension") else self.utility)

    def _notion(self) -> list[str]:
        """What else is promised, where it is not pure privacy."""
        fixed = {name: v for name, v in self.requirement.to_dict().items() if name in ("alpha", "delta")}
        kind = str(self.requirement).split(",")[0]
        if kind.startswith("pure"):
            return []
        return [f"Privacy:  {', '.join([kind, *(f'{name} = {show(Fraction(v))}' for name, v in fixed.items())])}"]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[r.name, number(float(r.amount)), number(r.value)] for r in self.rows]
        return ["mechanism", f"smallest {parameter(type(self.requirement))}", self._title()], rows

    @property
    def conclusion(self) -> str:
        """The cheapest mechanism, whether less could do, and what is out of reach, in a sentence."""
        name = parameter(type(self.requirement))
        smallest, largest = limits(type(self.requirement))
        beyond = f" Out of reach up to {name} = {show(largest)}: {', '.join(self.out_of_reach)}."
        if self.amount == smallest:
            below = "no less is allowed"
        elif self.impossible_at is None:
            below = "that no mechanism needs less is not proven"
        else:
            kind = self.over or f"mechanism{over(self.query)}"
            below = f"no {kind} reaches it at {name} = {number(float(self.impossible_at))}"
        verb = "reach" if many(self.rows[0].name) else "reaches"
        return (
            f"{self.rows[0].name} {verb} the target from {name} = {number(float(self.amount))} on; {below}."
            f"{beyond if self.out_of_reach else ''}"
        )


def parameter(kind: type) -> str:
    """What the amount of a requirement is called."""
    return "rho" if kind is ZeroConcentratedDP else "epsilon"


def limits(kind: type) -> tuple[Fraction, Fraction]:
    """The smallest and the largest amount that a requirement allows."""
    if kind in (RenyiDP, ZeroConcentratedDP):
        return SMALLEST_DIVERGENCE, LARGEST_DIVERGENCE
    return SMALLEST_EPSILON, LARGEST_EPSILON


def amount_named(name: str, requirement: Any) -> Fraction:
    """The amount of a requirement, by the name it has there."""
    own = parameter(type(requirement))
    if name != own:
        raise AttributeError(f"this budget is counted in {own}, not in {name}; read .{own} or .amount.")
    found: Fraction = getattr(requirement, own)
    return found


def reaches(value: Ball, target: Fraction, utility: Utility) -> bool:
    """Whether a value certainly meets the target."""
    with precision():
        if not value.is_finite():
            return False
        return lower(value) >= target if utility.larger_is_better else upper(value) <= target
