"""Privately chosen groups against exact enumeration: every value of the noise, through the code that releases."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.design import designed
from noisewright.release.plan.layout import ContributionBounds, Layout
from noisewright.release.plan.noise import price_of
from noisewright.release.plan.strategies.selection import (
    SELECTING,
    bounded_noise,
    end_of,
    intervals,
    persons_for,
    publication_chance,
)
from noisewright.release.stage.vector import Unlisted
from tests.statistical.tests_of_fit import FALSE_ALARM, chi_square, two_sided

KEYS = nw.keys("k", private=True)
HALF = Fraction(1, 2)
Law = dict[Any, Fraction]


def chosen(privacy: Any, groups: int = 1) -> tuple[Any, Layout]:
    """The noise of the choice in a plan of one question, and its layout."""
    layout = layout_of([nw.ask.persons(by=KEYS)], ContributionBounds(1, groups, False))
    return designed(layout, privacy, nw.SquaredError(), {}).blocks[0].certified, layout


def released_law(certified: Any, layout: Layout, counts: dict[str, int]) -> Law:
    """Every release of a table with these numbers of persons, with its exact probability."""
    law, table, found = certified.mechanism.law, layout.tables[0], defaultdict[Any, Fraction](Fraction)
    part = [Unlisted({(key,): (count,) for key, count in counts.items()})]
    most = end_of(certified)
    for noise in product(range(-most, most + 1), repeat=len(counts)):
        drawn = SimpleNamespace(
            mechanism=certified.mechanism,
            release_many=lambda answers, entropy, noise=noise: [a + x for a, x in zip(answers, noise, strict=True)],
        )
        (out,) = SELECTING.drawn(drawn, table, part, None)
        found[out] += math.prod((Fraction(law.weight(x), law.total) for x in noise), start=Fraction(1))
    assert sum(found.values()) == 1
    return dict(found)


def lost(one: Law, other: Law, epsilon: Fraction) -> Fraction:
    """The hockey-stick divergence, from above by less than 1e-12: the larger of both directions."""
    factor = Fraction(math.exp(epsilon)) * (1 - Fraction(1, 10**13))
    both = ((one, other), (other, one))
    gone = Fraction(0)
    return max(sum((max(p - factor * b.get(o, gone), gone) for o, p in a.items()), gone) for a, b in both)


TABLES: list[dict[str, int]] = [{}, {"a": 1}, {"a": 2, "b": 1}, {"a": 3}, {"a": 4, "b": 3}, {"b": 6}, {"a": 1, "b": 1}]


@pytest.mark.parametrize("groups", [1, 2])
def test_no_neighbours_can_be_told_apart_by_more_than_delta(groups: int):
    privacy = nw.ApproxDP(2, "0.02")
    certified, layout = chosen(privacy, groups)
    largest = Fraction(0)
    for table in TABLES:
        before = released_law(certified, layout, table)
        for count in range(1, groups + 1):
            for joined in combinations("abc", count):
                after = {key: table.get(key, 0) + (key in joined) for key in {*table, *joined}}
                found = lost(before, released_law(certified, layout, after), privacy.epsilon)
                assert found <= privacy.delta, (table, joined)
                largest = max(largest, found)
    assert price_of(designed(layout, privacy, nw.SquaredError(), {}).blocks, layout).delta(2) <= privacy.delta
    assert largest > Fraction(1, 3) * privacy.delta, "the promise is used, so that a wrong one would be seen"


@pytest.mark.parametrize(("epsilon", "needed"), [(1, 12), ("0.1", 87)])
def test_as_few_persons_are_needed_as_for_any_noise_that_ends(epsilon: Any, needed: int):
    privacy = nw.ApproxDP(epsilon, "1e-5")
    certified, _ = chosen(privacy)
    law, most = certified.mechanism.law, end_of(certified)
    assert persons_for(law, HALF) == needed == most + 1
    assert publication_chance(law, needed) >= HALF > publication_chance(law, needed - 1)
    # The largest masses that any law may have which ends one earlier do not add up to one.
    steps = [float(privacy.delta) * math.exp(float(privacy.epsilon) * j) for j in range(most)]
    assert 2 * math.fsum(steps[:-1]) + steps[-1] < 1 - 1e-9


@pytest.mark.parametrize("epsilon", ["0.2", 1, 5])
@pytest.mark.parametrize("delta", ["1e-8", "1e-5", "0.01"])
def test_one_person_is_published_with_a_chance_of_at_most_delta(epsilon: Any, delta: str):
    certified, _ = chosen(nw.ApproxDP(epsilon, delta))
    law, most = certified.mechanism.law, end_of(certified)
    assert publication_chance(law, 0) == 0
    assert 0 < publication_chance(law, 1) <= Fraction(delta)
    assert publication_chance(law, 1) + Fraction(law.weight(most - 1), law.total) > Fraction(delta), (
        "at least m would not do"
    )
    assert publication_chance(law, 2 * most + 1) == 1 > publication_chance(law, 2 * most)
    assert persons_for(law, Fraction(1)) == 2 * most + 1


def test_published_groups_of_real_releases_are_as_likely_as_enumerated(tmp_path):
    """6,000 groups of three persons in one release: who is published, and with which numbers."""
    size, groups = 3, 6_000
    data = pa.table({"id": range(size * groups), "k": [f"g{i // size}" for i in range(size * groups)]})
    own = nw.Dataset(data, "id", name="x", budget=nw.ApproxDP(5, "0.2"), ledger=tmp_path / "x.ledger")
    plan = own.plan(nw.ask.persons(by=KEYS), privacy=nw.ApproxDP(1, "0.05"))
    law, most = plan.blocks[0].certified.mechanism.law, end_of(plan.blocks[0].certified)
    answers = plan.release().to_pydict()
    published = len(answers["k"])
    right = publication_chance(law, size)
    assert HALF > right > Fraction(1, 10), "both sides can be seen"
    assert two_sided(published, groups, float(right)) > FALSE_ALARM
    for wrong in (publication_chance(law, size - 1), publication_chance(law, size + 1)):
        assert two_sided(published, groups, float(wrong)) < FALSE_ALARM
    values = Counter(int(value) for value in answers["value"])
    assert min(values) == most + 1
    masses = np.array([law.weight(value - size) for value in range(most + 1, most + size + 1)], float)
    seen = np.array([values[value] for value in range(most + 1, most + size + 1)])
    assert seen.sum() == published
    assert chi_square(seen, masses / masses.sum()) > FALSE_ALARM
    assert chi_square(seen, masses[::-1] / masses.sum()) < FALSE_ALARM


@pytest.mark.parametrize("privacy", [nw.ApproxDP(1, "1e-4"), nw.ApproxDP("0.2", "1e-3")])
def test_intervals_cover_among_the_published_whatever_the_truth_is(privacy: nw.ApproxDP):
    law = bounded_noise(privacy, nw.SquaredError()).mechanism.law
    most = len(law.weights) - 1
    ends = intervals(law, range(most + 1, 5 * most))
    assert all(low <= value <= high and low >= 1 for value, (low, high) in ends.items())
    covered = []
    for persons in range(1, 3 * most + 2):
        passed = {persons + x: law.weight(x) for x in range(-most, most + 1) if persons + x > most}
        inside = sum(weight for value, weight in passed.items() if ends[value][0] <= persons <= ends[value][1])
        covered.append(Fraction(inside, sum(passed.values())))
    assert min(covered) >= Fraction(19, 20)
    assert covered[-1] < Fraction(99, 100), "far from the threshold the interval is that of the noise"


def test_what_two_persons_less_or_more_would_do_is_seen_by_the_enumeration():
    """The wrong threshold, planted by hand, is told apart: at least m instead of above it."""
    privacy = nw.ApproxDP(1, "1e-5")
    certified, _ = chosen(privacy)
    law, most = certified.mechanism.law, end_of(certified)
    at_least = sum((Fraction(law.weight(x), law.total) for x in (most - 1, most)), Fraction(0))
    assert float(publication_chance(law, 1)) == pytest.approx(0.8e-5, rel=0.05)
    assert float(at_least) == pytest.approx(2.9e-5, rel=0.05)
