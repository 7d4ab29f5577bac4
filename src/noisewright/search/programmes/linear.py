"""Convex programmes over the listed differences of linear questions, by interior points, with the duality gap reached.

Rates for each number, the shape of correlated noise, and a query matrix and scales by turns, which trades bias for
noise. The first two are small in variables and long in constraints (one for each difference). Floats: a bug here costs
accuracy, never privacy, since every result is scaled to feasibility and certified afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from noisewright.numerics.distances import FloatView, float_view
from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidQueryError, SolverError
from noisewright.problem.linear import Linear

TARGET_GAP = 1e-8
_GROWTH = 12.0
_MOST_STAGES = 40
_MOST_STEPS = 60
_LONG = 0.3
_NEAR = 0.9
_FITS = 1e-9
LARGEST_UNIVERSE = 30
_MOST_TURNS = 30
_SETTLED = 1e-7


@dataclass(frozen=True, slots=True)
class Solved:
    """A feasible point, its value, and the relative distance to the dual bound."""

    point: Floats
    value: float
    gap: float


@dataclass(frozen=True, slots=True)
class _Convex:
    """A value with its gradient and curvature, where it is defined, and the dual bound of multipliers of some rows."""

    value: Callable[[Floats], float]
    derivatives: Callable[[Floats], tuple[Floats, Floats]]
    inside: Callable[[Floats], bool]
    bound: Callable[..., float]


def best_rates(pairs: Floats, weights: Floats, power: float = 2) -> Solved:
    """Rates r > 0 that minimise sum of weights r^-power subject to pairs @ r <= 1.

    Rule: at r = (power w / s)^(1/(power+1)) the Lagrangian is least, where s = pairs' multipliers; they may be rescaled
    freely, which bounds the value by (sum of (w s^power)^(1/(power+1)))^(power+1) over their sum^power.
    [theory#metric-privacy]
    Valid for: positive powers; every column of `pairs` has a positive entry.
    """
    unit = pairs.max(axis=0)
    matrix = pairs / unit
    costs = weights * unit**power
    costs = costs / costs.sum()

    def bound(multipliers: Floats) -> float:
        slopes = matrix.T @ multipliers
        lengths = (costs * slopes**power) ** (1 / (power + 1))
        return float(lengths.sum() ** (power + 1) / multipliers.sum() ** power)

    def value(r: Floats) -> float:
        return float((costs / r**power).sum())

    def derivatives(r: Floats) -> tuple[Floats, Floats]:
        return -power * costs / r ** (power + 1), np.diag(power * (power + 1) * costs / r ** (power + 2))

    start = np.full(matrix.shape[1], 0.5) / matrix.sum(axis=1).max()
    goal = _Convex(value, derivatives, lambda r: bool((r > 0).all()), bound)
    point, gap = _interior(matrix, start, goal, bound)
    point = point / (matrix @ point).max() / unit
    return Solved(point, float((weights / point**power).sum()), gap)


def best_ellipse(differences: Floats, weights: Floats) -> Solved | None:
    """The matrix M > 0 that minimises sum of weights (M^-1)_kk subject to v' M v <= 1 for every row v.

    Rule: multipliers with S = sum of multiplier v v' bound the value by tr((C^1/2 S C^1/2)^1/2)^2
    over their sum, C = diag(weights). None if the rows do not span the space. [theory#metric-privacy]
    """
    half = _whitener(differences)
    if half is None:
        return None
    rows = differences @ half
    inverse = np.linalg.inv(half)
    target = inverse @ np.diag(weights) @ inverse.T
    target = target / np.trace(target)
    size = rows.shape[1]
    upper = np.triu_indices(size)
    features = _folded(np.einsum("pi,pj->ijp", rows, rows).reshape(size * size, -1), size).T
    root = _root(target)

    def matrix(x: Floats) -> Floats:
        full = np.zeros((size, size))
        full[upper] = x
        return np.asarray(full + np.triu(full, 1).T)

    def bound(multipliers: Floats, chosen: NDArray[np.bool_]) -> float:
        moment = (rows[chosen] * multipliers[:, None]).T @ rows[chosen]
        inner = np.linalg.eigvalsh(root @ moment @ root)
        return float(np.sqrt(np.maximum(inner, 0)).sum() ** 2 / multipliers.sum())

    def value(x: Floats) -> float:
        return float(np.trace(np.linalg.solve(matrix(x), target)))

    def derivatives(x: Floats) -> tuple[Floats, Floats]:
        inverse = np.linalg.inv(matrix(x))
        middle = inverse @ target @ inverse
        curve = np.kron(inverse, middle) + np.kron(middle, inverse)
        return -_folded(middle.reshape(-1, 1), size)[:, 0], _folded(_folded(curve, size).T, size)

    start = (np.eye(size) / (2 * (rows**2).sum(axis=1).max()))[upper]
    goal = _Convex(value, derivatives, lambda x: bool(np.linalg.eigvalsh(matrix(x))[0] > 0), bound)
    x, gap = _by_active_rows(features, (rows**2).sum(axis=1), start, goal)
    found = half @ matrix(x / (features @ x).max()) @ half.T
    found = (found + found.T) / 2
    return Solved(found, float((weights * np.diag(np.linalg.inv(found))).sum()), gap)


def _by_active_rows(features: Floats, sizes: Floats, start: Floats, goal: _Convex) -> tuple[Floats, float]:
    """Solve with the longest rows first and add the ones that turn out to matter; the gap counts all of them."""
    active = sizes >= _LONG * sizes.max()
    while True:
        chosen = active
        x, gap = _interior(features[chosen], start, goal, partial(goal.bound, chosen=chosen))
        use = features @ x / (features[chosen] @ x).max()
        if use.max() <= 1 + _FITS:
            # Scaling to fit every row raises a value that falls with 1 / scale by that factor at most.
            return x, gap + (use.max() - 1) * (1 + gap)
        active = chosen | (use > _NEAR)


def _interior(rows: Floats, x: Floats, goal: _Convex, bound: Callable[[Floats], float]) -> tuple[Floats, float]:
    """Minimise a convex value subject to rows @ x <= 1 by Newton steps along the central path."""
    sharpness = len(rows) / max(goal.value(x), 1e-300)
    best, gap = x, np.inf
    for _ in range(_MOST_STAGES):
        x = _centre(rows, x, sharpness, goal)
        slack = 1 - rows @ x
        reached = goal.value(x / (rows @ x).max())
        limit = bound(1 / (sharpness * slack))
        now = (reached - limit) / abs(limit) if limit else np.inf
        if now < gap:
            best, gap = x, now
        if gap <= TARGET_GAP:
            return best, max(gap, 0.0)
        sharpness *= _GROWTH
    if gap > 1e-6:
        raise SolverError(f"the convex programme stopped at a relative gap of {gap:.2g}.", gap=gap)
    return best, max(float(gap), 0.0)


def _centre(rows: Floats, x: Floats, sharpness: float, goal: _Convex) -> Floats:
    def total(point: Floats) -> float:
        slack = 1 - rows @ point
        if slack.min() <= 0 or not goal.inside(point):
            return np.inf
        return float(sharpness * goal.value(point) - np.log(slack).sum())

    level = total(x)
    for _ in range(_MOST_STEPS):
        slack = 1 - rows @ x
        gradient, curve = goal.derivatives(x)
        gradient = sharpness * gradient + rows.T @ (1 / slack)
        scaled = rows / slack[:, None]
        curve = sharpness * curve + scaled.T @ scaled
        # Rows and columns are scaled alike before Newton's direction is solved for.
        unit = 1 / np.sqrt(np.diag(curve))
        direction = -unit * np.linalg.solve(curve * unit[:, None] * unit, unit * gradient)
        decrement = float(-gradient @ direction)
        if decrement < 1e-9:
            break
        length = 1.0
        while (there := total(x + length * direction)) > level - 1e-4 * length * decrement and length > 1e-12:
            length /= 2
        if length <= 1e-12:
            break
        x, level = x + length * direction, there
    return x


def _whitener(differences: Floats) -> Floats | None:
    """A symmetric matrix that makes the rows round: near the least ellipsoid around them, by reweighting."""
    unit = np.abs(differences).max(axis=0)
    if not unit.all():
        return None
    rows = differences / unit
    if np.linalg.svd(rows, compute_uv=False)[-1] <= 1e-9 * np.sqrt(len(rows)):
        return None
    shares = np.full(len(rows), 1 / len(rows))
    moment: Any = None
    for _ in range(30):
        moment = (rows * shares[:, None]).T @ rows
        shares = shares * np.einsum("pi,pi->p", rows, np.linalg.solve(moment, rows.T).T) / rows.shape[1]
    return np.asarray(np.diag(1 / unit) @ np.linalg.inv(_root(moment)))


def _root(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def _folded(table: Floats, size: int) -> Floats:
    """Rows of a table indexed by the entries of a matrix, added up for the entries of its upper triangle."""
    first, second = np.triu_indices(size)
    mirrored = table[second * size + first] * (first != second)[:, None]
    return np.ascontiguousarray(table[first * size + second] + mirrored)


def block_descent(matrix: Floats, distances: Floats, rates: Floats, people: int) -> tuple[Floats, Floats, list[float]]:
    """Columns c Q', scales c and the values on the way of n^2 |c Q' - Q|^2 + 2 |c|^2, both blocks in turn.

    Starts without bias at the given rates. For fixed scales the columns solve a quadratic programme,
    for fixed columns the scales have a closed form; the value never rises, but it may stop at a local optimum.
    """
    scales = 1 / rates
    columns = matrix * rates[:, None]
    values = [_value(matrix, columns, scales, people)]
    for _ in range(_MOST_TURNS):
        columns = _closest_columns(matrix, scales, distances)
        scales = people**2 * (columns * matrix).sum(axis=1) / (people**2 * (columns**2).sum(axis=1) + 2)
        if (scales <= 0).any():
            break
        values.append(_value(matrix, columns, scales, people))
        if values[-2] - values[-1] <= _SETTLED * values[-1]:
            break
    scales = np.maximum(scales, 1e-12 * np.abs(matrix).max())
    return columns * scales[:, None], scales, values


def _value(matrix: Floats, columns: Floats, scales: Floats, people: int) -> float:
    return float(people**2 * ((scales[:, None] * columns - matrix) ** 2).sum() + 2 * (scales**2).sum())


def _closest_columns(matrix: Floats, scales: Floats, distances: Floats) -> Floats:
    """Q' that minimises |c Q' - Q| subject to sum over k of |Q'_ki - Q'_kj| <= d(i, j)."""
    import clarabel
    from scipy import sparse

    rows, size = matrix.shape
    first, second = np.triu_indices(size, 1)
    pairs, entries = len(first), rows * size
    line = np.arange(pairs)
    apart = sparse.csr_matrix(
        (np.concatenate([np.ones(pairs), -np.ones(pairs)]), (np.tile(line, 2), np.concatenate([first, second]))),
        shape=(pairs, size),
    )
    differences = sparse.block_diag([apart] * rows)
    same = sparse.identity(pairs * rows)
    total = sparse.hstack([sparse.csr_matrix((pairs, entries)), sparse.hstack([sparse.identity(pairs)] * rows)])
    constraints: Any = sparse.vstack(
        [sparse.hstack([differences, -same]), sparse.hstack([-differences, -same]), total], format="csc"
    )
    limits = np.concatenate([np.zeros(2 * pairs * rows), distances[first, second]])
    weights = np.repeat(scales**2, size)
    quadratic = sparse.diags(np.concatenate([2 * weights, np.zeros(pairs * rows)]), format="csc")
    linear = np.concatenate([-2 * weights * (matrix / scales[:, None]).reshape(-1), np.zeros(pairs * rows)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(len(limits))]
    solution = clarabel.DefaultSolver(quadratic, linear, constraints, limits, cones, settings).solve()
    if str(solution.status) not in {"Solved", "AlmostSolved"}:
        raise SolverError(f"the quadratic programme ended with status {solution.status}.", status=str(solution.status))
    return np.array(solution.x[:entries]).reshape(rows, size)


# The pairs of a universe as rows of differences over distances, and which of them matter.


Found = TypeVar("Found", bound="Solved | None")

ALL_PAIRS = 200
_BLOCK_ENTRIES = 1 << 20
_ADDED = 400
_MOST_ROUNDS = 40
_VIOLATED = 1e-9
_ROUNDS = 60


class PairTable:
    """Differences of columns divided by distances, for all pairs of a small universe or the ones asked for.

    `pairs` are the elements that each row stands for.
    `moving` are the queries that differ somewhere within a finite distance; the others need no noise and are left out.
    Raises InvalidQueryError for elements at distance 0 whose columns differ, and for queries that
    tell no two elements apart.
    """

    def __init__(self, query: Linear, metric: Any) -> None:
        whole = np.array([[v / d for v in row] for row, d in zip(query.numerators, query.denominators, strict=True)])
        self.view: FloatView = float_view(metric)
        self._query = query
        self.moving = _moving(query, self.view)
        self.matrix = whole[self.moving]
        flat = np.flatnonzero(np.ptp(whole, axis=1) == 0)
        if len(flat):
            raise InvalidQueryError(
                f"{query.names[flat[0]]} is the same for every element, so its answer is public when the number of"
                " people is; leave it out.",
                query=int(flat[0]),
            )
        self._rows: list[Floats] = []
        self.pairs: list[tuple[int, int]] = []
        self._opened = 0
        self._seen: set[tuple[int, int]] = set()
        if self.complete and self.moving:
            self._all()

    @property
    def rows(self) -> Floats:
        """Signed differences over distances, one row for each pair collected so far."""
        return np.concatenate(self._rows)

    @property
    def complete(self) -> bool:
        """Whether every pair is there."""
        return self._query.size <= ALL_PAIRS

    def spread(self, rates: Sequence[float]) -> list[float]:
        """A rate for each query from those of the moving ones; infinite where none moves."""
        found = dict(zip(self.moving, rates, strict=True))
        return [found.get(k, math.inf) for k in range(self._query.dimension)]

    def solve(self, programme: Callable[[Floats], Found], *, euclidean: bool) -> Found:
        """Solve with the pairs at hand, add what is violated, and again until nothing is.

        A solution measures columns by an ellipse, or by a rate for each of their numbers.
        """
        if self.complete:
            return programme(self.rows)
        self._open()
        for _ in range(_MOST_ROUNDS):
            found = programme(self.rows)
            if found is None:
                break
            root = np.linalg.cholesky(found.point).T if euclidean else np.diag(found.point)
            if not self._add(root @ self.matrix, euclidean):
                break
        return found

    def opening(self) -> tuple[Floats, list[tuple[int, int]]]:
        """The pairs that every search begins with, whatever was added since: the hardest ones of each query."""
        self._open()
        return self.rows[: self._opened], self.pairs[: self._opened]

    def _open(self) -> None:
        if not self._rows:
            for row in self.matrix:
                self._add(row[None, :], False)
            if len(self.matrix) > 1:
                self._add(self.matrix, False)
            self._opened = len(self.pairs)

    def _add(self, measure: Floats, euclidean: bool) -> bool:
        """Collect the pairs with the largest measured cost over distance; whether any exceeds one."""
        best: list[tuple[float, int, int]] = []
        for start, costs, distances in _blocks(self.view, measure, euclidean):
            ratios = self._ratios(start, costs, distances)
            count = min(_ADDED, ratios.size)
            places = np.argpartition(ratios, -count, axis=None)[-count:]
            first, second = np.unravel_index(places, ratios.shape)
            sides = (start + first).tolist(), (start + second).tolist()
            best = sorted([*best, *zip(ratios[first, second].tolist(), *sides, strict=True)], reverse=True)[:_ADDED]
        new = [(i, j) for v, i, j in best if v > 0 and (i, j) not in self._seen]
        self._seen.update(new)
        if new:
            ours, theirs = (np.array(side) for side in zip(*new, strict=True))
            self.pairs += new
            distances = np.array([self.view.rows(i, i + 1)[0, j - i] for i, j in new])
            self._rows.append(((self.matrix[:, ours] - self.matrix[:, theirs]) / distances).T)
        return bool(new) and best[0][0] > 1 + _VIOLATED

    def _all(self) -> None:
        size = self._query.size
        distances = self.view.rows(0, size)
        differences = self.matrix[:, :, None] - self.matrix[:, None, :]
        self._ratios(0, np.abs(differences).sum(axis=0), distances)
        first, second = np.triu_indices(size, 1)
        apart = distances[first, second]
        told = apart > 0
        rows = differences[:, first[told], second[told]].T / apart[told, None]
        kept = np.abs(rows).max(axis=1) > 0
        self._rows.append(rows[kept])
        self.pairs += zip(first[told][kept].tolist(), second[told][kept].tolist(), strict=True)
        self._opened = len(self.pairs)

    def _ratios(self, start: int, costs: Floats, distances: Floats) -> Floats:
        costs = np.triu(costs, 1)
        impossible = (distances <= 0) & (costs > 0)
        if impossible.any():
            raise at_distance_zero(*(start + int(v) for v in np.argwhere(impossible)[0]))
        return np.asarray(np.divide(costs, distances, out=np.zeros_like(costs), where=distances > 0))


def _moving(query: Linear, view: FloatView) -> list[int]:
    """The queries that differ somewhere within a finite component."""
    if view.components is None:
        return list(range(query.dimension))
    marks = view.components.tolist()
    first = {component: i for i, component in reversed(list(enumerate(marks)))}
    return [
        k
        for k, row in enumerate(query.numerators)
        if any(v != row[first[component]] for v, component in zip(row, marks, strict=True))
    ]


def at_distance_zero(i: int, j: int) -> InvalidQueryError:
    """Two elements that must not be told apart have different answers."""
    return InvalidQueryError(
        f"elements {i} and {j} are at distance 0, so nothing may tell them apart, but their columns differ. Give them"
        " equal columns, merge them, or give the pair a positive budget.",
        pair=(i, j),
    )


def _blocks(view: FloatView, measure: Floats, euclidean: bool) -> Any:
    start = 0
    while start < view.size:
        stop = min(view.size, start + max(1, _BLOCK_ENTRIES // (view.size - start)))
        total = np.zeros((stop - start, view.size - start))
        for row in measure:
            apart = row[start:stop, None] - row[None, start:]
            total += apart * apart if euclidean else np.abs(apart)
        yield start, np.sqrt(total) if euclidean else total, view.rows(start, stop)
        start = stop


@dataclass(frozen=True, slots=True)
class Traded:
    """Columns A within `bias` of the query, their noise scale, the value n^2 bias^2 + 2 scale^2 and its gap."""

    columns: list[Fraction]
    bias: float
    scale: float
    value: float
    gap: float


def best_single(table: PairTable, people: int, row: Sequence[Fraction], power: int = 2) -> Traded:
    """Minimise n^2 max (A_i - q_i)^2 + 2 c^2 subject to |A_i - A_j| <= c d(i, j), jointly in A and c.

    For absolute errors (power 1) n max |A_i - q_i| + c.

    Rule: columns within t of the query and c-Lipschitz exist exactly if |q_i - q_j| <= 2 t + c d(i, j)
    for every pair (take A_i = max over j of q_j - t - c d(i, j)). So the programme has two unknowns,
    c(t) = max over pairs of (|q_i - q_j| - 2 t) / d(i, j), and is convex in t. [theory#metric-privacy]
    """
    q, view = table.matrix[0], table.view
    n2 = float(people) ** 2

    def value(t: float) -> tuple[float, float, float]:
        c, slope = _scale(q, view, t)
        if power == 1:
            return people * t + c, people + slope, c
        return n2 * t * t + 2 * c * c, 2 * n2 * t + 4 * c * slope, c

    low, high, bound = 0.0, float(np.ptp(q)) / 2, 0.0
    at_low, at_high = value(low), value(high)
    best = (at_low[0], 0.0, at_low[2])
    if at_low[1] >= 0:
        return Traded(list(row), 0.0, best[2], best[0], 0.0)
    for _ in range(_ROUNDS):
        # Tangents at the two ends bound a convex function from below where they meet.
        meet = (at_high[0] - at_low[0] + at_low[1] * low - at_high[1] * high) / (at_low[1] - at_high[1])
        bound = at_low[0] + at_low[1] * (meet - low)
        middle = min(max(meet, low + 1e-3 * (high - low)), high - 1e-3 * (high - low))
        here = value(middle)
        if here[0] < best[0]:
            best = (here[0], middle, here[2])
        if best[0] - bound <= 1e-9 * best[0]:
            break
        if here[1] < 0:
            low, at_low = middle, here
        else:
            high, at_high = middle, here
    _, t, c = best
    columns = [Fraction(float(v)) for v in _lipschitz(q, view, t, c)]
    return Traded(columns, t, c, best[0], max(0.0, (best[0] - bound) / best[0]))


def _scale(q: Floats, view: FloatView, t: float) -> tuple[float, float]:
    """max over pairs of (|q_i - q_j| - 2 t) / d(i, j), streamed in blocks, and its slope in t."""
    best, slope, start = 0.0, 0.0, 0
    while start < view.size:
        stop = min(view.size, start + max(1, _BLOCK_ENTRIES // (view.size - start)))
        apart = np.triu(np.abs(q[start:stop, None] - q[None, start:]) - 2 * t, 1)
        distances = view.rows(start, stop)
        ratios = np.divide(apart, distances, out=np.zeros_like(apart), where=(distances > 0) & (apart > 0))
        place = int(np.argmax(ratios))
        if (top := float(ratios.flat[place])) > best:
            best, slope = top, -2.0 / float(distances.flat[place])
        start = stop
    return best, slope


def _lipschitz(q: Floats, view: FloatView, t: float, c: float) -> Floats:
    """The columns of the rule."""
    result = np.full(view.size, -np.inf)
    for i in range(view.size):
        distances = view.rows(i, i + 1)[0]
        result[i] = max(result[i], q[i] - t, float((q[i:] - t - c * distances).max()))
        result[i:] = np.maximum(result[i:], q[i] - t - c * distances)
    return result
