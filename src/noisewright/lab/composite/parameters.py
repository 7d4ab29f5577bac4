"""The composite paper's own parameters: height k, width m and base height y on [-L, L].

Variances here are the correct ones (the printed tables misprint several); the paper's two search
algorithms are kept by name, to compare with the exact optimum of `shapes.tuned_half`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from noisewright.lab.composite.errors import COMPOSITES, composite_of
from noisewright.problem.queries import Bounded
from noisewright.proof.bounded import largest_bias

_AREAS = {"A1": 1.0, "A2": 2 / math.pi, "A3": 0.5}
_SECOND = {"A1": 1 / 12, "A2": 0.25 - 2 / math.pi**2, "A3": 1 / 24}


@dataclass(frozen=True, slots=True)
class Setting:
    """One perturbation function: activation A1-A3 of height k and width m, base B1 or B2 of height y."""

    activation: str
    base: str
    k: float
    m: float
    y: float
    epsilon: float

    @property
    def t(self) -> float:
        """The base at the ends of [-L, L]: y for B1, (y + k) / e^epsilon for B2."""
        return self.y if self.base == "B1" else (self.y + self.k) / math.exp(self.epsilon)

    @property
    def activation_area(self) -> float:
        """S1."""
        return _AREAS[self.activation] * self.k * self.m

    @property
    def length(self) -> float:
        """L, from the whole area being one."""
        return (1 - self.activation_area) * 5 / (2 * (4 * self.y + self.t))

    @property
    def widest(self) -> float:
        """The largest mapped input, C_p max."""
        return self.activation_area * (2 * self.length - self.m) / 2

    def variance(self, mapped: float = 0.0) -> float:
        """Variance on [-L, L] at a mapped input C_p."""
        area, length = self.activation_area, self.length
        centre = mapped / area
        base = 2 * length**3 * (self.y / 3 - (self.y - self.t) / 7)
        return base + area * (_SECOND[self.activation] * self.m**2 + centre**2) - mapped**2

    def released_variance(self, mapped: float = 0.0) -> float:
        """The same in units of the sensitivity: divided by C^2 = (2 C_p max)^2."""
        return self.variance(mapped) / (2 * self.widest) ** 2

    @property
    def h1(self) -> float:
        """H1: area of the base over area of the activation."""
        return (1 - self.activation_area) / self.activation_area

    def h2(self, mapped: float = 0.0, near: float = 0.25, far: float = 0.75) -> float:
        """H2: probability near the input over probability far from it, towards the farther end."""
        sign = -1.0 if mapped >= 0 else 1.0
        reach = self.length + abs(mapped)
        return self._area(mapped, mapped + sign * near * reach) / self._area(mapped, mapped + sign * far * reach)

    def allowed(self) -> bool:
        """The paper's constraints: an area below one, k + y <= 1, the privacy ratio, and room for the activation."""
        if min(self.k, self.m, self.y) <= 0 or self.activation_area >= 1 or self.k + self.y > 1:
            return False
        ratio = self.k <= self.y * math.expm1(self.epsilon) if self.base == "B1" else self.t < self.y
        return ratio and 2 * self.length > self.m

    def _area(self, start: float, end: float) -> float:
        low, high = sorted((start, end))
        length = self.length
        bend = (self.y - self.t) / (5 * length**4) * (high**5 - low**5)
        return self.y * (high - low) - bend + self._bump(high) - self._bump(low)

    def _bump(self, x: float) -> float:
        """Area of the activation below x, for an input mapped to 0."""
        u = min(1.0, max(0.0, x / self.m + 0.5))
        if self.activation == "A1":
            part = u
        elif self.activation == "A2":
            part = (1 - math.cos(math.pi * u)) / 2
        else:
            part = 2 * u * u if u <= 0.5 else 1 - 2 * (1 - u) ** 2
        return self.activation_area * part


def enumeration(
    activation: str, base: str, epsilon: float, steps: tuple[float, ...] = (0.1, 0.01, 0.001)
) -> Setting | None:
    """Algorithm 1: enumerate k, m, y with ever finer steps around the best so far. None where nothing is allowed."""
    best: Setting | None = None
    coarse: float | None = None
    for step in steps:
        around = best
        for k, m, y in _trials(around, step, coarse):
            trial = Setting(activation, base, k, m, y, epsilon)
            if trial.allowed() and (best is None or trial.released_variance() < best.released_variance()):
                best = trial
        coarse = step
    return best


