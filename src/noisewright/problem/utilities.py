"""What counts as a good answer: utilities answer for themselves, so that no algorithm has to ask which one it is.

Every utility but `Usefulness` is a cost (smaller is better); `Usefulness` is a probability (larger is
better). For several numbers a cost is the weighted sum over them, usefulness the weighted share; what concerns
all of them together (`ErrorQuantile`, `LargestError`) takes no weights. For answers in bounds a utility means its
worst case over all true answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

from noisewright.problem import fields
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.fields import Spec, optional, rationals
from noisewright.problem.numbers import Number, show
from noisewright.problem.records import Family, Record, keep, record

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


_LARGEST = Fraction(10**120)
_FAINT = 2.0**-60
_PIECES = 600
_MOST_PRIOR_POINTS = 60


@record("power-error", UTILITIES, error=InvalidUtilityError)
class PowerError(Utility):
    """Mean of |error|^power, for a power above 0 and at most 16.

    >>> round(nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.PowerError(3)).bound, 4)
    5.7607
    """

    power: fields.Rational = fields.rational(above=0, at_most=16, hint=" (1 is absolute, 2 is squared error)")
    weights: MaybeWeights = read_weights()

    def __str__(self) -> str:
        return f"mean of |error|^{show(self.power)}"

    @property
    def measure(self) -> str:  # type: ignore[override]  # a class variable elsewhere
        return str(self)

    @property
    def degree(self) -> Fraction:  # type: ignore[override]  # the same
        return self.power

    def alone(self, place: int) -> PowerError:
        return self if self.weights is None else PowerError(self.power)

    def each(self, errors: Any, field: Any) -> list[Any]:
        return list(errors.power_means(self.power, field))

    def several(self) -> str:
        return f"{'weighted ' if self.weights else ''}total {str(self).removeprefix('mean ')}"


@record("squared-error", UTILITIES, error=InvalidUtilityError)
class SquaredError(PowerError):
    """Mean squared error.

    >>> round(nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError()).bound, 4)
    1.9181
    """

    power: Fraction = fields.fixed(Fraction(2))

    def __str__(self) -> str:
        return "mean squared error"


@record("absolute-error", UTILITIES, error=InvalidUtilityError)
class AbsoluteError(PowerError):
    """Mean absolute error.

    >>> round(nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.AbsoluteError()).bound, 4)
    0.9595
    """

    power: Fraction = fields.fixed(Fraction(1))

    def __str__(self) -> str:
        return "mean absolute error"


@record("usefulness", UTILITIES, error=InvalidUtilityError)
class Usefulness(Utility):
    """Probability that the error is at most `within`; for several numbers the weighted share of them.

    There `within` may be one limit for all numbers, or one for each.

    >>> round(nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.Usefulness(1)).bound, 4)
    0.6321
    """

    within: fields.Spec[Number | Iterable[Number], Any] = fields.one_or_many(
        fields.rational(at_least=0, at_most=_LARGEST, hint=": the error that still counts as useful")
    )
    weights: MaybeWeights = read_weights()
    larger_is_better: ClassVar[bool] = True
    measure: ClassVar[str] = "chance to be within its limit"

    def __post_init__(self) -> None:
        if isinstance(self.within, tuple) and len(self.within) == 1:
            keep(self, within=self.within[0])

    def __str__(self) -> str:
        return self.several() if isinstance(self.within, tuple) else f"P(|error| <= {show(self.within)})"

    def several(self) -> str:
        low, high = min(self.limits(1)), max(self.limits(1))
        limit = show(low) if low == high else f"{show(low)} to {show(high)}"
        return f"{'weighted ' if self.weights else ''}share of numbers within {limit}"

    @property
    def edges(self) -> Weights:  # type: ignore[override]  # a class variable elsewhere
        return self.limits(1)

    def scaled(self, unit: Fraction) -> Usefulness:
        return Usefulness(self.within / unit)

    def alone(self, place: int) -> Usefulness:
        return Usefulness(self.within[place] if isinstance(self.within, tuple) else self.within)

    def limits(self, count: int) -> tuple[Fraction, ...]:
        """One limit for each number."""
        return self.within if isinstance(self.within, tuple) else (self.within,) * count

    def shares(self, count: int) -> Weights:
        if self.weights is None:
            return (Fraction(1, count),) * count
        weights = Utility.shares(self, count)
        total = sum(weights, Fraction(0))
        return tuple(w / total for w in weights)

    def each(self, errors: Any, field: Any) -> list[Any]:
        return list(errors.chances(self.limits(errors.count), field))

    def check_count(self, count: int) -> None:
        Utility.check_count(self, count)
        limits = self.limits(count)
        if len(limits) != count:
            raise InvalidUtilityError(
                f"there are {len(limits)} limits for {count} numbers; give one, or one for each number.",
                within=len(limits),
                dimension=count,
            )
        if count > 1 and not min(limits):
            raise InvalidUtilityError(
                "within needs positive limits: the error of each number that still counts as useful.",
                within=self.within,
            )


@record("error-quantile", UTILITIES, error=InvalidUtilityError)
class ErrorQuantile(Utility):
    """Half-width that the error (of all numbers together) stays within, with probability `confidence`.

    >>> round(nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.ErrorQuantile("0.95")).bound, 4)
    2.9933
    """

    confidence: fields.Rational = fields.rational(
        at_least=Fraction(1, 10**6), at_most=1 - Fraction(1, 10**12), hint=" (up to 1e-12), such as 0.95"
    )
    joint: ClassVar[bool] = True
    degree: ClassVar[Fraction] = Fraction(1)

    def __str__(self) -> str:
        return f"half-width at {float(self.confidence):.6g} confidence"

    def several(self) -> str:
        return f"half-width around all numbers at {float(self.confidence):.6g} confidence"

    def under(self, errors: Any, field: Any) -> Any:
        return errors.half_width(self.confidence, field)


@record("largest-error", UTILITIES, error=InvalidUtilityError)
class LargestError(Utility):
    """Mean of the largest absolute error among the numbers; for one number its mean absolute error.

    >>> print(nw.LargestError())
    mean of the largest error
    """

    joint: ClassVar[bool] = True
    degree: ClassVar[Fraction] = Fraction(1)

    def __str__(self) -> str:
        return "mean of the largest error"

    def alone(self, place: int) -> AbsoluteError:
        return AbsoluteError()

    def under(self, errors: Any, field: Any) -> Any:
        return errors.largest(field)


@record("growth", error=InvalidUtilityError)
class Growth(Record):
    """A promise about a loss: loss(x) <= factor * (1 + |x|)^power for every x.

    >>> print(nw.Growth(2, factor=3))
    3 * (1 + |x|)^2
    """

    power: fields.Rational = fields.rational(at_least=0, at_most=16, shown="growth power")
    factor: fields.Rational = fields.rational(above=0, at_most=_LARGEST, shown="growth factor", default=1)

    def __str__(self) -> str:
        return f"{show(self.factor)} * (1 + |x|)^{show(self.power)}"


@record("expected-loss", error=InvalidUtilityError)
class Expected(Utility):
    """Mean of a loss the user writes as a function of the error (released minus true answer).

    The loss is at least 0, does not decrease away from zero on either side, is not flat on either
    side, and stays below the declared growth; it may cost over- and under-reporting differently.
    Guarantees: each promise is checked wherever the loss is evaluated. The function is not stored
    in files.

    >>> loss = nw.Expected(lambda error: error**2 if error > 0 else -error, growth=2, name="overshooting")
    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> round(float(noise.expected(loss)), 2)  # half of 2 and half of 1
    1.5
    """

    name: fields.Text = fields.text()
    loss: Callable[[float], float] = fields.derived(compare=True)
    growth: Growth = fields.derived(compare=True)
    tabulated: ClassVar[bool] = True

    def __init__(self, loss: Callable[[float], float], *, growth: Growth | Number, name: str = "expected loss") -> None:
        if not callable(loss):
            raise InvalidUtilityError(f"loss is {loss!r}; give a function of one number, the error.", loss=loss)
        self.construct(name=name)
        keep(self, loss=loss, growth=growth if isinstance(growth, Growth) else Growth(growth))

    def __str__(self) -> str:
        return self.name

    def each(self, errors: Any, field: Any) -> list[Any]:
        return once_each(errors.apart(), lambda one: one.mean_loss(self, field))

    def several(self) -> str:
        return f"total {self.name}"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "expected-loss"}

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Expected, self.loss, growth=self.growth, name=self.name), ()


@record("huber", UTILITIES, error=InvalidUtilityError)
class Huber(Utility):
    """Mean of Huber's loss: half the square of an error up to `knee`, beyond it rising as steeply as at the knee.

    >>> round(nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.Huber(1)).bound, 4)
    0.6059
    """

    knee: fields.Rational = fields.rational(above=0, at_most=_LARGEST, hint=": where the loss stops bending")
    tabulated: ClassVar[bool] = True
    degree: ClassVar[Fraction] = Fraction(2)

    def __str__(self) -> str:
        return f"mean Huber loss, knee {show(self.knee)}"

    @property
    def growth(self) -> Growth:
        """The loss stays below knee (1 + |x|)."""
        return Growth(1, self.knee)

    def loss(self, error: float) -> float:
        """The loss of one error."""
        size, knee = abs(error), float(self.knee)
        return size * size / 2 if size <= knee else knee * (size - knee / 2)

    def scaled(self, unit: Fraction) -> Huber:
        return Huber(self.knee / unit)

    def several(self) -> str:
        return f"total {str(self).removeprefix('mean ')}"

    def each(self, errors: Any, field: Any) -> list[Any]:
        return once_each(errors.apart(), lambda one: self._mean(one, field))

    def _mean(self, errors: Any, field: Any) -> Any:
        """The integral of min(t, knee) P(|X| > t); for whole numbers a sum of rises of the loss times P(|X| >= j).

        Rule: where the density does not rise away from zero, P(|X| > t) is convex: on a piece it lies below its chord
        and, averaged with a weight, above its value at the centre of the weight. What lies beyond the last piece
        costs at most knee times the rest of E|X| and half the rest of E X^2, and exactly the former beyond the knee.
        [theory#what-the-stated-error-means]
        Valid for: densities that do not rise away from zero, as those of every noise that designs propose.
        """
        last = self.knee
        while last > _FAINT * self.knee and float(1 - errors.chances((last / 2,), field)[0]) < _FAINT:
            last /= 2
        near, covered = (self._sum if errors.integer else self._pieces)(errors, last, field)
        first, second = (errors.power_means(Fraction(p), field)[0] for p in (1, 2))
        rest = field.real(self.knee) * (first - covered)
        if last == self.knee:
            return near + rest
        return near + field.between(field.real(0), min(rest, second / 2 - near, key=lambda v: abs(float(v))))

    def _sum(self, errors: Any, last: Fraction, field: Any) -> tuple[Any, Any]:
        """Loss and part of E|X| up to the first whole number beyond the end; from there on it rises as at the knee."""
        sizes, knee = range(1, math.ceil(last) + 2), self.knee
        beyond = [1 - chance for chance in errors.chances(tuple(Fraction(j - 1) for j in sizes), field)]
        losses = [Fraction(j * j, 2) if j <= knee else knee * (j - knee / 2) for j in range(sizes.stop)]
        near = sum(
            (field.real(losses[j] - losses[j - 1]) * p for j, p in zip(sizes, beyond, strict=True)), field.real(0)
        )
        return near, sum(beyond, field.real(0))

    def _pieces(self, errors: Any, last: Fraction, field: Any) -> tuple[Any, Any]:
        """Integrals of t P(|X| > t) and of P(|X| > t) up to the end of the last piece; pieces are short near zero."""
        ends = [last * i * i / _PIECES**2 for i in range(_PIECES + 1)]
        cells = list(pairwise(ends))
        heavy = [2 * (a * a + a * b + b * b) / (3 * (a + b)) for a, b in cells]
        places = (*ends, *((a + b) / 2 for a, b in cells), *heavy)
        beyond = [1 - chance for chance in errors.chances(places, field)]
        at, middle, centre = beyond[: len(ends)], beyond[len(ends) : -_PIECES], beyond[-_PIECES:]
        near, covered = field.real(0), field.real(0)
        for i, (a, b) in enumerate(cells):
            chord = at[i] + (at[i + 1] - at[i]) * field.real((heavy[i] - a) / (b - a))
            near = near + field.real((b * b - a * a) / 2) * field.between(centre[i], chord)
            covered = covered + field.real(b - a) * field.between(middle[i], (at[i] + at[i + 1]) / 2)
        return near, covered


@record("worst-variance", UTILITIES, error=InvalidUtilityError)
class WorstVariance(SquaredError):  # noqa: N818  # no exception, an error of answers
    """Largest variance over all true answers in the input range, for bounded questions.

    Where a bias is allowed it is the largest mean squared error, which is the same for no bias.

    >>> print(nw.WorstVariance())
    worst-case variance
    """

    weights: None = fields.fixed(None)
    worst: ClassVar[bool] = True

    def __str__(self) -> str:
        return "worst-case variance"

    def several(self) -> str:
        return "largest variance of any question"


@record("average-variance", UTILITIES, error=InvalidUtilityError)
class AverageVariance(Utility):
    """Variance averaged over the true answer, for bounded questions.

    `prior` is None for answers spread evenly over the input range, or pairs (answer, weight). Where
    a bias is allowed it is the average mean squared error, which is the same for no bias.

    >>> print(nw.AverageVariance([(0, 3), (10, 1)]))
    average variance over the prior
    """

    prior: fields.Prior = fields.optional(
        fields.tuple_of(fields.tuple_of(fields.rational(), least=2, most=2)), default=None
    )
    averaged: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.prior is not None:
            keep(self, prior=_merged(self.prior))

    def __str__(self) -> str:
        return "average variance" if self.prior is None else "average variance over the prior"

    def under(self, errors: Any, field: Any) -> Any:
        return errors.average_square(self.prior, field)


def _merged(pairs: Iterable[tuple[Fraction, ...]]) -> tuple[tuple[Fraction, Fraction], ...]:
    """The prior with equal answers merged and weights that sum to one."""
    found: dict[Fraction, Fraction] = {}
    for answer, weight in pairs:
        if weight < 0:
            raise InvalidUtilityError(f"a weight of the prior is {show(weight)}; give at least 0.", weight=weight)
        found[answer] = found.get(answer, Fraction(0)) + weight
    total = sum(found.values())
    if not total or len(found) > _MOST_PRIOR_POINTS:
        raise InvalidUtilityError(
            f"the prior has {len(found)} answers of total weight {show(Fraction(total))}; give 1 to"
            f" {_MOST_PRIOR_POINTS} answers and a positive weight."
        )
    return tuple((x, found[x] / total) for x in sorted(found) if found[x])
