"""Private counts and sums over cells: all cells of a question designed and certified as one vector."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from noisewright.laws.laplace import Laplace
from noisewright.laws.two_fold import Atoms, TwoFold
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.per_coordinate import PerCoordinate
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar, Vector
from noisewright.problem.sensitivity import Disjoint, L1Ball, Sparse
from noisewright.sample.certified import Certified, make_certified
from noisewright.search.design import design
from noisewright.search.families.vector_parts import ball_laplace
from noisewright.search.report.report import Report

NOISES = ("best", "tailored", "staircase", "two-fold", "Laplace")
_BUDGET_DIGITS = 10**6


def split_budget(epsilon: Fraction, weights: Sequence[float], *, optimised: bool) -> list[Fraction]:
    """Shares of epsilon, rounded down to millionths of it, that never sum to more than it.

    Rule: a query of weight w and share e costs w / e^2, the growth of a squared error; the least total
    under a fixed sum has shares in proportion to the cube root of w (or equal ones, if not optimised).
    [theory#sharing-a-budget]
    """
    roots = [w ** (1 / 3) if optimised else 1.0 for w in weights]
    total = sum(roots)
    return [epsilon * Fraction(int(_BUDGET_DIGITS * root / total), _BUDGET_DIGITS) for root in roots]


@lru_cache(maxsize=512)
def noise_for_cells(cells: int, rows: int, each: Fraction, epsilon: Fraction, noise: str, utility: Any) -> Certified:
    """A certified mechanism for sums over `cells` cells, where each row is in one cell and moves it by at most `each`.

    Rule: a person with at most `rows` rows moves at most that many cells, each by at most rows * each, and the
    absolute changes of all cells add up to at most rows * each. Laplace noise is proven for the second
    (an l1 ball): its scale is that of one number. Noise of any other shape can charge its whole price for
    the smallest move, so it is proven for the first (a sparse set), every moved cell with an equal part of epsilon.
    With one row, or one cell, the sets agree. "best" is the better of the two for `utility`; two-fold noise of a
    single rate is Laplace noise. [theory#tables-and-contribution-bounds]
    Guarantees: the certificate is for adding or removing all rows of one person.
    """
    if noise not in NOISES:
        raise InvalidInputError(f"noise is {noise!r}; give one of {', '.join(NOISES)}.", noise=noise)
    together, reach = min(rows, cells), rows * each
    part = _part(reach, epsilon / together, noise, utility)
    sparse = Disjoint([reach] * cells) if together == 1 else Sparse(together, [reach] * cells)
    found = [PerCoordinate(Vector(sparse), (part,) * cells)]
    if together > 1 and (noise == "best" or _is_laplace(part)):
        found.append(ball_laplace(Vector(L1Ball(reach, cells)), epsilon))
    return make_certified(min(found, key=lambda mechanism: _loss(mechanism, utility)), PureDP(epsilon))


def _is_laplace(part: Additive) -> bool:
    law = part.law
    single = isinstance(law, TwoFold) and isinstance(law.fold, Atoms) and len(law.fold.rates) == 1
    return single or isinstance(law, Laplace)


def _loss(mechanism: PerCoordinate, utility: Any) -> float:
    """How bad one cell is; all have the same noise."""
    part = mechanism.parts[0]
    assert part is not None
    value = float(part.expected(utility, FLOATS))
    return -value if utility.larger_is_better else value


def _part(sensitivity: Fraction, epsilon: Fraction, noise: str, utility: Any) -> Additive:
    """Noise of the wanted kind for one number; "best" is whatever `design` ranks first."""
    report = _designed(sensitivity, epsilon, utility)
    wanted = "two-fold optimum" if noise == "two-fold" else noise
    for candidate in report.candidates:
        if noise == "best" or candidate.name == wanted:
            part: Additive = candidate.certified.mechanism
            return part
    raise InvalidInputError(
        f'there is no {noise} noise for this utility; give noise = "best" or another utility.', noise=noise
    )


@lru_cache(maxsize=512)
def _designed(sensitivity: Fraction, epsilon: Fraction, utility: Any) -> Report:
    return design(Scalar(sensitivity), privacy=PureDP(epsilon), utility=utility)
