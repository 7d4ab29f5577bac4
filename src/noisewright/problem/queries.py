"""What is asked, and every difference one person can make to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.numbers import Number, parameter, show

_SMALLEST = Fraction(1, 10**100)
_LARGEST = Fraction(10**100)
_LARGEST_INTEGER = 10**12
_MOST_CANDIDATES = 100_000


@dataclass(frozen=True, slots=True, init=False)
class Choice:
    """One of finitely many candidates, each with a score that one person can move by at most `sensitivity`."""

    candidates: tuple[str, ...]
    sensitivity: Fraction

    def __init__(self, candidates: Iterable[str], sensitivity: Number = 1) -> None:
        names = tuple(candidates)
        if not 1 <= len(names) <= _MOST_CANDIDATES or len(set(names)) != len(names):
            raise InvalidQueryError(
                f"a choice needs 1 to {_MOST_CANDIDATES} candidates with different names; {len(names)} were given.",
                candidates=len(names),
            )
        if not all(isinstance(name, str) for name in names):
            raise InvalidQueryError("candidates are named by text.")
        value = parameter(sensitivity, "sensitivity")
        if not _SMALLEST <= value <= _LARGEST:
            raise InvalidQueryError(f"sensitivity is {show(value)}; it must be positive.", sensitivity=value)
        object.__setattr__(self, "candidates", names)
        object.__setattr__(self, "sensitivity", value)

    def __str__(self) -> str:
        return f"one of {len(self.candidates)} candidates, score sensitivity {show(self.sensitivity)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {"kind": "choice", "candidates": list(self.candidates), "sensitivity": str(self.sensitivity)}


@dataclass(frozen=True, slots=True)
class Bounded:
    """One number that lies in `inputs`, to be released inside `outputs`; made by `Scalar(inputs=..., outputs=...)`.

    One person moves it by at most `sensitivity` (the whole input range in the local model). `bias`
    is how far the mean of the release may be from the truth: 0 for unbiased, None for no promise.
    """

    sensitivity: Fraction
    inputs: tuple[Fraction, Fraction]
    outputs: tuple[Fraction, Fraction]
    bias: Fraction | None

    def __post_init__(self) -> None:
        (low, high), (bottom, top) = self.inputs, self.outputs
        if not low < high:
            raise InvalidQueryError(
                f"inputs are {show(low)} to {show(high)}; give (lowest, highest) with the lowest first.",
                inputs=self.inputs,
            )
        if not bottom < top:
            raise InvalidQueryError(
                f"outputs are {show(bottom)} to {show(top)}; give (lowest, highest) with the lowest first.",
                outputs=self.outputs,
            )
        if self.bias is not None and not 0 <= self.bias <= high - low:
            raise InvalidQueryError(
                f"bias is {show(self.bias)}; allowed is 0 to the input range, {show(high - low)}.", bias=self.bias
            )
        if self.sensitivity > high - low:
            raise InvalidQueryError(
                f"sensitivity is {show(self.sensitivity)}, but answers between {show(low)} and {show(high)} differ by"
                f" at most {show(high - low)}; give a sensitivity of at most that.",
                sensitivity=self.sensitivity,
            )

    @property
    def width(self) -> Fraction:
        """The length of the input range."""
        return self.inputs[1] - self.inputs[0]

    @property
    def margin(self) -> Fraction:
        """How far the outputs reach beyond the inputs, on the tighter side (negative if they do not)."""
        return min(self.inputs[0] - self.outputs[0], self.outputs[1] - self.inputs[1])

    @property
    def integer(self) -> bool:
        """Bounded answers are real numbers."""
        return False

    def __str__(self) -> str:
        (low, high), (bottom, top) = self.inputs, self.outputs
        promise = "any bias" if self.bias is None else f"bias at most {show(self.bias)}" if self.bias else "unbiased"
        return (
            f"one number from {show(low)} to {show(high)}, sensitivity {show(self.sensitivity)}, released within"
            f" {show(bottom)} to {show(top)}, {promise}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        return {
            "kind": "bounded",
            "sensitivity": str(self.sensitivity),
            "inputs": [str(x) for x in self.inputs],
            "outputs": [str(x) for x in self.outputs],
            "bias": None if self.bias is None else str(self.bias),
        }


def bounded_from_dict(data: Mapping[str, Any]) -> Bounded:
    """Inverse of `Bounded.to_dict`; KeyError, TypeError or ValueError if the data describe none."""
    if data["kind"] != "bounded":
        raise ValueError("this mechanism answers bounded questions only")
    inputs, outputs = ([parameter(str(x), "a bound") for x in data[key]] for key in ("inputs", "outputs"))
    bias = None if data["bias"] is None else parameter(str(data["bias"]), "bias")
    query = Scalar(
        str(data["sensitivity"]), inputs=(inputs[0], inputs[1]), outputs=(outputs[0], outputs[1]), bias=bias
    ).bounded
    assert query is not None
    return query


def _bounded(
    sensitivity: Fraction,
    integer: bool,
    inputs: tuple[Number, Number] | None,
    outputs: tuple[Number, Number] | None,
    unbiased: bool,
    bias: Number | None,
) -> Bounded | None:
    if inputs is None and outputs is None:
        if unbiased or bias is not None:
            raise InvalidQueryError(
                "a promise about the bias needs inputs=(lowest, highest) and outputs=(lowest, highest);"
                " without bounds symmetric noise is unbiased anyway."
            )
        return None
    if inputs is None or outputs is None:
        raise InvalidQueryError("give both inputs=(lowest, highest) and outputs=(lowest, highest), or neither.")
    if integer:
        raise InvalidQueryError("bounded answers are real numbers; leave integer=False.", integer=integer)
    if not isinstance(unbiased, bool):
        raise InvalidQueryError(f"unbiased is {unbiased!r}; give True or False.", unbiased=unbiased)
    if unbiased and bias is not None:
        raise InvalidQueryError("give unbiased=True or an allowed bias, not both.", bias=bias)
    allowed = Fraction(0) if unbiased else None if bias is None else parameter(bias, "bias")
    return Bounded(sensitivity, _pair(inputs, "inputs"), _pair(outputs, "outputs"), allowed)


def _pair(given: tuple[Number, Number], name: str) -> tuple[Fraction, Fraction]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InvalidQueryError(f"{name} is {given!r}; give a pair (lowest, highest).", given=given)
    low, high = parameter(given[0], f"lowest of {name}"), parameter(given[1], f"highest of {name}")
    if max(abs(low), abs(high)) > _LARGEST:
        raise InvalidQueryError(f"{name} reach beyond 1e100; measure the answer in another unit.", given=given)
    return low, high


@dataclass(frozen=True, slots=True, init=False)
class Scalar:
    """One number that a single person can move by at most `sensitivity`, either way.

    With `integer=True` the answer is a whole number (a count) and so is what is released; the
    sensitivity must then be whole too. With `inputs` and `outputs`, each a pair (lowest, highest),
    the true answer lies in the first and the released one must stay in the second; `unbiased=True`
    asks for the truth on average, `bias` for at most that much off it.
    """

    sensitivity: Fraction
    integer: bool
    bounded: Bounded | None

    def __init__(
        self,
        sensitivity: Number = 1,
        *,
        integer: bool = False,
        inputs: tuple[Number, Number] | None = None,
        outputs: tuple[Number, Number] | None = None,
        unbiased: bool = False,
        bias: Number | None = None,
    ) -> None:
        value = parameter(sensitivity, "sensitivity")
        if value <= 0:
            raise InvalidQueryError(
                f"sensitivity is {show(value)}; it must be positive: the most that one person can change the answer"
                " (1 for a count).",
                sensitivity=value,
            )
        if not _SMALLEST <= value <= _LARGEST:
            raise InvalidQueryError(
                "sensitivity is outside 1e-100 to 1e100; measure the answer in another unit.", sensitivity=value
            )
        if not isinstance(integer, bool):
            raise InvalidQueryError(f"integer is {integer!r}; give True or False.", integer=integer)
        if integer and value.denominator != 1:
            raise InvalidQueryError(
                f"sensitivity is {show(value)} but the answer is an integer; give a whole sensitivity"
                " or leave integer=False.",
                sensitivity=value,
            )
        if integer and value > _LARGEST_INTEGER:
            raise InvalidQueryError(
                f"sensitivity is {show(value)}; for integer answers at most 1e12 is allowed. Use integer=False.",
                sensitivity=value,
            )
        object.__setattr__(self, "sensitivity", value)
        object.__setattr__(self, "integer", integer)
        object.__setattr__(self, "bounded", _bounded(value, integer, inputs, outputs, unbiased, bias))

    def __str__(self) -> str:
        if self.bounded is not None:
            return str(self.bounded)
        kind = "one integer" if self.integer else "one number"
        return f"{kind}, sensitivity {show(self.sensitivity)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, numbers as exact text."""
        if self.bounded is not None:
            return self.bounded.to_dict()
        return {"kind": "scalar", "sensitivity": str(self.sensitivity), "integer": self.integer}
