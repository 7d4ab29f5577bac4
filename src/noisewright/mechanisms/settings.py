"""The composite paper's own parameters: activation of height k and width m on a base of height y, on [-L, L].

L follows from the whole area being one. All six functions A1B1 to A3B2, Equations (26) to (31), are settings; each is
a composite mechanism of which the verifier knows nothing but its parts.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

from noisewright.laws.bumps import FLAT, Part, Plateau, Quartic, Sine, Tent
from noisewright.numerics.balls import ball, lower, pi, precision
from noisewright.problem.errors import InvalidMechanismError
from noisewright.problem.fields import Rational, Text, rational, text
from noisewright.problem.numbers import show
from noisewright.problem.records import Record, record

ACTIVATIONS: dict[str, Callable[[Fraction], Part]] = {"A1": Plateau, "A2": Sine, "A3": Tent}
"""The paper's activations by name, made from half their width."""

FUNCTIONS = tuple(f"{activation}{base}" for base in ("B1", "B2") for activation in ACTIVATIONS)
"""The paper's six perturbation functions by name."""

_BITS = 80


@record(error=InvalidMechanismError)
class CompositeSetting(Record):
    """One of the six functions with its height k, width m and base height y."""

    function: Text = text(among=FUNCTIONS)
    k: Rational = rational(above=0)
    m: Rational = rational(above=0)
    y: Rational = rational(above=0)

    def __str__(self) -> str:
        return f"{self.function} with k = {show(self.k)}, m = {show(self.m)}, y = {show(self.y)}"

    def edge(self, epsilon: Fraction) -> Fraction:
        """The height of the base at the ends: y for B1, t = (y + k) / e^epsilon for B2, rounded up.

        Rule: t, not y, is the infimum with base B2, so all of epsilon is spent at the ends.
        [ZhangEtAl24, theory#answers-in-bounds]
        """
        if self.function.endswith("B1"):
            return self.y
        with precision():
            growth = lower(ball(epsilon).exp())
        t = (self.y + self.k) / Fraction(floor(growth * 2**_BITS), 2**_BITS)
        if t >= self.y:
            raise InvalidMechanismError(
                f"{self}: at epsilon = {show(epsilon)} its base would be at least as high at the ends as in the middle;"
                " lower k, or take base B1.",
            )
        return t

    @property
    def area(self) -> Fraction:
        """S1, the activation's share of the area; just below it where it is irrational."""
        with precision():
            least = Fraction(floor(lower(2 / pi()) * 2**_BITS), 2**_BITS)
        return {"A1": Fraction(1), "A2": least, "A3": Fraction(1, 2)}[self.function[:2]] * self.k * self.m

    def length(self, epsilon: Fraction) -> Fraction:
        """L, from S1 + S2 = 1."""
        if self.area >= 1:
            raise InvalidMechanismError(f"{self}: the activation has all the area; lower k or m.")
        return (1 - self.area) * 5 / (2 * (4 * self.y + self.edge(epsilon)))

    def parts(self, epsilon: Fraction) -> tuple[Part, Part, Fraction]:
        """Activation and base on [-1, 1], and the activation's share of the mass."""
        half = self.m / (2 * self.length(epsilon))
        if half >= 1:
            raise InvalidMechanismError(f"{self}: the activation is as wide as the base; lower m or y.")
        base = FLAT if self.function.endswith("B1") else Quartic(self.edge(epsilon) / self.y)
        return ACTIVATIONS[self.function[:2]](half), base, self.area
