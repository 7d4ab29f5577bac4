"""What a utility is: it answers for itself, so that no algorithm has to ask which one it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.fields import Spec, optional, rationals
from noisewright.problem.numbers import Number
from noisewright.problem.records import Family, Record

Weights = tuple[Fraction, ...]
MaybeWeights: TypeAlias = Spec[Iterable[Number] | None, Weights | None]

_LISTED = ("weights", "within")
"""What may be given for each number."""

UTILITIES: Family[Any] = Family(
    "what counts as good, such as SquaredError() or Usefulness(within)", InvalidUtilityError
)
"""Every utility by the name it has in files."""


class Utility(Record):
    """What counts as a good answer.

    `under(errors, field)` is its value for what is known of released minus true answers
    (`mechanisms.base.Errors`), `each` that of single numbers where there are several. `scaled(unit)` is the same
    utility when errors are measured in `unit`; values then differ by unit^degree. `edges` are the sizes of errors at
    which the loss jumps. What only some utilities have is None for the others: the `power` of |error| whose mean
    is taken, the `confidence` of a quantile.
    """

    __slots__ = ()
    larger_is_better: ClassVar[bool] = False
    joint: ClassVar[bool] = False
    """Whether it looks at all of several numbers together, instead of adding them up."""
    numerical: ClassVar[bool] = False
    """Whether its values are computed numerically, with an error."""
    tabulated: ClassVar[bool] = False
    """Whether its loss is known by its values alone, so that designs evaluate it on a grid."""
    averaged: ClassVar[bool] = False
    """Whether it averages over true answers in a range, instead of taking the worst."""
    worst: ClassVar[bool] = False
    """Whether it takes the largest variance of all questions, instead of adding them up."""
    unit: ClassVar[str] = ""
    """The unit of values on a logarithmic scale, which are compared by differences, not by ratios."""
    measure: ClassVar[str] = "root mean square error"
    """What `each` says of a single number, in words."""
    degree: ClassVar[Fraction] = Fraction(0)
    """By which power of the unit of errors its value grows."""
    edges: ClassVar[Weights] = ()
    """Sizes of errors at which the loss jumps."""
    power: Any = None
    confidence: Any = None
    weights: Any = None

    def scaled(self, unit: Fraction) -> Utility:
        """The same utility when errors are measured in this unit."""
        return self

    def alone(self, place: int) -> Utility:
        """What counts as good for one of several numbers by itself."""
        return self

    def among(self, start: int, end: int) -> Utility:
        """What counts as good for the numbers from one place to another."""
        given = {name: getattr(self, name) for name in self.CARD.given}
        sliced = {name: v[start:end] for name, v in given.items() if name in _LISTED and isinstance(v, tuple)}
        return type(self)._rebuilt({**given, **sliced}) if sliced else self

    def shares(self, count: int) -> Weights:
        """One weight for each number."""
        return tuple(self.weights or (Fraction(1),) * count)

    def under(self, errors: Any, field: Any) -> Any:
        """Its value, in floats or balls."""
        total = None
        weights, values = self.shares(errors.count), self.each(errors, field)
        if len(values) == 1:
            # All numbers are alike.
            weights = (sum(weights, Fraction(0)) if self.weights else weights[0] * len(weights),)
        for weight, value in zip(weights, values, strict=True):
            part = value if weight == 1 else field.real(weight) * value
            total = part if total is None else total + part
        return total

    def each(self, errors: Any, field: Any) -> list[Any]:
        """What is known of each number: mean squared errors, unless the utility adds up something else.

        A single value where there are several numbers stands for all of them.
        """
        return list(errors.power_means(Fraction(2), field))

    def several(self) -> str:
        """The utility in words where there are several numbers."""
        return str(self)

    def check_count(self, count: int) -> None:
        """Refuse weights whose count is not that of the numbers."""
        if self.weights is not None and len(self.weights) != count:
            raise InvalidUtilityError(
                f"there are {len(self.weights)} weights for {count} numbers; give one weight for each number.",
                weights=len(self.weights),
                dimension=count,
            )


def once_each(errors: list[Any], mean: Callable[[Any], Any]) -> list[Any]:
    """The mean of each number; numbers that share what is known of them are measured once."""
    known = {id(one): mean(one) for one in {id(one): one for one in errors}.values()}
    return [known[id(one)] for one in errors]


def read_weights() -> Any:
    """The field of weights: how much each of several numbers matters, all alike unless given."""
    small, hint = Fraction(1, 10**30), " (leave a number out of the question if it does not matter)"
    each = rationals(at_least=small, at_most=1 / small, hint=hint, each="weight", least=1)
    return optional(each, default=None, absent=None)
