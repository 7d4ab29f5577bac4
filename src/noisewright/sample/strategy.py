"""How strategies are drawn, and what is released: answers of a workload, the table they fit, and their half-widths."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.half_widths import deviations
from noisewright.mechanisms.strategies.estimates import answers_of, estimate_of
from noisewright.mechanisms.strategies.strategy import GaussianStrategy, LaplaceStrategy, Strategy
from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.fields import Floats
from noisewright.numerics.integer_matrices import Wholes
from noisewright.numerics.workloads import answers as answers_to
from noisewright.problem.errors import InvalidAnswerError, InvalidNumberError
from noisewright.problem.fields import flag, whole
from noisewright.problem.matrices import Unchanging
from noisewright.problem.numbers import parameter
from noisewright.sample.drawers import drawer_for
from noisewright.sample.entropy import Entropy, WordStream
from noisewright.sample.integer_noise import TwoSided, normal_rows

_CONFIDENCE = 0.95
_MOST_DRAWN = 1 << 27


@dataclass(frozen=True, slots=True, eq=False)
class AdjustedAnswer:
    """Answers that belong to a table of counts that could be true: biased, so that no half-widths are stated.

    `moved` is how much the cells were changed in all; no answer with weights of at most 1 changed by more.
    """

    answers: Floats
    estimate: Floats
    moved: float


class WorkloadAnswer(Unchanging):
    """A private release of a workload: everything in it comes from `measured`, the noisy whole rows.

    `answers` are those of all questions in order, consistent with one another, `estimate` is the table that they are
    the answers of, and `half_widths` how far each answer is from the truth in 95 of 100 releases.
    """

    __slots__ = ("_kept", "_mechanism", "measured")

    measured: tuple[Wholes, ...]
    _mechanism: Strategy
    _kept: dict[str, Floats]

    def __init__(self, mechanism: Strategy, measured: Sequence[Wholes]) -> None:
        for values in measured:
            values.setflags(write=False)
        object.__setattr__(self, "measured", tuple(measured))
        object.__setattr__(self, "_mechanism", mechanism)
        object.__setattr__(self, "_kept", {})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("what was released does not change.")

    __delattr__ = __setattr__  # type: ignore[assignment]  # neither is allowed

    @property
    def answers(self) -> Floats:
        """The answers to all questions, in order: least squares on what was measured, unbiased."""
        if len(self) > _MOST_DRAWN:
            raise InvalidAnswerError(
                f"there are {len(self)} answers, too many to list; `estimate` is the table that they are the answers"
                " of, and `run(first, last)` gives one of them."
            )
        return self._once("answers", lambda m, noise: answers_of(m.rows, m.query, noise, self.measured, m.fineness))

    @property
    def estimate(self) -> Floats:
        """The table that fits what was measured best; cells that are always asked about together share their sum."""
        return self._once("estimate", lambda m, noise: estimate_of(m.rows, noise, self.measured, m.fineness))

    @property
    def half_widths(self) -> Floats:
        """Half-widths around each answer at 95 % confidence."""
        return self.half_widths_at(_CONFIDENCE)

    def half_widths_at(self, confidence: float) -> Floats:
        """Half-widths around each answer, from its proven variance; `mechanisms/tails.py` has the rules."""
        times = self._deviations(confidence)
        spread = self._once("spread", lambda m, noise: np.sqrt(np.concatenate([v for _, v, _ in m.variances()])))
        return np.asarray(times * spread)

    def run(self, first: int, last: int, *, confidence: float = _CONFIDENCE) -> tuple[float, float]:
        """The sum over the cells from `first` to `last` along a line, both included, and its half-width."""
        size, spec = self._mechanism.query.size, whole(at_least=0)
        first, last = (spec.read(v, name, InvalidNumberError) for v, name in ((first, "first"), (last, "last")))
        if not first <= last < size:
            raise InvalidNumberError(f"a run of cells goes from first to last, at most {size - 1}; this one does not.")
        variance = float(upper(self._mechanism.run_variance(first, last)))
        return math.fsum(self.estimate[first : last + 1]), self._deviations(confidence) * variance**0.5

    def adjusted(self, *, integer: bool = False) -> AdjustedAnswer:
        """The table without negative counts, rounded to whole ones if asked for, and the answers that belong to it.

        Post-processing: it costs no privacy and moves no cell farther from the truth (rounding: by up to 1/2), but
        answers are no longer unbiased. Sums over many nearly empty cells come out too large, by up to what was cut off.
        """
        table = np.maximum(self.estimate, 0.0)
        table = np.floor(table + 0.5) if flag().read(integer, "integer", InvalidNumberError) else table
        added = float(np.abs(table - self.estimate).sum())
        return AdjustedAnswer(answers_to(self._mechanism.query, table), table, added)

    def _deviations(self, confidence: float) -> float:
        if not isinstance(confidence, int | float | Fraction) or not 0.5 <= confidence < 1:
            raise InvalidNumberError(f"confidence is {confidence!r}; give at least 0.5 and less than 1.")
        return deviations(self._mechanism, parameter(confidence, "confidence"))

    def _once(self, name: str, make: Any) -> Floats:
        if name not in self._kept:
            with precision():
                noise = self._mechanism.noises()
            self._kept[name] = make(self._mechanism, noise)
            self._kept[name].setflags(write=False)
        return self._kept[name]

    def __len__(self) -> int:
        found: int = self._mechanism.query.dimension
        return found

    def __iter__(self) -> Any:
        return iter(self.answers.tolist())

    def __repr__(self) -> str:
        return f"WorkloadAnswer({self._mechanism.query})"


class StrategyDrawer:
    """Exact whole rows, exact whole noise, and what follows from them."""

    def __init__(self, mechanism: Strategy) -> None:
        self._mechanism = mechanism

    def release(self, answer: Any, entropy: Entropy) -> WorkloadAnswer:
        rows = self._mechanism.law_given(answer)
        stream = entropy.stream()
        return WorkloadAnswer(self._mechanism, [self._noisy(g, values, stream) for g, values in enumerate(rows)])

    def release_many(self, answers: Any, entropy: Entropy) -> NDArray[Any]:
        """One independent release for each of many tables, each with a stream of its own."""
        released = [self.release(answer, entropy) for answer in answers]
        found = np.empty(len(released), dtype=object)
        found[:] = released
        return found

    def draw(self, count: int, entropy: Entropy) -> NDArray[np.float64]:
        """Errors of all answers, one release in each row: what is released where the table is empty."""
        mechanism, stream = self._mechanism, entropy.stream()
        if count * mechanism.query.dimension > _MOST_DRAWN:
            raise InvalidNumberError("that many errors of that many answers do not fit; draw fewer at a time.")
        empty = mechanism.law_given({})
        found = np.empty((count, mechanism.query.dimension))
        for i in range(count):
            released = [self._noisy(g, values, stream) for g, values in enumerate(empty)]
            found[i] = WorkloadAnswer(mechanism, released).answers
        return found

    def _noisy(self, group: int, values: Wholes, stream: WordStream) -> Wholes:
        noise = self._noise(group, len(values), stream)
        if values.dtype == object or noise.dtype == object:
            return np.asarray(values.astype(object) + noise.astype(object))
        return np.asarray(values + noise)

    @abstractmethod
    def _noise(self, group: int, count: int, stream: WordStream) -> Wholes:
        """Exact noise for so many rows of a group."""


@drawer_for.register(GaussianStrategy)
class GaussianDrawer(StrategyDrawer):
    """Rounded Gaussian noise for each row."""

    def _noise(self, group: int, count: int, stream: WordStream) -> Wholes:
        mechanism = self._mechanism
        level = mechanism.level(group) * mechanism.fineness**2
        return normal_rows(level, mechanism.rows.factors(group), count, stream)


@drawer_for.register(LaplaceStrategy)
class LaplaceDrawer(StrategyDrawer):
    """Discrete Laplace noise for each row."""

    def __init__(self, mechanism: LaplaceStrategy) -> None:
        super().__init__(mechanism)
        self._rate, self._two_sided = mechanism.rate, dict[int, TwoSided]()

    def _noise(self, group: int, count: int, stream: WordStream) -> Wholes:
        if group not in self._two_sided:
            rate = self._rate(group)
            self._two_sided[group] = TwoSided(lambda: ball(rate))
        return self._two_sided[group].draw(count, stream)
