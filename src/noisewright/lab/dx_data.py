"""Universes of the d_X reproduction."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisewright.lab.data import dataset
from noisewright.numerics.arrays import Floats

SEED = 741
CITIES = 741
CLOSEST = 0.02


@dataclass(frozen=True, slots=True)
class Places:
    """Places with coordinates (longitude, latitude in degrees) and elevation in metres, and where they come from."""

    points: Floats
    elevation: Floats
    source: str

    def apart(self, closest: float) -> Places:
        """Without the places closer than that to a larger one (they are listed by size)."""
        kept: list[int] = []
        for i, point in enumerate(self.points):
            if not kept or np.hypot(*(self.points[kept] - point).T).min() >= closest:
                kept.append(i)
        return Places(self.points[kept], self.elevation[kept], f"{self.source}, none closer than {closest} degrees")


def us_cities(count: int = CITIES) -> Places:
    """The largest US cities; where the dataset is missing, made-up places of the same kind."""
    path = dataset("us_cities/us_cities_geonames2012.csv.gz")
    if path is None:
        return _made_up(count)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: -int(row["population"]))[:count]
    points = np.array([[float(row["longitude"]), float(row["latitude"])] for row in rows])
    return Places(points, np.array([float(row["elevation"]) for row in rows]), f"{len(rows)} largest US cities")


def _made_up(count: int) -> Places:
    rng = np.random.default_rng(SEED)
    centres = rng.uniform((-120, 28), (-72, 47), (40, 2))
    points = centres[rng.integers(0, 40, count)] + rng.normal(0, 0.4, (count, 2))
    elevation = 800 + 600 * np.sin(points[:, 0] / 9) + rng.normal(0, 20, count)
    return Places(
        np.round(points, 5), np.round(elevation, 1), f"{count} made-up places (the dataset is not to be had here)"
    )


def random_points(rng: np.random.Generator, count: int = 50) -> Floats:
    """Uniform points of the square of side 100."""
    return np.asarray(rng.uniform(0, 100, (count, 2)))


def pair_distances(points: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Both ends and the Euclidean distance of every pair."""
    first, second = np.triu_indices(len(points), 1)
    return first, second, np.asarray(np.hypot(*(points[first] - points[second]).T))


def factors(queries: Floats, points: Floats) -> Floats:
    """For each single query, the noise of the epsilon = min d baseline over that of metric Laplace."""
    first, second, apart = pair_distances(points)
    closest = apart.min()
    result = []
    for q in queries:
        scale = (np.abs(q[first] - q[second]) / apart).max()
        result.append(np.ptp(q) / closest / scale)
    return np.array(result)
