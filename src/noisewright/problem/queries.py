"""What is asked, and every difference one person can make to it: one number, several, counts by bin, a choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, TypeAlias

from noisewright.problem import fields
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import Flag, Flags, flag, one_of, one_or_many
from noisewright.problem.numbers import Number, show
from noisewright.problem.privacy import ADD_REMOVE, DECLARED, REPLACE
from noisewright.problem.records import Family, Record, keep, record
from noisewright.problem.sensitivity import SETS, SensitivitySet

_SMALLEST = Fraction(1, 10**100)
_LARGEST = Fraction(10**100)
_LARGEST_INTEGER = 10**12
_MOST_CANDIDATES = 100_000
_LARGEST_FLOAT = 2**26
_RAISED = Fraction(1, 2**50)

_HINT = ": the most that one person can change the answer (1 for a count; use another unit beyond)"

QUERIES: Family[Any] = Family("a question such as Scalar(sensitivity) or Vector(set)", InvalidQueryError)
"""Every question by the name it has in files."""

ROUNDING = Fraction(1, 2**24)
"""The part of a sensitivity by which two answers, computed in floats, may be read too far apart."""
_LARGEST_RATIO = 10**40


@record("choice", QUERIES, error=InvalidQueryError)
class Choice(Record):
    """One of finitely many candidates, each with a score that one person can move by at most `sensitivity`.

    `exact=True` declares that scores are exact numbers; otherwise they may carry the rounding of floats.

    >>> print(nw.Choice(["sunny", "bold"], sensitivity=1))
    one of 2 candidates, score sensitivity 1
    """

    candidates: fields.Texts = fields.tuple_of(fields.text(), least=1, most=_MOST_CANDIDATES, distinct=True)
    sensitivity: fields.Rational = fields.rational(
        raised=True, at_least=_SMALLEST, at_most=_LARGEST, hint=_HINT, default=1
    )
    exact: fields.Flag = fields.flag(default=False, absent=True)
    neighbours: ClassVar[str] = DECLARED

    def __str__(self) -> str:
        return f"one of {len(self.candidates)} candidates, score sensitivity {show(self.sensitivity)}"


@record("bounded", QUERIES, error=InvalidQueryError)
class Bounded(Record):
    """One number that lies in `inputs`, to be released inside `outputs`; made by `Scalar(inputs=..., outputs=...)`.

    One person moves it by at most `sensitivity` (the whole input range in the local model). `bias`
    is how far the mean of the release may be from the truth: 0 for unbiased, None for no limit. With `integer`
    true answers and released ones are whole numbers, and so are all bounds.
    """

    sensitivity: fields.Rational = fields.rational(raised=True, at_least=_SMALLEST, at_most=_LARGEST, hint=_HINT)
    inputs: fields.Pair = fields.pair(at_least=-_LARGEST, at_most=_LARGEST, hint="; use another unit beyond")
    outputs: fields.Pair = fields.pair(at_least=-_LARGEST, at_most=_LARGEST, hint="; use another unit beyond")
    bias: fields.MaybeRational = fields.optional(fields.rational())
    exact: fields.Flag = fields.flag(default=False, absent=True)
    integer: fields.Flag = fields.flag(default=False, absent=False)
    neighbours: ClassVar[str] = DECLARED

    def __post_init__(self) -> None:
        low, high = self.inputs
        if self.integer:
            self._check_whole()
            keep(self, exact=True)
        if self.bias is not None and not 0 <= self.bias <= high - low:
            raise InvalidQueryError(
                f"bias is {show(self.bias)}; allowed is 0 to the input range, {show(high - low)}.", bias=self.bias
            )
        # Floats are fine enough for the sensitivity, unless answers are exact or all of them are neighbours.
        if not self.exact and self.sensitivity < self.width and max(-low, high) > _LARGEST_FLOAT * self.sensitivity:
            raise InvalidQueryError(
                "answers of this size lose more than the sensitivity allows when they are computed in floats; move the"
                " range nearer to 0, or say exact=True and give exact answers.",
                inputs=(low, high),
            )
        if self.sensitivity > high - low:
            raise InvalidQueryError(
                f"sensitivity is {show(self.sensitivity)}, but answers between {show(low)} and {show(high)} differ by"
                f" at most {show(high - low)}; give a sensitivity of at most that.",
                sensitivity=self.sensitivity,
            )

    def _check_whole(self) -> None:
        for name, value in (("sensitivity", self.sensitivity), ("inputs", self.inputs), ("outputs", self.outputs)):
            ends = value if isinstance(value, tuple) else (value,)
            if any(end.denominator != 1 or abs(end) > _LARGEST_INTEGER for end in ends):
                raise InvalidQueryError(
                    f"{name} is {' to '.join(map(show, ends))}, but answers are integers; give whole numbers of at most"
                    " 1e12 in size, or leave integer=False.",
                    name=name,
                )

    @property
    def reach(self) -> Fraction:
        """How far apart neighbouring answers can be read: the sensitivity, and room for the rounding of floats."""
        return self.sensitivity if self.exact else min(self.sensitivity * (1 + ROUNDING), self.width)

    @property
    def covered(self) -> tuple[Fraction, Fraction]:
        """The inputs, and a hair more where parts of the range that fit the sensitivity are to fit the reach."""
        low, high = self.inputs
        more = (high - low) * ROUNDING / 2 if self.sensitivity < self.reach < high - low else Fraction(0)
        return low - more, high + more

    @property
    def width(self) -> Fraction:
        """The length of the input range."""
        return self.inputs[1] - self.inputs[0]

    @property
    def margin(self) -> Fraction:
        """How far the outputs reach beyond the inputs, on the tighter side (negative if they do not)."""
        return min(self.inputs[0] - self.outputs[0], self.outputs[1] - self.inputs[1])

    def __str__(self) -> str:
        (low, high), (bottom, top) = self.inputs, self.outputs
        told = "any bias" if self.bias is None else f"bias at most {show(self.bias)}" if self.bias else "unbiased"
        kind = "whole number" if self.integer else "number"
        return (
            f"one {kind} from {show(low)} to {show(high)}, sensitivity {show(self.sensitivity)}, released within"
            f" {show(bottom)} to {show(top)}, {told}"
        )


@record("scalar", QUERIES, error=InvalidQueryError)
class Scalar(Record):
    """One number that a single person can move by at most `sensitivity`, either way.

    With `integer=True` the answer is a whole number (a count) and so is what is released; the
    sensitivity must then be whole too. With `inputs` and `outputs`, each a pair (lowest, highest),
    the true answer lies in the first and the released one must stay in the second; `unbiased=True`
    asks for the truth on average, `bias` for at most that much off it. `exact=True` declares that
    answers are exact numbers; otherwise they may carry the rounding errors of floats.

    >>> print(nw.Scalar(sensitivity=2, integer=True))
    one integer, sensitivity 2
    >>> nw.Scalar(sensitivity="1/2", integer=True)
    Traceback (most recent call last):
        ...
    InvalidQueryError: sensitivity is 0.5, but the answer is an integer; give a whole ...
    """

    sensitivity: fields.Rational = fields.rational(raised=True, at_least=_SMALLEST, at_most=_LARGEST, hint=_HINT)
    integer: fields.Flag = fields.flag()
    exact: fields.Flag = fields.flag(absent=True)
    bounded: Bounded | None = fields.derived(compare=True)
    neighbours: ClassVar[str] = DECLARED

    def __init__(
        self,
        sensitivity: Number = 1,
        *,
        integer: bool = False,
        inputs: Sequence[Number] | None = None,
        outputs: Sequence[Number] | None = None,
        unbiased: bool = False,
        bias: Number | None = None,
        exact: bool = False,
    ) -> None:
        self.construct(sensitivity=sensitivity, integer=integer, exact=exact)
        keep(self, bounded=_bounded(self, inputs, outputs, unbiased, bias))

    def __post_init__(self) -> None:
        value = self.sensitivity
        if not hasattr(self, "bounded"):
            keep(self, bounded=None, exact=self.exact or self.integer)
        if self.integer and (value.denominator != 1 or value > _LARGEST_INTEGER):
            raise InvalidQueryError(
                f"sensitivity is {show(value)}, but the answer is an integer; give a whole sensitivity of at most 1e12,"
                " or leave integer=False.",
                sensitivity=value,
            )

    def __str__(self) -> str:
        if self.bounded is not None:
            return str(self.bounded)
        kind = "one integer" if self.integer else "one number"
        return f"{kind}, sensitivity {show(self.sensitivity)}"

    def to_dict(self) -> dict[str, Any]:
        return Record.to_dict(self) if self.bounded is None else self.bounded.to_dict()

    def __reduce__(self) -> tuple[Any, ...]:
        limits = () if self.bounded is None else ("inputs", "outputs", "bias")
        known = {name: getattr(self.bounded, name) for name in limits}
        return partial(Scalar, self.sensitivity, integer=self.integer, exact=self.exact, **known), ()


def _bounded(
    query: Scalar,
    inputs: Sequence[Number] | None,
    outputs: Sequence[Number] | None,
    unbiased: bool,
    bias: Number | None,
) -> Bounded | None:
    if inputs is None and outputs is None:
        if unbiased or bias is not None:
            raise InvalidQueryError(
                "a limit of the bias needs inputs=(lowest, highest) and outputs=(lowest, highest);"
                " without bounds symmetric noise is unbiased anyway."
            )
        return None
    if inputs is None or outputs is None:
        raise InvalidQueryError("give both inputs=(lowest, highest) and outputs=(lowest, highest), or neither.")
    if flag().read(unbiased, "unbiased", InvalidQueryError) and bias is not None:
        raise InvalidQueryError("give unbiased=True or an allowed bias, not both.", bias=bias)
    ends = Bounded.CARD.given["inputs"].read(inputs, "inputs", InvalidQueryError)
    sensitivity, width = query.sensitivity, ends[1] - ends[0]
    # What exceeds the range by no more than raising a computed float adds is the range.
    sensitivity = width if width < sensitivity <= width * (1 + _RAISED) else sensitivity
    return Bounded(sensitivity, ends, outputs, 0 if unbiased else bias, query.exact, query.integer)


@record("vector", QUERIES, error=InvalidQueryError)
class Vector(Record):
    """Several numbers; `sensitivity` is the set of all differences that one person can make to them.

    With `integer=True` answers and releases are whole numbers; a list says it for each number. `exact=True` declares
    that answers are exact numbers; otherwise real ones may carry the rounding errors of floats.

    >>> print(nw.Vector(nw.Box([1, 120])))
    2 numbers, all may move at once (by at most 1 to 120)
    """

    sensitivity: SensitivitySet = one_of(SETS)
    exact: Flag = flag(default=False, absent=True)
    integer: Flags = one_or_many(flag(), default=False, absent=False)

    def __post_init__(self) -> None:
        self._check_whole()
        moving = [extent for extent in self.extents if extent]
        if max(moving) > _LARGEST_RATIO * min(moving):
            raise InvalidQueryError(
                f"the sensitivities differ by a factor of {float(max(moving) / min(moving)):.3g}; at most 1e40 is"
                " allowed. Measure the numbers in other units, or ask for them separately.",
            )

    def __str__(self) -> str:
        count, kind = self.dimension, "whole number" if self.integer is True else "number"
        mixed = f" ({sum(self.whole)} of them whole)" if self.mixed else ""
        return f"{count} {kind}{'s' if count > 1 else ''}{mixed}, {self.sensitivity}"

    @property
    def neighbours(self) -> str:
        """Which datasets are neighbours: what the set says."""
        return self.sensitivity.neighbours

    @property
    def dimension(self) -> int:
        """How many numbers there are."""
        return len(self.extents)

    @property
    def extents(self) -> tuple[Fraction, ...]:
        """How far each number can move."""
        return self.sensitivity.extents

    @property
    def whole(self) -> tuple[bool, ...]:
        """Which numbers are whole."""
        return (self.integer,) * self.dimension if isinstance(self.integer, bool) else self.integer

    @property
    def mixed(self) -> bool:
        """Whether it is said of each number whether it is whole."""
        return not isinstance(self.integer, bool)

    def _check_whole(self) -> None:
        if isinstance(self.integer, tuple) and len(self.integer) != self.dimension:
            raise InvalidQueryError(
                f"integer has {len(self.integer)} entries for {self.dimension} numbers; give True, or one for each.",
                integer=len(self.integer),
            )
        if len(alike := set(self.whole)) == 1:
            keep(self, integer=alike.pop())
        if self.integer is False:
            return
        keep(self, exact=self.exact or self.integer is True)
        broken, extents = set(self.sensitivity.fractional), self.extents
        for place, whole in enumerate(self.whole):
            if whole and (place in broken or 0 < extents[place] < 1 or extents[place] > _LARGEST_INTEGER):
                raise InvalidQueryError(
                    f"number {place + 1} is an integer, but one person can move it by {show(extents[place])}; give"
                    " whole differences of at most 1e12, or integer=False for it.",
                    place=place,
                )


Label: TypeAlias = str | int | tuple[Any, ...]

_MOST_BINS = 10_000_000


@record("histogram", QUERIES, error=InvalidQueryError)
class Histogram(Record):
    """How many people are in each of several bins; answers and releases are whole numbers.

    `bins` is how many there are, or a list of their labels. A person is in at most `bins_per_person` of them, once in
    each. Neighbours differ by one person who comes or goes; with `replace=True` by one person who changes.

    >>> print(nw.Histogram(["north", "south"]))
    a histogram of 2 bins, each person in one bin
    >>> nw.Histogram(3, replace=True).replace
    True
    """

    bins: fields.Whole = fields.whole(at_least=1, at_most=_MOST_BINS, hint=": how many bins there are")
    labels: fields.Spec[Iterable[Label] | None, tuple[Label, ...] | None] = fields.optional(
        fields.tuple_of(
            fields.Spec(lambda value, name, error: _label(value, name), lambda v: _plain(v), lambda v: _kept(v))
        ),
        default=None,
        absent=None,
    )
    bins_per_person: fields.Whole = fields.whole(at_least=1, hint=": in how many bins one person can be", default=1)
    replace: fields.Flag = fields.flag(default=False)
    integer: ClassVar[bool] = True
    exact: ClassVar[bool] = True

    @property
    def neighbours(self) -> str:
        """Which datasets are neighbours."""
        return REPLACE if self.replace else ADD_REMOVE

    def __init__(self, bins: int | Iterable[Label], *, bins_per_person: int = 1, replace: bool = False) -> None:
        labels = None
        if fields.is_list(bins):
            labels = fields.tuple_of(fields.label()).read(bins, "bins", InvalidQueryError)
        self.construct(
            bins=bins if labels is None else len(labels),
            labels=labels,
            bins_per_person=bins_per_person,
            replace=replace,
        )

    def __post_init__(self) -> None:
        if self.labels is not None and not len(set(self.labels)) == len(self.labels) == self.bins:
            raise InvalidQueryError("two bins have the same label; give each bin a label of its own.")
        if self.bins_per_person > self.bins:
            raise InvalidQueryError(
                f"bins_per_person is {self.bins_per_person}, but there are {self.bins} bins; give at most that.",
                bins_per_person=self.bins_per_person,
            )

    def __str__(self) -> str:
        several = "one bin" if self.bins_per_person == 1 else f"up to {self.bins_per_person} bins"
        change = ", one person replaced" if self.replace else ""
        return f"a histogram of {self.bins} bin{'s' if self.bins > 1 else ''}, each person in {several}{change}"

    @property
    def dimension(self) -> int:
        """How many numbers there are."""
        return self.bins

    @property
    def together(self) -> int:
        """How many bins one person can change at once, each by one."""
        return min(self.bins, self.bins_per_person * (2 if self.replace else 1))


def _label(value: Any, name: str) -> Label:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, tuple) and value:
        return tuple(_label(part, name) for part in value)
    raise InvalidQueryError(
        f"{name.replace('labels:', 'label')} is of type {type(value).__name__}; give text, whole numbers or tuples of"
        " them (str(label) turns others into text).",
    )


def _plain(label: Label) -> Any:
    return [_plain(part) for part in label] if isinstance(label, tuple) else label


def _kept(plain: Any) -> Any:
    return tuple(map(_kept, plain)) if isinstance(plain, list) else plain
