"""Two-fold noise: Laplace noise whose rate is itself random.

X given u is Laplace of scale 1/u and u follows a second fold with Laplace transform L. Then X has
density -L'(|x|)/2, P(X > x) = L(x)/2 for x >= 0 and E|X|^p = Gamma(p+1) E u^(-p).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from noisewright.laws.combined import Ensemble, TruncatedNormalFold
from noisewright.laws.folds import (
    Atoms,
    Fold,
    GammaFold,
    NoncentralChiSquaredFold,
    RayleighFold,
    UniformFold,
)
from noisewright.laws.formula import FormulaFold
from noisewright.numerics.balls import precision, upper
from noisewright.numerics.fields import BALLS, Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError

_LARGEST_TABLE = 1 << 17
_COSTLY_TABLE = 1 << 13


@dataclass(frozen=True, slots=True)
class TwoFold:
    """Compound Laplace noise with the given second fold."""

    fold: Fold
    on_integers: ClassVar[bool | None] = False

    def __post_init__(self) -> None:
        if not isinstance(self.fold, Fold):
            raise InvalidLawError(f"fold is {self.fold!r}; give a second fold such as GammaFold(shape, scale).")

    @property
    def largest_table(self) -> int:
        """How many entries a table of the distribution function may have: fewer where one costs more."""
        return _COSTLY_TABLE if self.fold.costly else _LARGEST_TABLE

    def density(self, x: Point, field: Field) -> Value:
        """Density at x."""
        return self.fold.slope(field.real(x if x >= 0 else -x), field) / 2

    def cdf(self, x: Point, field: Field) -> Value:
        """P(X <= x), accurate in the lower tail."""
        return self.sf(-x, field)

    def sf(self, x: Point, field: Field) -> Value:
        """P(X > x), accurate in the upper tail."""
        half_tail = self.fold.transform(field.real(x if x >= 0 else -x), field) / 2
        return half_tail if x >= 0 else 1 - half_tail

    def moment(self, power: Exact, field: Field) -> Value:
        """E |X|^power, infinite where the tails are too heavy for it."""
        return field.gamma(power + 1) * self.fold.inverse_moment(Fraction(power), field)

    def mean(self, field: Field) -> Value:
        """0 by symmetry (as the principal value, where E|X| is infinite)."""
        return field.real(0)

    def log_ratio(self, shift: Fraction) -> Fraction:
        """A rational just above ln f(0) - ln f(shift), where the supremum is (see `proof.pure`)."""
        with precision():
            ratio = self.fold.slope(BALLS.real(0), BALLS) / self.fold.slope(BALLS.real(abs(shift)), BALLS)
            return upper(ratio.log())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": "two-fold", "fold": self.fold.to_dict()}


Read = Callable[[object], Fraction]
"""How a number is read from its text; the registry of laws gives its own, which refuses what is too long."""

FOLDS: dict[str, Callable[[Mapping[str, Any], Read], Fold]] = {
    "atoms": lambda d, read: Atoms(tuple(map(read, d["rates"])), tuple(map(read, d["weights"]))),
    "gamma": lambda d, read: GammaFold(read(d["shape"]), read(d["scale"])),
    "uniform": lambda d, read: UniformFold(read(d["low"]), read(d["high"])),
    "truncated-normal": lambda d, read: TruncatedNormalFold(
        read(d["centre"]), read(d["spread"]), read(d["low"]), None if d["high"] is None else read(d["high"])
    ),
    "noncentral-chi-squared": lambda d, read: NoncentralChiSquaredFold(
        read(d["degrees"]), read(d["noncentrality"]), read(d["scale"])
    ),
    "rayleigh": lambda d, read: RayleighFold(read(d["scale"])),
    "ensemble": lambda d, read: Ensemble(
        tuple(map(read, d["coefficients"])), tuple(_part(part, read) for part in d["parts"])
    ),
    "formula": lambda d, read: FormulaFold(d["formula"], read(d["scale"])),
}
"""How each kind of fold is read back from files."""


def twofold_from_dict(data: Mapping[str, Any], read: Read) -> TwoFold:
    """The law that `to_dict` described; KeyError, TypeError or ValueError if it is none."""
    return TwoFold(FOLDS[data["fold"]["kind"]](data["fold"], read))


def _part(data: Mapping[str, Any], read: Read) -> Fold:
    """A fold of an ensemble; ensembles do not nest."""
    if data["kind"] == "ensemble":
        raise ValueError("an ensemble is made of plain folds")
    return FOLDS[data["kind"]](data, read)