def target_search(activation: str, base: str, epsilon: float, target: float, step: float = 0.05) -> Setting | None:
    """Algorithm 2: one step size, the first setting whose variance is below the target. None where there is none."""
    for k, m, y in _trials(None, step, None):
        trial = Setting(activation, base, k, m, y, epsilon)
        if trial.allowed() and trial.released_variance() <= target:
            return trial
    return None


def _trials(around: Setting | None, step: float, coarse: float | None) -> Iterator[tuple[float, float, float]]:
    """Values of (k, m, y) in steps: all of them, or those within one coarser step of a setting."""

    def values(centre: float | None, most: float) -> list[float]:
        if centre is None or coarse is None:
            return [step * i for i in range(1, round(most / step) + 1)]
        span = round(coarse / step)
        return [centre + step * i for i in range(-span, span + 1) if centre + step * i > 0]

    for y in values(None if around is None else around.y, 1.0):
        for k in values(None if around is None else around.k, 1.0):
            for m in values(None if around is None else around.m, 2.0):
                yield k, m, y


def default_core(query: Bounded, epsilon: Fraction) -> Fraction:
    """The core of the published default: b = (m + 3) / (m + 4) of its largest allowed value."""
    move = 2 * float(query.sensitivity / query.width)
    shells = max(1, math.ceil(query.width / query.sensitivity)) - 1
    y = math.exp(float(epsilon))
    sides = move * y * (y**shells - 1) / (y - 1)
    rest = (1 + shells * move) * y ** (shells + 1)
    largest = float(epsilon) / math.log((sides + math.sqrt(sides**2 + 4 * rest)) / 2)
    b = (shells + 3) / (shells + 4) * largest
    core = math.exp(float(epsilon) / b) - sides
    return Fraction(core / (y ** (shells + 1) * (1 + shells * move) + core))


# Tables 1 to 4 of the composite paper: formulas, rates, bias.


TABLE_2 = {0.2: 31.714, 0.3: 13.162, 0.4: 7.218, 0.5: 4.225, 1.0: 0.921}
"""What Table 2 prints as the variance of A1B1."""

POINT = (0.4, 0.7, 0.3, 1.0, 0.05)
"""Where the formulas are compared: k, m, y, epsilon, C_p."""


def printed_a1b1(k: float, m: float, y: float, length: float, mapped: float) -> float:
    """The variance of A1B1 as Table 1 prints it, with L squared where its cube belongs."""
    a = (2 * mapped - k * m * m) / (2 * k * m)
    return (2 * length**2 * y + k * m**3 + 3 * a * a * k * m) / 3 + a * k * m * m - mapped**2


def formula_table() -> list[list[object]]:
    """Tables 1 and 4: the corrected variance of each function at one point, and its rates."""
    k, m, y, epsilon, mapped = POINT
    rows: list[list[object]] = [
        ["function", "k", "m", "y", "t", "L", "largest C_p", "variance at C_p = 0.05", "H1", "H2"]
    ]
    for name in COMPOSITES:
        s = Setting(name[:2], name[2:], k, m, y, epsilon)
        rows.append([name, k, m, y, s.t, s.length, s.widest, s.variance(mapped), s.h1, s.h2(mapped)])
    return rows


def rate_table() -> list[list[object]]:
    """Table 2: H1, H2 and the variance at the paper's own optimum (Algorithm 1), beside what it prints for A1B1."""
    rows: list[list[object]] = [["epsilon", "function", "k", "m", "y", "H1", "H2", "variance", "printed (A1B1)"]]
    for epsilon, printed in TABLE_2.items():
        for name in COMPOSITES:
            s = enumeration(name[:2], name[2:], epsilon)
            if s is None:
                rows.append([epsilon, name, *["no setting allowed"] * 6, ""])
                continue
            shown = printed if name == "A1B1" else ""
            rows.append([epsilon, name, s.k, s.m, s.y, s.h1, s.h2(), s.released_variance(), shown])
    return rows


def bias_table(epsilons: tuple[Fraction, ...]) -> list[list[object]]:
    """Table 3: the largest bias over the whole input range, proven and not simulated."""
    rows: list[list[object]] = [["function", *(f"epsilon {float(e):g}" for e in epsilons)]]
    for name in COMPOSITES:
        rows.append([name, *(float(largest_bias(composite_of(name, e).mechanism)) for e in epsilons)])
    return rows
