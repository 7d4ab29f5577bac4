"""What a mechanism is, and what is known of its errors: each question a utility may ask, answered or refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NoReturn

from noisewright.numerics.balls import Ball, lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS, Field, Value
from noisewright.problem.errors import InvalidMechanismError, InvalidUtilityError
from noisewright.problem.records import Family, Record
from noisewright.problem.utilities import Utility


class Errors:
    """The errors of `count` numbers, rounding included; a question that has no rule for them is refused."""

    __slots__ = ()

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return 1

    def power_means(self, power: Fraction, field: Field) -> list[Value]:
        """Mean of |error|^power of each number."""
        self._refuse(f"the mean of |error|^{power}")

    def chances(self, limits: tuple[Fraction, ...], field: Field) -> list[Value]:
        """The chance that the error of each number is at most its limit."""
        self._refuse("the chance of a useful answer")

    def half_width(self, confidence: Fraction, field: Field) -> Value:
        """The smallest half-width that all errors stay within, with the confidence."""
        self._refuse("a quantile of the error")

    def largest(self, field: Field) -> Value:
        """Mean of the largest absolute error."""
        self._refuse("the largest error")

    def apart(self) -> list[Any]:
        """What is known of each number's errors by themselves; a single entry stands for numbers that are all alike."""
        self._refuse("a loss of each number")

    def mean_loss(self, utility: Any, field: Field) -> Value:
        """Mean of a loss that is known by its values."""
        self._refuse("a loss of your own")

    def average_square(self, prior: Any, field: Field) -> Value:
        """Mean squared error averaged over true answers in a range."""
        self._refuse("an average over true answers")

    def histogram(self, utility: Any, field: Field) -> Value:
        """Mean distance of a noisy histogram from the true one."""
        self._refuse("the distance of histograms")

    def mallows(self, utility: Any, field: Field) -> Value:
        """Mean Mallows distance of a noisy sequence from the true one."""
        self._refuse("the Mallows distance")

    def entropy(self, field: Field) -> Value:
        """Entropy of the error."""
        self._refuse("the entropy of the error")

    def _refuse(self, what: str) -> NoReturn:
        raise InvalidUtilityError(f"{what} has no rule for {type(self).__name__}; use another utility.")


MECHANISMS: Family[Any] = Family("a mechanism such as Additive(query, law, lattice)", InvalidMechanismError)
"""Every kind of mechanism by the name it has in files."""


class Mechanism(Record, Errors):
    """Maps a true answer to the law of the released one; built from a problem, knows no randomness.

    It answers what a utility asks of its errors (`Errors`), rounding included.
    """

    __slots__ = ()
    query: Any

    @property
    def relation(self) -> str:
        """Which datasets are neighbours (`problem.neighbours`): what the question says."""
        return str(self.query.neighbours)

    @property
    def errors(self) -> Errors:
        """What is known of released minus true answers."""
        return self

    def expected(self, utility: Utility, field: Field = BALLS) -> Value:
        """Expected utility, in balls or floats; in balls the value is enclosed.

        Raises InvalidUtilityError where no rule is known, and for weights of another count of numbers.
        """
        utility.check_count(self.errors.count)
        if field is FLOATS:
            return utility.under(self.errors, field)
        with precision():
            return utility.under(self.errors, field)

    def bias(self, field: Field) -> Value:
        """Mean of released minus true answer, where it is farthest from zero."""
        return field.real(0)

    def shown(self, utility: Utility, value: Ball, bound: Fraction | None = None) -> float:
        """The value to tell: the worse end of its ball, or an estimate inside it that is not beyond a proven bound."""
        larger = utility.larger_is_better
        worse, better = (lower(value), upper(value)) if larger else (upper(value), lower(value))
        estimate = self.estimate(utility, value)
        if estimate is None:
            return float(worse)
        ends = [better, *([] if bound is None else [bound])]
        return float(sorted((worse, estimate, min(ends) if larger else max(ends)))[1])

    def estimate(self, utility: Utility, value: Ball) -> Fraction | None:
        """What is told in place of a proven end: the middle where a utility is numerical, and told with its error."""
        return Fraction(float(value.mid())) if utility.numerical else None
