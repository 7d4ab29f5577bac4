"""Tables 1 to 4 of the composite paper: formulas, rates, bias."""

from __future__ import annotations

from fractions import Fraction

from noisewright.lab.composite_errors import COMPOSITES, composite_of
from noisewright.lab.composite_paper import Setting, enumeration
from noisewright.proof.bounded import largest_bias

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
