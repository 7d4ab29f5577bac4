"""Two-fold noise: Laplace noise whose rate is itself random.

X given u is Laplace of scale 1/u and u follows a second fold with Laplace transform L. Then X has
density -L'(|x|)/2, P(X > x) = L(x)/2 for x >= 0 and E|X|^p = Gamma(p+1) E u^(-p).
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import noisewright.laws.combined
import noisewright.laws.formula  # noqa: F401  # loads every fold, which registers it
from noisewright.laws.base import LAWS, SmoothLaw
from noisewright.laws.folds import FOLDS, Fold
from noisewright.numerics.fields import Exact, Field, Point, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import one_of
from noisewright.problem.records import record


@record("two-fold", LAWS, error=InvalidLawError)
class TwoFold(SmoothLaw):
    """Compound Laplace noise with the given second fold; for whole numbers it is rounded to the nearest one."""

    fold: Fold = one_of(FOLDS)
    on_integers: ClassVar[bool | None] = None

    @property
    def largest_table(self) -> int:
        """How many entries a table of the distribution function may have: fewer where one costs more."""
        return 1 << 13 if self.fold.costly else 1 << 17

    def density(self, x: Point, field: Field) -> Value:
        return self.fold.slope(field.real(max(x, -x)), field) / 2

    def sf(self, x: Point, field: Field) -> Value:
        half_tail = self.fold.transform(field.real(max(x, -x)), field) / 2
        return half_tail if x >= 0 else 1 - half_tail

    def moment(self, power: Exact, field: Field) -> Value:
        """E |X|^power, infinite where the tails are too heavy for it."""
        return field.gamma(power + 1) * self.fold.inverse_moment(Fraction(power), field)

    def scaled(self, factor: Fraction) -> TwoFold:
        return TwoFold(self.fold.scaled(1 / factor))
