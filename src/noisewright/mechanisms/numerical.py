"""Utilities without a closed form: quadrature with common points, so that candidates are compared on the same noise."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from noisewright.mechanisms.losses import Smoothed
from noisewright.numerics.fields import FLOATS, Floats
from noisewright.problem.divergences import HistogramEntropy, HistogramMetric, KullbackLeibler, Mallows, Renyi

_REPLICATES = 16
_SLIVER = 1e-13


def histogram_value(density: Any, utility: HistogramMetric, *, integer: bool) -> tuple[float, float]:
    """Mean metric and three standard errors of it.

    Rule: a Latin hypercube in as many dimensions as bins, replicated; the points depend on the number of
    bins alone (common random numbers), so differences between laws are far more accurate than values.
    [McKayBeckmanConover79]
    """
    counts = np.array([float(count) for count in utility.prior])
    uniform = _points(len(counts))
    noise = Quantiles(density)(uniform)
    if integer:
        noise = np.floor(noise + 0.5)
    released = np.maximum(counts + noise, float(utility.floor))
    values = _metric(utility, counts / counts.sum(), released / released.sum(axis=-1, keepdims=True))
    means = values.mean(axis=1)
    return float(means.mean()), 3 * float(means.std(ddof=1)) / math.sqrt(len(means))


def _metric(utility: HistogramMetric, p: Floats, q: Floats) -> Floats:
    present = p > 0
    if isinstance(utility, KullbackLeibler):
        terms = p[present] * (np.log(p[present]) - np.log(q[..., present]))
        return np.asarray(terms.sum(axis=-1))
    if isinstance(utility, HistogramEntropy):
        truth = -float(np.sum(p[present] * np.log(p[present])))
        return np.asarray(np.abs(truth + np.sum(q * np.log(q), axis=-1)))
    assert isinstance(utility, Renyi)
    order = float(utility.order)
    logs = order * np.log(p[present]) + (1 - order) * np.log(q[..., present])
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray((np.log(np.exp(logs - top).sum(axis=-1)) + top[..., 0]) / (order - 1))


def mallows_value(density: Any, utility: Mallows, *, integer: bool) -> tuple[float, float]:
    """E (mean of |X_i|^p)^(1/p) over n independent errors, with the change from coarser grids as its error.

    Rule: for a sum S of n terms and 0 < a < 1, E S^a = a / Gamma(1-a) * integral over t > 0 of
    (1 - (E e^(-t |X|^p))^n) t^(-a-1); one quadrature over the error, one over the logarithm of t. It holds
    where E|X|^p is infinite, too. For p = 1 the caller uses E|X|. [theory#what-the-stated-error-means]
    """
    fine, coarse = (
        _root_of_sum(*_magnitudes(density, utility, integer=integer, every=every), utility, 0.05 * every)
        for every in (1, 2)
    )
    return fine, abs(fine - coarse) + 1e-9 * fine


def _root_of_sum(powers: Floats, masses: Floats, utility: Mallows, stride: float) -> float:
    share, count = 1 / float(utility.power), utility.nodes
    typical = max(float(np.sum(powers * masses)) * count, 1e-300)
    t = np.exp(np.arange(-75.0, 75.0, stride)) / typical
    missing = np.array([float(np.sum(-np.expm1(-x * powers) * masses)) for x in t])
    inside = -np.expm1(count * np.log1p(-np.minimum(missing, 1 - 1e-16)))
    integral = float(np.sum(inside * t**-share)) * stride
    return float(share / math.gamma(1 - share) * integral / count**share)


def _magnitudes(density: Any, utility: Mallows, *, integer: bool, every: int) -> tuple[Floats, Floats]:
    """|error|^power on cells, and the cells' probabilities; `every` joins that many cells into one."""
    power = float(utility.power)
    if integer:
        last = 2
        while float(density.sf(last + 0.5, FLOATS)) > _SLIVER and last < 1 << 15:
            last *= 2
        tails = np.array([0.5, *(float(density.sf(k + 0.5, FLOATS)) for k in range(last + 1))])
        return np.arange(last + 1, dtype=np.float64) ** power, -2 * np.diff(tails)
    table = Quantiles(density)
    edges, masses = table.edges[::every], -np.diff(table.tails[::every])
    centres, reach = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / math.sqrt(12)
    # Two points per cell keep its mean and its spread.
    return np.concatenate([centres - reach, centres + reach]) ** power, np.concatenate([masses, masses])


def entropy_of_error(density: Any) -> tuple[float, float]:
    """-integral of f ln f, with the change from halving the number of cells as its error."""
    table = Quantiles(density)
    fine, coarse = _cell_entropy(table.edges, table.tails), _cell_entropy(table.edges[::2], table.tails[::2])
    return fine, abs(fine - coarse) + 1e-9


def _cell_entropy(edges: Floats, tails: Floats) -> float:
    mass, width = -np.diff(tails), np.diff(edges)
    kept = mass > 0
    return float(-2 * np.sum(mass[kept] * np.log(mass[kept] / width[kept])))


class Quantiles:
    """The inverse distribution function of an error density, tabulated in floats.

    Valid for: densities symmetric about zero, which is what every law offered for these utilities has.
    """

    def __init__(self, density: Any) -> None:
        far = float(density.period)
        while float(density.sf(far, FLOATS)) > _SLIVER and far < 1e15 * float(density.period):
            far *= 2
        near = _core(density) / 500
        edges = np.concatenate([[0.0], np.geomspace(min(near, far / 2), far, 1200)])
        jumps = [float(b) for b in getattr(density, "breaks", ()) if b > 0]
        if jumps:
            period = float(density.period)
            turns = min(int(far / period) + 1, 400)
            repeated = [b + n * period for n in range(1, turns) for b in jumps if b > jumps[-1] - period]
            edges = np.union1d(edges, np.array(jumps + repeated))
        tail_of = density.sf
        if isinstance(density, Smoothed):
            # At the edges of its cells a smoothed law has the tails of the law itself, which are quicker to get.
            step = float(density.step)
            edges = np.unique(np.rint(edges / step)) * step
            tail_of = density.law.sf
        self.edges = edges
        self.tails = np.array([float(tail_of(float(x), FLOATS)) for x in edges])

    def __call__(self, uniform: Floats) -> Floats:
        """The error at each uniform number: the magnitude from its distance to 1/2, the sign from its side."""
        side = np.where(uniform < 0.5, -1.0, 1.0)
        tail = np.minimum(uniform, 1 - uniform)
        falling = np.maximum(self.tails, 1e-300)
        magnitude = np.interp(-np.log(np.maximum(tail, falling[-1])), -np.log(falling), self.edges)
        return np.asarray(side * magnitude)


def _core(density: Any) -> float:
    """A distance within which half of the mass lies, roughly."""
    width = float(density.period)
    while float(density.sf(width, FLOATS)) > 0.25:
        width *= 2
    while width > 1e-12 and float(density.sf(width / 2, FLOATS)) < 0.25:
        width /= 2
    return width


@lru_cache(maxsize=4)
def _points(bins: int) -> Floats:
    """Replicates of a Latin hypercube: every coordinate takes each stratum once per replicate."""
    strata = max(8, min(128, 4_000_000 // (_REPLICATES * bins)))
    shape = (_REPLICATES, strata, bins)
    order = np.argsort(_scrambled(shape, 1), axis=1)
    return np.asarray((order + _scrambled(shape, 2)) / strata)


def _scrambled(shape: tuple[int, ...], salt: int) -> Floats:
    """Fixed, evenly spread numbers in (0, 1): a bit mixer applied to 1, 2, 3, … (a quadrature rule, not noise)."""
    with np.errstate(over="ignore"):
        z = (np.arange(1, math.prod(shape) + 1, dtype=np.uint64) + np.uint64(salt << 40)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return np.asarray(((z >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53).reshape(shape)
