"""The mean of the largest error among several queries, in floats: for ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.mechanisms.linear import LinearElliptical, LinearLaplace

_POINTS = 1 << 14
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)


def mean_largest(mechanism: LinearLaplace | LinearElliptical) -> float:
    """E max_k |noise_k|: an integral for independent noise, an average over even directions for round noise."""
    if isinstance(mechanism, LinearLaplace):
        return _independent(np.array([float(c) for c in mechanism.scales]))
    if len(mechanism.blocks) == 1:
        block = mechanism.blocks[0]
        decode = np.array([[float(v) for v in row] for row in block.decode]) / float(block.rate)
        size = len(block.rows)
        return float(size * np.abs(directions(size) @ decode.T).max(axis=1).mean())
    roots = [0.0] * mechanism.query.dimension
    for block in mechanism.blocks:
        for k, row in zip(block.rows, block.decode, strict=True):
            roots[k] = float(sum(v * v for v in row)) ** 0.5 * (len(block.rows) + 1) ** 0.5 / float(block.rate)
    # Several blocks: the bound by independent noise of the same spread.
    return _independent(np.array(roots))


def directions(size: int) -> NDArray[np.float64]:
    """Evenly spread unit vectors: normal quantiles of a Halton sequence, scaled to length one."""
    from scipy.special import ndtri

    points = np.stack([_van_der_corput(p) for p in _PRIMES[:size]], axis=1)
    normal: Any = ndtri(points)
    return np.asarray(normal / np.linalg.norm(normal, axis=1)[:, None])


def _van_der_corput(base: int) -> NDArray[np.float64]:
    rest, result, share = np.arange(1, _POINTS + 1), np.zeros(_POINTS), 1.0 / base
    while rest.any():
        result += share * (rest % base)
        rest, share = rest // base, share / base
    return result


def _independent(scales: NDArray[np.float64]) -> float:
    """The integral of P(some |noise_k| > t) for Laplace noise, by Gauss-Laguerre pieces."""
    top = scales.max()
    edges = top * np.concatenate([[0.0], np.geomspace(1e-4, 60.0, 200)])
    nodes, weights = np.polynomial.legendre.leggauss(8)
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    t = middle[:, None] + half[:, None] * nodes
    alive = -np.expm1(np.log1p(-np.exp(-t[..., None] / scales)).sum(axis=-1))
    return float((half[:, None] * weights * alive).sum())
