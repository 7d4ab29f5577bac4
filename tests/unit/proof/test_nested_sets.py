"""Every rule for several numbers, over lopsided nested sets with unlike noise, against every move one by one.

A claim a hair below what some move truly loses is refused whichever rule is tried, and a bound is no looser than is
said here where its rule is tight: never in a ball for noise that has no rule of its own there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest

import noisewright as nw
from noisewright.proof.profiles.certified import profile_of
from noisewright.proof.vectors import most_moving
from tests import nested_sets
from tests.nested_cases import WHOLE, norm_shaped, random_case, random_choices, random_real, random_single
from tests.nested_sets import Case

F = Fraction
BELOW = 1 - 1e-6
MANY, _BITS = 1_500, 64
PURE = ["laplace", "logistic", "secant", "staircase"]
GROWING = ["laplace", "gaussian", "logistic"]
CURVED = [*GROWING, "steep", "flat", "secant", "truncated", "staircase"]
TIGHT = {"Laplace", "DiscreteLaplace"}


def rational(value: float) -> Fraction:
    """With few digits, so that a claim is as it would be typed."""
    return F(f"{value:.9g}")


def bound(case: Case, claim: Any, *, exact: bool) -> float:
    """What is proven, infinity where nothing is."""
    try:
        return float(nw.certify(case.mechanism(exact=exact), claim).bound)
    except nw.errors.UncertifiedError as reason:
        if "no rule" in str(reason) or "delta = 1 was claimed" in str(reason):
            return math.inf
        raise


def refused(case: Case, claim: Any) -> bool:
    return refused_of(case.mechanism(), claim)


def refused_of(mechanism: Any, claim: Any) -> bool:
    try:
        nw.certify(mechanism, claim)
    except nw.errors.UncertifiedError:
        return True
    return False


def simple(case: Case) -> bool:
    """Noise and sets whose rules give the truth."""
    return {type(part.law).__name__ for part in case.parts} <= TIGHT and not case.has_ball


def summed(case: Case, cost: Callable[[Any, int], float]) -> float:
    """The dearest move, where costs add up."""
    return max(math.fsum(cost(p, k) for p, k in zip(case.parts, move, strict=True) if k) for move in case.moves)


def pure(chance: Random) -> None:
    case = random_case(chance, PURE, ["discrete laplace"])
    truth = summed(case, nested_sets.largest)
    assert truth * BELOW <= (found := bound(case, nw.PureDP(32), exact=chance.random() < 0.5))
    assert refused(case, nw.PureDP(rational(truth * BELOW)))
    loose = 1 + 1e-6 if simple(case) else 4.0 if case.has_ball else 1.35
    assert found <= truth * loose, f"{found / truth:.4g} times the truth"


def renyi(chance: Random) -> None:
    case, alpha = random_case(chance, GROWING, list(WHOLE)), chance.choice([F(3, 2), 2, 5])
    truth = summed(case, lambda part, k: nested_sets.divergence(part, k, float(alpha)))
    assert truth * BELOW <= (found := bound(case, nw.RenyiDP(alpha, 1000), exact=chance.random() < 0.5))
    assert refused(case, nw.RenyiDP(alpha, rational(truth * BELOW)))
    assert found <= truth * _loose(case, 1.25), f"{found / truth:.4g} times the truth"


def concentrated(chance: Random) -> None:
    case = random_case(chance, GROWING, list(WHOLE))

    def at(alpha: float) -> float:
        return summed(case, lambda part, k: nested_sets.divergence(part, k, alpha)) / alpha

    truth = max(map(at, (1.001, 1.5, 2, 4, 8)))
    assert truth * BELOW <= (found := bound(case, nw.ZeroConcentratedDP(1000), exact=chance.random() < 0.5))
    assert refused(case, nw.ZeroConcentratedDP(rational(truth * BELOW)))
    assert found <= truth * _loose(case, 4.5), f"{found / truth:.4g} times the truth"


def _loose(case: Case, other: float) -> float:
    """How far a sum of divergences may be above the truth; that of Gaussian noise by its rounding alone."""
    gaussian = {type(part.law).__name__ for part in case.parts} <= {"Gaussian", "DiscreteGaussian"}
    return 12.0 if case.has_ball else 1.01 + _coarsest(case) ** 2 / 8 if gaussian else other


def _coarsest(case: Case) -> float:
    """The longest step in units of its noise: rules are about the noise before it is put on the lattice."""
    return max(float(part.step) * part.slope for part in case.parts)


def _an_epsilon(case: Case, chance: Random, low: float, high: float) -> tuple[Fraction, float]:
    """Of about the size of the losses of the widest move, and a width of cells for them."""
    squared = max(
        math.fsum((k * float(p.step) * p.slope) ** 2 for p, k in zip(case.parts, move, strict=True))
        for move in case.moves
    )
    epsilon = F(max(1, round(100 * (math.sqrt(squared) * chance.uniform(low, high)))), 100)
    return epsilon, min(float(epsilon), math.sqrt(squared)) / 500


def approximate(chance: Random) -> None:
    case = random_case(chance, CURVED, list(WHOLE))
    _approximate(case, *_an_epsilon(case, chance, 0.1, 1.8), exact=chance.random() < 0.5)


def choices(chance: Random) -> None:
    """Where epsilon is a little more than all losses that end can add up to, unlike choices are the worst."""
    case = random_choices(chance)
    ends = summed(case, lambda p, k: 0.0 if hasattr(p.law, "std") else nested_sets.largest(p, k))
    epsilon = rational(round(ends * chance.uniform(0.95, 1.25), 3))
    _approximate(case, epsilon, float(epsilon) / 500, exact=chance.random() < 0.5)


def _approximate(case: Case, epsilon: Fraction, cell: float, *, exact: bool) -> None:
    truth = max(nested_sets.delta(case.parts, move, float(epsilon), cell) for move in case.moves)
    found = bound(case, nw.ApproxDP(epsilon, 1 - F(1, 10**9)), exact=exact)
    assert truth * BELOW - 1e-13 <= found, f"{found:.4g} for {truth:.4g}"
    if truth > 1e-9:
        assert refused(case, nw.ApproxDP(epsilon, rational(truth * BELOW)))
    # Noise in steps counts as the truth told or turned round, and some noise has no rule on its own.
    loose = case.has_ball or found == math.inf or any(isinstance(part.law, nw.laws.Piecewise) for part in case.parts)
    assert loose or found <= (1.25 + _coarsest(case) ** 2 / 4) * truth + 2e-3, f"{found:.4g} for {truth:.4g}"


def single(chance: Random) -> None:
    """Where one number moves at a time, the worst of them counts, and nothing beyond it."""
    case = random_single(chance)
    assert case.most == 1
    epsilon, cell = _an_epsilon(case, chance, 0.1, 1.8)
    _approximate(case, epsilon, cell, exact=chance.random() < 0.5)
    _probabilistic(case, epsilon, cell, exact=chance.random() < 0.5)


def profile(chance: Random) -> None:
    """What the accountant adds up: the whole curve, at epsilons that no certificate names."""
    case = random_case(chance, ["laplace", "gaussian", "logistic", "secant"], list(WHOLE))
    epsilon, cell = _an_epsilon(case, chance, 0.1, 1.8)
    made = case.mechanism()
    try:
        certificate = nw.certify(made, nw.ApproxDP(epsilon, 1 - F(1, 10**9)))
    except nw.errors.UncertifiedError:
        return
    asked = [epsilon * F(n, 4) for n in (1, 4, 6)]
    for at, found in zip(asked, profile_of(made, certificate).deltas(asked, _BITS), strict=True):
        truth = max(nested_sets.delta(case.parts, move, float(at), cell) for move in case.moves)
        assert truth * BELOW - 1e-13 <= found / 2**_BITS, f"{found / 2**_BITS:.4g} for {truth:.4g}"
        assert case.has_ball or found / 2**_BITS <= (1.25 + _coarsest(case) ** 2 / 4) * truth + 2e-3


def blocks(chance: Random) -> None:
    """Noise of norms of blocks of real numbers, over one set: the dearest move, and for one block no more."""
    case = random_real(chance)
    made = norm_shaped(case, chance)
    truth = max(
        math.fsum(float(block.rate) * _length([move[i] for i in block.places], block.norm) for block in made.blocks)
        for move in case.moves
    )
    found = float(nw.certify(made, nw.PureDP(32)).bound)
    assert truth * BELOW <= found
    tight = not case.has_ball and (len(made.blocks) == 1 or isinstance(case.chosen, nw.Points | nw.Disjoint))
    assert found <= truth * (1 + 1e-6 if tight else 8), f"{found / truth:.4g} times the truth"
    assert refused_of(made, nw.PureDP(rational(truth * BELOW)))


def _length(steps: list[int], norm: str) -> float:
    if norm == "max":
        return max(steps)
    order = float(F(norm[1:]))
    return float(math.fsum(k**order for k in steps)) ** (1 / order)


def probabilistic(chance: Random) -> None:
    case = random_case(chance, ["gaussian", "steep", "flat", "logistic"], ["discrete gaussian"])
    _probabilistic(case, *_an_epsilon(case, chance, 1.0, 5.0), exact=chance.random() < 0.5)


def _probabilistic(case: Case, epsilon: Fraction, cell: float, *, exact: bool) -> None:
    truth = max(nested_sets.chance_above(case.parts, move, float(epsilon), cell) for move in case.moves)
    found = bound(case, nw.ProbabilisticDP(epsilon, 1 - F(1, 10**9)), exact=exact)
    assert truth * BELOW - 1e-13 <= found, f"{found:.4g} for {truth:.4g}"
    if truth > 1e-9:
        assert refused(case, nw.ProbabilisticDP(epsilon, rational(truth * BELOW)))
    if case.most == 1 and not case.has_ball:
        assert found <= 1.25 * truth + 1e-6 or found == math.inf, f"{found:.4g} for {truth:.4g}"


def moving(chance: Random) -> None:
    """As many numbers may move as any move changes; in sets that are no ball exactly as many."""
    case = random_case(chance, ["laplace"], ["discrete laplace"])
    counted = most_moving(case.chosen, tuple(part.whole for part in case.parts))
    assert counted == case.most or (case.has_ball and counted > case.most), (case.chosen, counted, case.most)


CASES: dict[Callable[[Random], None], int] = {
    pure: 300,
    renyi: 150,
    concentrated: 300,
    approximate: 120,
    choices: 40,
    single: 80,
    probabilistic: 200,
    profile: 60,
    blocks: 400,
    moving: 2000,
}
EVERY_NOTION = pytest.mark.parametrize("notion", CASES, ids=lambda notion: notion.__name__)


def check(notion: Callable[[Random], None], seed: int) -> None:
    try:
        notion(Random(seed))
    except AssertionError as wrong:
        raise AssertionError(f"seed {seed}: {wrong}") from wrong


@EVERY_NOTION
def test_no_rule_proves_less_than_the_dearest_move_loses_nor_much_more(notion):
    for seed in range(CASES[notion]):
        check(notion, seed)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@EVERY_NOTION
def test_nor_does_it_for_thousands_of_sets(notion):
    for seed in range(10**6, 10**6 + MANY):
        check(notion, seed)
