"""How far off choices and synthetic histograms are: proven bounds, and rows and rounds chosen by them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.selection import MetricChoice
from noisewright.numerics.distances import lower_squared
from noisewright.numerics.pairs import longer
from noisewright.proof.certify import certify

LINE = nw.metrics.Matrix([[abs(i - j) for j in range(4)] for i in range(4)])
PRIVACY = nw.MetricPrivacy(LINE)
ROWS = [[0, 1, 0, 1], [0, 0, 1, 1], [2, 1, 1, 0]]
HISTOGRAM = [40, 10, 25, 5]


def asked(people: int | None = 80) -> nw.Linear:
    return nw.Linear(ROWS, people=people)


def far(released: Any) -> float:
    return float(np.abs(np.array(ROWS, dtype=float) @ (np.array(released, dtype=float) - HISTOGRAM)).max())


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("confidence", ["0.5", "0.9"])
def test_small_databases_stay_within_their_bound(rows, confidence):
    """The exact chance, from all small databases and their weights by hand."""
    made = nw.mechanisms.smalldb_mechanism(asked(), PRIVACY, rows).mechanism
    limit = made.within(Fraction(confidence), 80)
    scale, total, inside = float(made.scale), 0.0, 0.0
    for y in product(range(rows + 1), repeat=4):
        if sum(y) == rows:
            off = far(np.array(y) * (80 / rows))
            weight = math.exp(-off / (2 * scale))
            total, inside = total + weight, inside + weight * (off <= limit)
    assert inside / total >= float(Fraction(confidence))


def test_the_best_small_database_is_as_near_as_the_bound_says():
    """Whatever the histogram: with an endless budget only the nearest database is left."""
    rng = np.random.default_rng(4)
    made = nw.mechanisms.smalldb_mechanism(asked(60), PRIVACY, 3).mechanism
    sharp = replace(made, scale=Fraction(1, 10**9))
    limit = float(sharp.within(Fraction(1, 2), 60))
    matrix = np.array(ROWS, dtype=float)
    for _ in range(50):
        histogram = rng.multinomial(60, rng.dirichlet(np.full(4, 0.3)))
        nearest = min(
            np.abs(matrix @ (np.array(y) * 20 - histogram)).max() for y in product(range(4), repeat=4) if sum(y) == 3
        )
        assert nearest <= limit + 1e-6


@pytest.mark.parametrize("rounds", [1, 4, 30])
def test_multiplicative_weights_stay_within_their_bound(rounds):
    """At 9 in 10 no more than 33 of 120 draws may leave: a false alarm comes once in a hundred million."""
    people = [4000 * v for v in HISTOGRAM]
    certified = nw.mechanisms.mwem_mechanism(asked(sum(people)), PRIVACY, rounds)
    limit = float(certified.mechanism.within(Fraction(9, 10), sum(people)))
    matrix = np.array(ROWS, dtype=float)
    errors = [np.abs(matrix @ (certified.release(people) - np.array(people))).max() for _ in range(120)]
    assert sum(e > limit for e in errors) <= 33
    assert limit <= 2 * sum(people) + 1


def test_multiplicative_weights_say_no_more_than_they_know():
    """By hand: noise of scale 2 T c, choices of 4 T c, entropy ln N, one round that nothing looks at."""
    made = nw.mechanisms.mwem_mechanism(asked(10**6), PRIVACY, 25).mechanism
    n, rounds, c = 10**6, 25, float(made.scale)
    noise = 2 * rounds * c * math.log(4 * rounds / 0.05)
    gap = 4 * rounds * c * math.log(2 * rounds * 3 / 0.05) + float(made.step)
    entropy = math.log(4) + rounds * (noise / (2 * n * 1)) ** 2
    wanted = (2 * n * 2 * math.sqrt(24 * entropy) + 24 * gap + 2 * n) / rounds
    assert float(made.within(Fraction(95, 100), n)) == pytest.approx(min(wanted, 2 * n), rel=1e-9)
    assert made.within(Fraction(95, 100), 1) == 2


def test_rows_and_rounds_are_chosen_by_the_bound():
    query = asked(10**5)
    small = nw.mechanisms.smalldb_mechanism(query, PRIVACY).mechanism
    bounds = {r: replace(small, rows=r).within(Fraction(95, 100), 10**5) for r in range(1, 65)}
    assert bounds[small.rows] == min(bounds.values())
    assert small.rows > 1
    woven = nw.mechanisms.mwem_mechanism(query, PRIVACY).mechanism
    best = min(replace(woven, rounds=r).within(Fraction(95, 100), 10**5) for r in range(1, 400))
    assert woven.within(Fraction(95, 100), 10**5) <= best * Fraction(101, 100)
    assert woven.rounds > 1
    few = nw.mechanisms.mwem_mechanism(asked(2000), PRIVACY).mechanism
    assert few.rounds < woven.rounds


def test_what_depends_on_the_number_of_people_asks_for_it():
    for make in (nw.mechanisms.smalldb_mechanism, nw.mechanisms.mwem_mechanism):
        with pytest.raises(nw.errors.InvalidQueryError, match="people=n"):
            make(asked(None), PRIVACY)
        made = make(asked(None), PRIVACY, 2)
        assert "depends on how many people there are" in made.describe()
        with pytest.raises(nw.errors.InvalidUtilityError, match="people=n"):
            made.half_width("0.95")
        known = make(asked(500), PRIVACY, 2)
        bound = known.half_width("0.95", joint=True)
        assert known.half_width("0.95") == (bound,) * 3
        assert bound >= known.mechanism.within(Fraction(95, 100), 500)
        assert "for 500 people" in known.describe()
        assert float(known.mechanism.expected(nw.ErrorQuantile("0.95")).upper()) >= bound * 0.999


def test_a_choice_among_linear_scores_falls_short_by_its_bound_at_most():
    """The exact chance at many histograms; where two scores tie the others the bound is nearly attained."""
    made = nw.mechanisms.exponential_mechanism(nw.Linear(ROWS), PRIVACY).mechanism
    limit, c = float(made.within(Fraction(9, 10), 10**6)), float(made.scale)
    assert limit == pytest.approx(2 * c * math.log(2 * 0.9 / 0.1))
    rng = np.random.default_rng(8)
    for _ in range(200):
        scores = np.array(ROWS) @ rng.integers(0, 30, 4)
        weights = np.exp((scores - scores.max()) / (2 * c))
        assert weights[scores < scores.max() - limit].sum() / weights.sum() <= 0.1


POINTS: list[tuple[Any, Any]] = [(0, 0), (1, 0), (5, 5), (9, 1)]
OWN = nw.Choice(["a", "b", "c"], sensitivity="3/2", exact=True)


def test_scores_of_ones_own_are_private_pair_by_pair():
    """Every log-ratio at the scores that a change moves the most, by hand."""
    privacy = nw.MetricPrivacy(nw.metrics.Euclidean(POINTS, "1/2"))
    moves = nw.metrics.SmoothThreshold(POINTS, within=2, epsilon="1/3")
    certified = nw.mechanisms.exponential_mechanism(OWN, privacy, moves=moves)
    made, tight = certified.mechanism, False
    for i, j in product(range(4), repeat=2):
        if i == j:
            continue
        step = 1.5 * math.sqrt(lower_squared(moves, i, j))
        budget = math.sqrt(lower_squared(privacy.metric, i, j))
        before, after = {"a": 0, "b": 0, "c": 0}, {"a": step, "b": -step, "c": -step}
        p, q = (np.exp(np.array(list(s.values())) / (2 * float(made.scale))) for s in (before, after))
        ratios = np.abs(np.log(p / p.sum()) - np.log(q / q.sum()))
        assert ratios.max() <= budget * (1 + 1e-9)
        tight = tight or step / float(made.scale) > budget * 0.999
    assert tight
    with pytest.raises(nw.errors.UncertifiedError, match="apart costs more"):
        certify(replace(made, scale=made.scale * Fraction(999, 1000)), privacy)
    with pytest.raises(nw.errors.UncertifiedError, match="4 elements, the declared moves 3"):
        certify(replace(made, moves=nw.metrics.Hamming(3, 1)), privacy)


def test_scores_of_ones_own_are_drawn_with_their_weights():
    certified = nw.mechanisms.exponential_mechanism(OWN, PRIVACY, moves=LINE)
    assert certified.mechanism.scale == Fraction(3, 2)
    weights = np.exp(np.array([2.0, 5.0, 0.5]) / 3)
    drawn = [certified.release({"a": 2, "b": "5", "c": Fraction(1, 2)}) for _ in range(3000)]
    for name, p in zip("abc", weights / weights.sum(), strict=True):
        # Five and a half deviations: a false alarm once in ten million.
        assert abs(drawn.count(name) - 3000 * p) <= 5.5 * math.sqrt(3000 * p * (1 - p))
    assert "at most 1.5 times the distances of 4 elements" in " ".join(certified.explain().split())
    missed = certified.mechanism.expected(nw.ErrorQuantile("0.9"))
    assert float(missed.mid()) == pytest.approx(3 * math.log(2 * 0.9 / 0.1), rel=1e-9)


def test_without_moves_a_change_may_move_scores_by_the_sensitivity():
    assert nw.mechanisms.exponential_mechanism(OWN, PRIVACY).mechanism.scale == Fraction(3, 2)
    with pytest.raises(nw.errors.InvalidMechanismError, match="exact=True"):
        nw.mechanisms.exponential_mechanism(nw.Choice(["a", "b"]), PRIVACY)
    with pytest.raises(nw.errors.InvalidQueryError, match="scores of your own"):
        nw.mechanisms.exponential_mechanism(nw.Linear(ROWS), PRIVACY, moves=LINE)
    with pytest.raises(nw.errors.InvalidInputError, match="moves is 3"):
        nw.mechanisms.exponential_mechanism(OWN, PRIVACY, moves=3)
    same = nw.metrics.Matrix([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    with pytest.raises(nw.errors.InvalidQueryError, match="distance 0"):
        nw.mechanisms.exponential_mechanism(OWN, nw.MetricPrivacy(same))


def test_the_meta_procedure_carries_choices_by_ones_own_scores_over():
    """With one distance for all it is the ordinary mechanism, epsilon / (2 sensitivity) for each unit of score."""
    ordinary = nw.mechanisms.RandomExponential(OWN, (2,), (1,))
    same = nw.mechanisms.metric_private(ordinary, nw.MetricPrivacy(nw.metrics.Hamming(4, 2))).mechanism
    assert 1 / same.unit == Fraction(2) / (2 * OWN.sensitivity)
    near = nw.mechanisms.exponential_mechanism(OWN, PRIVACY, moves=LINE)
    wider = nw.MetricPrivacy(nw.metrics.Euclidean([[0], [2], [4], [6]]))
    assert nw.mechanisms.metric_private(near, wider).mechanism.scale == Fraction(3, 4)


def test_scores_may_move_freely_where_nothing_is_promised():
    w = "infinite"
    policy = nw.metrics.Matrix([[0, 1, w, w], [1, 0, w, w], [w, w, 0, 2], [w, w, 2, 0]])
    made = nw.mechanisms.exponential_mechanism(OWN, nw.MetricPrivacy(policy), moves=policy)
    assert made.mechanism.scale == Fraction(3, 2)
    with pytest.raises(nw.errors.UncertifiedError, match="elements 0 and 2"):
        certify(MetricChoice(OWN, policy, 10**9), PRIVACY)


@pytest.mark.parametrize("factor", [Fraction(1), Fraction(2, 3)])
def test_metrics_are_compared_exactly(factor):
    """Equal distances are not longer, whatever floats say; a hair more is."""
    first = nw.metrics.Euclidean(POINTS)
    second = nw.metrics.Euclidean(POINTS, factor)
    assert longer(first, second, factor) is None
    assert longer(first, second, factor * (1 + Fraction(1, 10**30))) == (0, 1)
    assert longer(second, first, Fraction(1)) is None
