"""The other libraries on the same work: one number, sensitivity 1, epsilon 1."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from needed import needed
from numpy.typing import NDArray

diffprivlib: Any = needed("diffprivlib.mechanisms")
opendp: Any = needed("opendp.prelude")

OPENDP_DRAWS = 20_000
LOOP_DRAWS = 20_000
SAMPLES = 200_000

opendp.enable_features("contrib")


def versions() -> str:
    """What was compared."""
    return ", ".join(f"{name} {version(name)}" for name in ("opendp", "diffprivlib"))


def opendp_laplace(count: int) -> Callable[[], list[float]]:
    """OpenDP's Laplace mechanism on a vector of zeros."""
    space = opendp.vector_domain(opendp.atom_domain(T=float, nan=False)), opendp.l1_distance(T=float)
    mechanism = opendp.m.make_laplace(*space, scale=1.0)
    zeros = [0.0] * count
    return lambda: mechanism(zeros)


def diffprivlib_laplace(count: int) -> Callable[[], list[float]]:
    """diffprivlib's Laplace mechanism, which takes one value at a time."""
    mechanism = diffprivlib.Laplace(epsilon=1, sensitivity=1)
    return lambda: [mechanism.randomise(0.0) for _ in range(count)]


def diffprivlib_staircase(count: int) -> Callable[[], list[float]]:
    """diffprivlib's staircase mechanism with its default split."""
    mechanism = diffprivlib.Staircase(epsilon=1, sensitivity=1)
    return lambda: [mechanism.randomise(0.0) for _ in range(count)]


def samples() -> dict[str, NDArray[np.float64]]:
    """Noise of each peer, for measuring its error."""
    return {
        "OpenDP Laplace": np.array(opendp_laplace(SAMPLES)()),
        "diffprivlib Laplace": np.array(diffprivlib_laplace(SAMPLES)()),
        "diffprivlib staircase": np.array(diffprivlib_staircase(SAMPLES)()),
    }
