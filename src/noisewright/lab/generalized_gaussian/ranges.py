"""Generalized Gaussian noise that stays in a range, as the generalized-Gaussian paper has it, with proven scales."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from noisewright.lab.generalized_gaussian.sensitivities import minkowski_utility_sensitivity
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.numerics.special import power_from_above
from noisewright.problem.errors import InvalidPrivacyError, InvalidQueryError
from noisewright.problem.numbers import Number, parameter
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.families.shapes import fitting_cells, truncated

_CELLS = 400


def range_limited(query: Bounded, privacy: PureDP, *, power: Number = 2, ends: str = "cut") -> Certified:
    """Noise cut at the bounds, or gathered there ("inflated"), with the smallest scale that is proven."""
    return make_certified(truncated(query, privacy.epsilon, parameter(power, "power"), ends), privacy)


def per_coordinate(
    queries: Sequence[Bounded],
    privacy: PureDP,
    *,
    power: Number = 2,
    ends: str = "cut",
    shares: Sequence[Number] | None = None,
) -> list[Certified]:
    """One mechanism per coordinate; their epsilons add up to at most the requirement's.

    `shares` are the parts of epsilon, equal unless given. Guarantees: if one person changes every
    coordinate at once, all releases together meet the requirement.
    """
    if not queries:
        raise InvalidQueryError("give at least one coordinate.")
    parts = [Fraction(1)] * len(queries) if shares is None else [parameter(s, "share") for s in shares]
    if len(parts) != len(queries) or any(s <= 0 for s in parts):
        raise InvalidPrivacyError("give one positive share of epsilon for each coordinate.")
    total = sum(parts, Fraction(0))
    return [
        range_limited(query, PureDP(privacy.epsilon * share / total), power=power, ends=ends)
        for query, share in zip(queries, parts, strict=True)
    ]


def exponential_on_range(query: Bounded, privacy: PureDP, *, power: Number = 2) -> Certified:
    """The exponential mechanism with utility -|c - s|^power over the whole range.

    Guarantees: the certificate's bound is the true epsilon; it is at most the nominal one, usually far less.
    """
    exponent = parameter(power, "power")
    reach = minkowski_utility_sensitivity([query.inputs], [query.sensitivity], exponent)
    scale = power_from_above(2 * reach / privacy.epsilon, 1 / exponent)
    return make_certified(Truncated(query, exponent, scale, fitting_cells(query, _CELLS), contracted=True), privacy)
