"""What a plan's certificate says, and a bracket around what is true."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from noisewright.accounting.grids import LossGrid
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.matrices import Unchanging
from noisewright.problem.numbers import show

RULE = "composed/connect-the-dots"
MAKER = object()
"""Shown by `compose` alone."""


@dataclass(frozen=True, slots=True)
class PlanPart:
    """One kind of release of a plan: what it is, how often, by which rule its losses are known, and its digest."""

    label: str
    times: int
    rule: str
    digest: str


@dataclass(frozen=True, slots=True, init=False)
class PlanCertificate(Unchanging):
    """What was added up: which releases, for which neighbours, on which grids, by which rule.

    Guarantees: instances come from `compose` alone.
    """

    parts: tuple[PlanPart, ...]
    groups: int | None
    neighbours: str
    grids: tuple[LossGrid, ...]
    rule: str
    plan: str

    def __init__(self, maker: object, **fields: Any) -> None:
        if maker is not MAKER or hasattr(self, "plan"):
            raise UncertifiedError("a plan's certificate is made by compose(releases) and by nothing else.")
        for name in self.__dataclass_fields__:
            object.__setattr__(self, name, fields[name])

    def __setstate__(self, state: Any) -> NoReturn:
        raise UncertifiedError("a plan's certificate is made by compose(releases) and by nothing else.")

    def __reduce__(self) -> NoReturn:
        raise UncertifiedError("a plan's certificate is proven, not copied; save the plan and load it.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what was added up, as a ledger keeps it."""
        parts = [{"label": p.label, "times": p.times, "rule": p.rule, "digest": p.digest} for p in self.parts]
        told = {"parts": parts, "groups": self.groups, "neighbours": self.neighbours}
        return {**told, "rule": self.rule, "plan": self.plan}

    def __str__(self) -> str:
        several = f"a person in at most {self.groups} of these groups" if self.groups else "all of them together"
        lines = [f"{part.times} x {part.label} (rule {part.rule}, digest {part.digest[:12]})" for part in self.parts]
        widths = ", ".join(show(grid.unit) for grid in self.grids)
        return "\n".join(
            [
                f"Proven for {self.neighbours} adjacency, {several}, by rule {self.rule}; digest {self.plan[:12]}.",
                *lines,
                f"Losses on multiples of {widths}, for ever smaller delta.",
            ]
        )


@dataclass(frozen=True, slots=True)
class Bracket:
    """The truth lies from `lower` to `upper`; `lower` is None where no lower end is known.

    `upper` bounds every pair of neighbours; `lower` is that of the pair that `pair` names.
    """

    lower: Fraction | None
    upper: Fraction
    pair: str

    @property
    def width(self) -> float | None:
        """How much of `upper` lies above `lower`; None without a lower end."""
        if self.lower is None:
            return None
        return float((self.upper - self.lower) / self.upper) if self.upper else 0.0

    def __str__(self) -> str:
        low = "?" if self.lower is None else show(self.lower)
        return f"{low} to {show(self.upper)} (lower end: {self.pair})"
