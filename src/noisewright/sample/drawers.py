"""How each kind of mechanism is drawn and described."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import singledispatch
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.lattice import HALF
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.answers import as_numbers
from noisewright.problem.errors import InvalidAnswerError, UncertifiedError
from noisewright.problem.records import load_package
from noisewright.sample.entropy import Entropy
from noisewright.sample.points import Points, added, as_float
from noisewright.sample.sampler import NoiseSampler


class Drawer(Protocol):
    """Draws what a mechanism is certified for, with randomness from the entropy it is given."""

    def release(self, answer: Any, entropy: Entropy) -> Any:
        """One private answer."""

    def release_many(self, answers: Any, entropy: Entropy) -> NDArray[Any]:
        """One independent private answer for each of many."""

    def draw(self, count: int, entropy: Entropy) -> NDArray[Any]:
        """`count` independent noise values."""


class OneByOne:
    """What the drawers share that release many answers one after another."""

    @abstractmethod
    def release(self, answer: Any, entropy: Entropy) -> Any:
        """One private answer."""

    def release_many(self, answers: Any, entropy: Entropy) -> NDArray[Any]:
        """One independent private answer for each of many, each with a stream of its own."""
        released = [self.release(answer, entropy) for answer in answers]
        plain = np.array(released)
        # A mixture of kinds keeps each as it is: numpy would make floats of whole numbers beyond its own.
        kinds = {type(value) for value in released}
        return plain if len(kinds) <= 1 and plain.dtype.kind != "u" else np.array(released, dtype=object)


class Releasing(OneByOne):
    """What the drawers share whose law depends on the answer."""

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism

    def draw(self, count: int, entropy: Entropy) -> NDArray[Any]:
        """Refused: there is no noise apart from the answer."""
        raise InvalidAnswerError(
            "what this mechanism releases depends on the answer, so there is no noise to draw by itself;"
            " use release(answer) or release_many(answers)."
        )


@singledispatch
def drawer_for(mechanism: Any) -> Drawer:
    """The exact sampler of a mechanism."""
    load_package("noisewright.sample")  # each kind of mechanism has its sampler in a module of its own
    known = drawer_for.dispatch(type(mechanism))
    if known is not _NO_DRAWER:
        return known(mechanism)
    raise UncertifiedError(f"there is no sampler for mechanisms of type {type(mechanism).__name__}.")


_NO_DRAWER = drawer_for.dispatch(object)


@drawer_for.register(Additive)
class AdditiveDrawer:
    """Lattice noise for one number."""

    def __init__(self, mechanism: Additive) -> None:
        self._mechanism = mechanism
        self._sampler = NoiseSampler(mechanism.noise)
        self._points = Points(mechanism.lattice.step, mechanism.spacing)

    def release(self, answer: Any, entropy: Entropy) -> float | int | Fraction:
        released = self._mechanism.law_given(answer)
        point = released.point(self._sampler.one(entropy.stream()))
        return point if self._mechanism.query.integer else self._points.one(point)

    def release_many(self, answers: Any, entropy: Entropy) -> NDArray[Any]:
        """One independent private answer for each answer: as `release` gives them, in one array.

        All answers are read before anything is drawn. An array of floats or of 64-bit integers, unless one of the
        released numbers needs an exact rational or a longer integer.
        """
        cells = self._mechanism.cells_given(as_numbers(answers))
        stream = entropy.stream()
        if self._mechanism.query.integer:
            return added(cells, self._sampler.many(len(cells), stream))
        released: NDArray[Any] = np.empty(len(cells))
        begin = 0
        for noise in self._sampler.parts(len(cells), stream):
            place = slice(begin, begin + len(noise))
            values = self._points.many(added(cells[place], noise) + 1)
            if values.dtype == object and released.dtype != object:
                released = released.astype(object)
            released[place] = values
            begin += len(noise)
        return released

    def draw(self, count: int, entropy: Entropy) -> NDArray[Any]:
        stream = entropy.stream()
        if self._mechanism.query.integer:
            return self._sampler.many(count, stream)
        lattice, stretch = self._mechanism.lattice, self._mechanism.stretch
        noise: NDArray[Any] = np.empty(count)
        begin = 0
        for part in self._sampler.parts(count, stream):
            place = slice(begin, begin + len(part))
            if part.dtype == object:
                noise = _put_exactly(noise, place, [stretch * lattice.centre(int(k)) for k in part])
            else:
                noise[place] = (part + float(HALF - lattice.edge)) * float(self._mechanism.spacing)
            begin += len(part)
        return noise


def _put_exactly(noise: NDArray[Any], place: slice, values: list[Fraction]) -> NDArray[Any]:
    """The array with the values in their place; it holds exact rationals once one is beyond the range of floats."""
    shown = [as_float(value) for value in values]
    if any(isinstance(value, Fraction) for value in shown) and noise.dtype != object:
        noise = noise.astype(object)
    noise[place] = shown
    return noise
