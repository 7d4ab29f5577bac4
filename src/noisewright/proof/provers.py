"""Which rule proves which requirement for which mechanism."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from noisewright.mechanisms.additive import Additive
from noisewright.problem.privacy import ApproxDP, ProbabilisticDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.proof.approximate import additive_delta
from noisewright.proof.probabilistic import probabilistic_delta
from noisewright.proof.pure import pure_bound
from noisewright.proof.renyi import concentrated_rho, renyi_divergence

Prover = TypeVar("Prover", bound=Callable[[Any, Any], tuple[Fraction, str]])

PROVERS: dict[tuple[type, type], Callable[[Any, Any], tuple[Fraction, str]]] = {
    # Rule: rounding the answer to cells of a step that divides the sensitivity keeps the sensitivity; rounding the
    # noise is post-processing. So what holds for the law over all shifts up to the sensitivity holds for the release:
    # a pure bound, a delta, a divergence. Only probabilistic privacy, which rounding can harm, is that of the lattice.
    # [theory#what-a-certificate-says]
    (Additive, PureDP): lambda made, wanted: pure_bound(made.law, made.query.sensitivity),
    (Additive, ApproxDP): lambda made, wanted: additive_delta(made.law, wanted, made.query.sensitivity),
    (Additive, ProbabilisticDP): lambda made, wanted: probabilistic_delta(made, wanted.epsilon, made.query.sensitivity),
    (Additive, RenyiDP): lambda made, wanted: renyi_divergence(made.law, wanted.alpha, made.query.sensitivity),
    (Additive, ZeroConcentratedDP): lambda made, wanted: concentrated_rho(made.law, made.query.sensitivity),
}
"""A rule returns a bound of the requirement's last parameter and its own name, or refuses; `certify` compares the
bound with what was claimed. Rules for other mechanisms enter themselves with `proves`."""


def proves(requirement: type, *mechanisms: type) -> Callable[[Prover], Prover]:
    """Enter the rule below as the one that proves the requirement for these mechanisms."""

    def enter(rule: Prover) -> Prover:
        PROVERS.update({(mechanism, requirement): rule for mechanism in mechanisms})
        return rule

    return enter


FIRST_RULES = {
    "levels-within-sensitivity": "levels-within-reach",
    "rows-within-sensitivity": "rows-within-reach",
    "connect-the-dots": "dots-in-whole-numbers",
}
"""Parts of the names of rules that were called otherwise at first, in files and ledgers, and what they were called."""


def current_rule(name: str) -> str:
    """The name of a rule as it is called now, in a text that may call it as it was called at first."""
    for now, first in FIRST_RULES.items():
        name = name.replace(first, now)
    return name


def first_rule(name: str) -> str:
    """The name of a rule as it was called at first, for digests that do not change with it."""
    for now, first in FIRST_RULES.items():
        name = name.replace(now, first)
    return name
