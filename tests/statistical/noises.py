"""The noises under test: each with its neighbours of the wrong size, and with its law written a second time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import HALF, Lattice, Rounded
from noisewright.laws.piecewise import Piecewise, skewed_staircase
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utilities import Expected, Growth
from noisewright.search.design import design
from tests.statistical.exact import Cdf, geometric_cdf, laplace_cdf, single, staircase_cdf, staircase_cell

Make = Callable[[Fraction], Rounded]


@dataclass(frozen=True)
class Noise:
    """A law on a lattice, made for any factor of its scale.

    `exact` is its distribution function written a second time, and `cell` the run of equal points around a point. `top`
    is one such run, from an index to before another; `repeats` says that all are of its length.
    """

    name: str
    make: Make
    exact: Cdf | None = None
    cell: Callable[[int], tuple[int, int]] = single
    top: tuple[int, int] | None = None
    repeats: bool = False

    @property
    def law(self) -> Rounded:
        return self.make(Fraction(1))

    def __str__(self) -> str:
        return self.name


def _laplace(name: str, scale: Fraction, step: Fraction) -> Noise:
    def make(factor: Fraction) -> Rounded:
        return Rounded(Laplace(scale * factor), Lattice.cells(step))

    return Noise(name, make, laplace_cdf(scale, step))


def _discrete_laplace(name: str, scale: Fraction) -> Noise:
    def make(factor: Fraction) -> Rounded:
        return Rounded(DiscreteLaplace(scale * factor).stepped(), Lattice.integers())

    return Noise(name, make, geometric_cdf(scale))


def _staircase(
    name: str, epsilon: Fraction, sensitivity: int, left: Fraction, right: Fraction, lattice: Lattice
) -> Noise:
    def make(factor: Fraction) -> Rounded:
        law = skewed_staircase(
            epsilon=epsilon, sensitivity=sensitivity * factor, left=left * factor, right=right * factor
        )
        return Rounded(law, lattice)

    places = (Fraction(sensitivity), left, right, lattice.step, lattice.edge)
    exact, cell = staircase_cdf(epsilon, *places), staircase_cell(*places)
    top = (int(left / lattice.step + lattice.edge), int(right / lattice.step + lattice.edge))
    return Noise(name, make, exact, cell, top if top[1] - top[0] > 1 else None, right - left == sensitivity)


def _tailored(name: str, *, integer: bool) -> Noise:
    """What the linear programme finds when too high a number costs three times as much as too low a one."""
    utility = Expected(lambda e: 3 * e if e > 0 else -e, growth=Growth(1, 3))
    report = design(Scalar(3 if integer else 1, integer=integer), privacy=PureDP(1), utility=utility)
    found = {candidate.name: candidate.certified.mechanism.noise for candidate in report.candidates}["tailored"]
    law = found.law
    assert isinstance(law, Piecewise)

    def make(factor: Fraction) -> Rounded:
        breaks = tuple(b * factor for b in law.breaks)
        return replace(found, law=replace(law, period=law.period * factor, breaks=breaks))

    return Noise(name, make)


def _uneven(name: str, rate: Fraction) -> Noise:
    """Tails that repeat several cells, not the same on the left as on the right, and fade slowly."""
    breaks = tuple(Fraction(b, 10) for b in (-15, -11, -5, -2, 6, 9, 16))
    levels = tuple(Fraction(v) / rate / 10 for v in (7, 12, 3, 0, 9, 5))

    def make(factor: Fraction) -> Rounded:
        law = Piecewise(
            rate=rate,
            period=factor,
            breaks=tuple(b * factor for b in breaks),
            levels=levels,
            left_cells=2,
            right_cells=2,
        )
        return Rounded(law, Lattice.cells(Fraction(1, 10)))

    return Noise(name, make)


_SHORT, _LONG, _WIDE = (Lattice.cells(Fraction(1, n)) for n in (1000, 20_000_000, 2**40))


@cache
def noises() -> dict[str, Noise]:
    """Every kind of law that can be drawn, on every path through the sampler."""
    third = Fraction(333, 1000)
    made = [
        _laplace("Laplace", Fraction(1), Fraction(1, 1000)),
        _laplace("Laplace, epsilon 0.0001", Fraction(10_000), Fraction(1)),
        _discrete_laplace("discrete Laplace", Fraction(1)),
        _discrete_laplace("discrete Laplace, epsilon 0.0001", Fraction(10_000)),
        _staircase("staircase", Fraction(1), 1, -third, third, _SHORT),
        _staircase("staircase, epsilon 0.0001", Fraction(1, 10_000), 1, -HALF, HALF, Lattice.cells(Fraction(1, 100))),
        _staircase("staircase, long cells", Fraction(10), 1, Fraction(-1, 160), Fraction(1, 160), _LONG),
        _staircase("staircase, cells beyond 32 bits", Fraction(1), 1, -HALF, HALF, _WIDE),
        _staircase("skewed staircase", Fraction(1), 1, Fraction(-9, 10), Fraction(1, 5), _SHORT),
        _staircase("integer staircase", Fraction(1), 3, -HALF, HALF, Lattice.integers()),
        _staircase(
            "integer staircase, epsilon 0.0001", Fraction(1, 10_000), 3, -3 * HALF, 3 * HALF, Lattice.integers()
        ),
        _discrete_laplace("discrete Laplace, scale 1e12", Fraction(10**12)),
        _staircase("staircase, epsilon 0.00001", Fraction(1, 100_000), 1, -HALF, HALF, _SHORT),
        _uneven("uneven tails", Fraction(1, 3)),
        _uneven("uneven tails, slow", Fraction(1, 100_000)),
        _tailored("tailored", integer=False),
        _tailored("integer tailored", integer=True),
    ]
    return {noise.name: noise for noise in made}


NAMES = tuple(noises())
EXACT_NAMES = tuple(name for name, noise in noises().items() if noise.exact is not None)
SLOW_NAMES = tuple(name for name in NAMES if name.endswith(("0.0001", "0.00001", "1e12", "slow")))
"""Laws whose tails fade so slowly that cell and periods are drawn apart."""
