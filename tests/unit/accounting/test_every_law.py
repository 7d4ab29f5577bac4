"""Every saved mechanism for one number, twice and three times, against plain sums over all that can be released."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.accounting.curves import Curve, pessimistic_pmf
from noisewright.accounting.grids import LossGrid
from noisewright.laws.lattice import Lattice
from noisewright.laws.tabulated import Tabulated
from noisewright.numerics.fields import FLOATS
from noisewright.sample.certified import Certified, make_certified
from tests.tree import ROOT, tracked

CORPUS = tracked(ROOT / "tests" / "fixtures" / "corpus", ".json")
STEPS = 4
_FAR = 1e-12
_MOST = 300
_FEW = 50


def additive() -> list[str]:
    kinds = {
        path.stem: json.loads(path.read_text(encoding="utf-8")).get("mechanism", {}).get("kind") for path in CORPUS
    }
    return [name for name, kind in kinds.items() if kind == "additive"]


def masses(certified: Certified) -> tuple[np.ndarray, int]:
    """Chances of cells, and how many the sensitivity spans: a quarter of it for real answers, coarser than drawn.

    Rounding further is post-processing, so that what these chances lose, the release loses at least.
    """
    mechanism = certified.mechanism
    law, sensitivity = mechanism.law, mechanism.query.sensitivity
    if mechanism.query.integer:
        noise, steps = mechanism.law_given(0).noise, int(sensitivity)
        found = {k: float(noise.mass(k, FLOATS)) for k in range(-_MOST, _MOST + 1)}
    else:
        cell, steps = sensitivity / STEPS, STEPS
        tails = {k: float(law.sf((k - Fraction(1, 2)) * cell, FLOATS)) for k in range(-_MOST, _MOST + 2)}
        found = {k: tails[k] - tails[k + 1] for k in range(-_MOST, _MOST + 1)}
    kept = [k for k, mass in found.items() if mass > _FAR]
    return np.array([found[k] if found[k] > _FAR else 0.0 for k in range(min(kept), max(kept) + 1)]), steps


def brute(chances: np.ndarray, steps: int, times: int, epsilon: float) -> float:
    """The largest delta over whole shifts and both orders, summed over the outcomes of so many releases one by one."""
    worst = 0.0
    for shift in range(1, steps + 1):
        one, other = np.pad(chances, (0, shift)), np.pad(chances, (shift, 0))
        for p, q in ((one, other), (other, one)):
            w = p[p > 0]
            with np.errstate(divide="ignore"):
                losses = np.log(w) - np.log(q[p > 0])
            sums, chance = losses, w
            for _ in range(times - 1):
                sums, chance = np.add.outer(sums, losses).ravel(), np.multiply.outer(chance, w).ravel()
            worst = max(worst, float(np.sum(chance * -np.expm1(np.minimum(epsilon - sums, 0.0)))))
    return worst


@pytest.mark.parametrize("name", additive())
def test_no_law_is_composed_below_plain_sums(name):
    certified = Certified.load(CORPUS[0].parent / f"{name}.json")
    chances, steps = masses(certified)
    leaves = nw.compose([certified]).leaves()
    spread = Fraction(leaves[0][0].spread).limit_denominator(64)
    grid = LossGrid(spread / 24, Fraction(1, 24), 30, 60)
    for times in (2, 3) if len(chances) <= _FEW else (2,):
        curve = Curve(pessimistic_pmf([(profile, times * n) for profile, n in leaves], grid), grid, up=True)
        for epsilon in (Fraction(0), spread):
            truth = brute(chances, steps, times, float(epsilon))
            assert truth - 1e-9 <= float(curve.delta(epsilon)) <= 1.5 * truth + 0.05


def test_a_comb_is_worst_at_a_shift_that_is_not_the_largest():
    comb = Tabulated(width=1, weights=(8, 1, 8, 1, 8, 1, 8, 1), edge="1/2")
    query = nw.Scalar(sensitivity=2, integer=True)
    certified = make_certified(nw.mechanisms.Additive(query, comb, Lattice.integers()), nw.ApproxDP(1, "0.9"))
    line = np.array([*reversed(comb.weights[1:]), *comb.weights], dtype=float)
    chances = line / line.sum()
    epsilon = math.log(2)
    odd, even = (brute_shift(chances, shift, epsilon) for shift in (1, 2))
    assert odd > 1.5 * even
    plan = nw.compose([(certified, 2)])
    assert float(plan.delta(Fraction(epsilon))) >= brute(chances, 2, 2, epsilon) - 1e-9


def brute_shift(chances: np.ndarray, shift: int, epsilon: float) -> float:
    one, other = np.pad(chances, (0, shift)), np.pad(chances, (shift, 0))
    return float(np.sum(np.maximum(0, one - math.exp(epsilon) * other)))
