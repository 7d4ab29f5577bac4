"""Universes of the d_X reproduction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisewright.lab.tables import Table, first_fit
from noisewright.numerics.fields import Floats

SEED = 741
CITIES = 741
_SHIPPED = "us_cities/us_cities_geonames2012.csv.gz"
_EAST, _NORTH = ("longitude", "lon", "lng", "long", "x"), ("latitude", "lat", "y")
_VALUE, _SIZE = ("elevation", "altitude", "dem", "height", "value"), ("population", "pop", "size")
_VARIED = 0.2


@dataclass(frozen=True, slots=True)
class Places:
    """Places with coordinates (longitude, latitude in degrees) and elevation in metres, and where they come from."""

    points: Floats
    elevation: Floats
    source: str

    @property
    def usual_gap(self) -> float:
        """The median distance of a place from the one next to it."""
        nearest = [np.sort(np.hypot(*(self.points - point).T))[1] for point in self.points]
        return float(np.median(nearest))

    def apart(self, closest: float) -> Places:
        """Without the places closer than that to a larger one (they are listed by size)."""
        kept: list[int] = []
        for i, point in enumerate(self.points):
            if not kept or np.hypot(*(self.points[kept] - point).T).min() >= closest:
                kept.append(i)
        return Places(self.points[kept], self.elevation[kept], f"{self.source}, none closer than {closest:.2g}")


def places_of(count: int = CITIES) -> Places:
    """The largest places of a table with two coordinates and a value; where there is none, made-up places.

    Columns are found by their usual names; without those, the first three columns of numbers that differ from row to
    row are taken for the coordinates and the value. Of places with the same coordinates the largest is kept.
    """
    found = first_fit([_SHIPPED], _coordinates)
    if found is None:
        return _made_up(count)
    table, (points, value, size) = found
    order = np.argsort(-size, kind="stable")
    _, firsts = np.unique(points[order], axis=0, return_index=True)
    chosen = order[np.sort(firsts)][:count]
    return Places(points[chosen], value[chosen], f"{len(chosen)} largest places of {table.name}")


def _coordinates(table: Table) -> tuple[Floats, Floats, Floats] | None:
    """Points, a value and a size for each row that has them; None where there are fewer than three such rows."""
    numeric = table.numeric()
    names = [table.named(*words) for words in (_EAST, _NORTH, _VALUE)]
    if any(name not in numeric for name in names[:2]):
        spread = [n for n, v in numeric.items() if len(np.unique(v[np.isfinite(v)])) > _VARIED * len(v)]
        if len(spread) < 3:
            return None
        names = list(spread[:3])
    east, north = numeric[str(names[0])], numeric[str(names[1])]
    value = numeric.get(str(names[2]), north)
    size = numeric.get(str(table.named(*_SIZE)), np.zeros(len(east)))
    whole = np.isfinite(east) & np.isfinite(north) & np.isfinite(value) & np.isfinite(size)
    points = np.column_stack([east[whole], north[whole]])
    return (points, value[whole], size[whole]) if len(np.unique(points, axis=0)) >= 3 else None


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
