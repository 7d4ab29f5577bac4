"""Known values for one number under pure differential privacy, each with its source and relative tolerance.

They are the entries of the reference collection that `test_reference.py` compares them with where it
is at hand; the tests do not need it.
"""

from __future__ import annotations

from typing import NamedTuple


class Fact(NamedTuple):
    """A problem as the reference names it, and its value."""

    problem: str
    epsilon: str
    sensitivity: str
    within: str | None
    value: float
    tolerance: float


ABSOLUTE = "pureDP additive noise 1-D, E|X|"
SQUARED = "pureDP additive noise 1-D, E[X^2]"
LAPLACE_ABSOLUTE = "Laplace l1"
LAPLACE_SQUARED = "Laplace l2"
USEFUL = "pureDP additive noise 1-D, usefulness P(|X|<=gamma)"

FACTS = [
    # Geng and Viswanath, the staircase mechanism: closed form e^(eps/2) / (e^eps - 1); a linear programme agrees.
    Fact(ABSOLUTE, "0.5", "1", None, 1.979317581651, 1e-09),
    Fact(ABSOLUTE, "1", "1", None, 0.9595173756674719, 1e-09),
    Fact(ABSOLUTE, "3", "1", None, 0.23482122029761232, 1e-09),
    Fact(ABSOLUTE, "10", "1", None, 0.006738252915294543, 1e-09),
    # The same paper: closed form (2^(-2/3) b^(2/3) (1+b)^(2/3) + b) / (1-b)^2; a linear programme agrees.
    Fact(SQUARED, "0.5", "1", None, 7.917017215366335, 1e-09),
    Fact(SQUARED, "1", "1", None, 1.918103531235525, 1e-09),
    Fact(SQUARED, "3", "1", None, 0.1526736452092879, 1e-09),
    Fact(SQUARED, "10", "1", None, 0.0008472101769788572, 1e-09),
    # Laplace noise of scale Delta / eps: closed form Delta / eps.
    Fact(LAPLACE_ABSOLUTE, "0.5", "1", None, 2.0, 1e-12),
    Fact(LAPLACE_ABSOLUTE, "1", "1", None, 1.0, 1e-12),
    Fact(LAPLACE_ABSOLUTE, "3", "1", None, 0.3333333333333333, 1e-12),
    Fact(LAPLACE_ABSOLUTE, "10", "1", None, 0.1, 1e-12),
    # Laplace noise: closed form 2 (Delta / eps)^2.
    Fact(LAPLACE_SQUARED, "0.5", "1", None, 8.0, 1e-12),
    Fact(LAPLACE_SQUARED, "1", "1", None, 2.0, 1e-12),
    Fact(LAPLACE_SQUARED, "3", "1", None, 0.2222222222222222, 1e-12),
    Fact(LAPLACE_SQUARED, "10", "1", None, 0.020000000000000004, 1e-12),
    # The staircase tuned to the limit; a linear programme agrees to 7e-8.
    Fact(USEFUL, "0.5", "0.5", "0.1", 0.11484391592572285, 1e-07),
    Fact(USEFUL, "1", "0.5", "0.1", 0.25576209398961214, 1e-07),
    Fact(USEFUL, "3", "0.5", "0.1", 0.7924065377514423, 1e-07),
    Fact(USEFUL, "10", "0.5", "0.1", 0.9997730415667753, 1e-07),
    Fact(USEFUL, "0.5", "0.5", "0.4", 0.3416621916606648, 1e-07),
    Fact(USEFUL, "1", "0.5", "0.4", 0.5788809579955131, 1e-07),
    Fact(USEFUL, "3", "0.5", "0.4", 0.9385312517332806, 1e-07),
    Fact(USEFUL, "10", "0.5", "0.4", 0.9999432507319002, 1e-07),
    Fact(USEFUL, "0.5", "0.5", "0.6", 0.46312569637777745, 1e-07),
    Fact(USEFUL, "1", "0.5", "0.6", 0.7262101750382941, 1e-07),
    Fact(USEFUL, "3", "0.5", "0.6", 0.9896645301023095, 1e-07),
    Fact(USEFUL, "10", "0.5", "0.6", 0.999999989696103, 1e-07),
    Fact(USEFUL, "0.5", "0.5", "0.9", 0.6006979347941739, 1e-07),
    Fact(USEFUL, "1", "0.5", "0.9", 0.8450789621607362, 1e-07),
    Fact(USEFUL, "3", "0.5", "0.9", 0.9969396512275578, 1e-07),
    Fact(USEFUL, "10", "0.5", "0.9", 0.9999999974235873, 1e-07),
    Fact(USEFUL, "0.5", "1.0", "0.1", 0.06092010995583852, 1e-07),
    Fact(USEFUL, "1", "1.0", "0.1", 0.14663257409341546, 1e-07),
    Fact(USEFUL, "3", "1.0", "0.1", 0.6561865085589061, 1e-07),
    Fact(USEFUL, "10", "1.0", "0.1", 0.9995461861304354, 1e-07),
    Fact(USEFUL, "0.5", "1.0", "0.4", 0.206026896294915, 1e-07),
    Fact(USEFUL, "1", "1.0", "0.4", 0.4073416377413408, 1e-07),
    Fact(USEFUL, "3", "1.0", "0.4", 0.8841817088499455, 1e-07),
    Fact(USEFUL, "10", "1.0", "0.4", 0.9998865079043936, 1e-07),
    Fact(USEFUL, "0.5", "1.0", "0.6", 0.28017821991328806, 1e-07),
    Fact(USEFUL, "1", "1.0", "0.6", 0.5076242167150702, 1e-07),
    Fact(USEFUL, "3", "1.0", "0.6", 0.9196872438413484, 1e-07),
    Fact(USEFUL, "10", "1.0", "0.6", 0.9999243357404972, 1e-07),
    Fact(USEFUL, "0.5", "1.0", "0.9", 0.36862673820813374, 1e-07),
    Fact(USEFUL, "1", "1.0", "0.9", 0.6072969944994943, 1e-07),
    Fact(USEFUL, "3", "1.0", "0.9", 0.944985370383037, 1e-07),
    Fact(USEFUL, "10", "1.0", "0.9", 0.9999495558880593, 1e-07),
]
