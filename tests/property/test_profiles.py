"""Every saved mechanism has a profile that goes with its certificate, and every question names its neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.mechanisms.base import MECHANISMS
from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.finite_components import finite_components
from noisewright.problem.privacy import WORDS, adjacency
from noisewright.problem.queries import QUERIES
from noisewright.problem.records import digest
from noisewright.problem.sensitivity import SETS
from noisewright.proof.profiles.base import Profile
from noisewright.proof.profiles.certified import PROFILES, profile_of
from tests.examples import CORPUS, EXAMPLES
from tests.tree import tracked

BITS = 128
FILES = tracked(CORPUS, ".json")
EPSILONS = [Fraction(i, 16) for i in range(40)]
HAIR = 1 + Fraction(1, 1000)
NOTHING = Fraction(1, 10**30)


@cache
def _load(path: Path) -> nw.Certified:
    return nw.Certified.load(path)


def _claims(certificate: nw.Certificate) -> Iterator[tuple[Fraction, Fraction]]:
    """(epsilon, delta) at which the certificate itself bounds delta."""
    held, bound = certificate.requirement, certificate.bound
    if isinstance(held, nw.PureDP):
        yield bound, Fraction(0)
        for epsilon in (Fraction(0), bound / 3):
            with precision():
                top, low = ball(bound).exp(), ball(epsilon).exp()
                yield epsilon, upper((top - low) / (1 + top))
    elif isinstance(held, nw.ApproxDP | nw.ProbabilisticDP):
        yield held.epsilon, bound


def _at(profile: Profile, epsilons: list[Fraction]) -> list[Fraction]:
    return [Fraction(value, 1 << BITS) for value in profile.deltas(epsilons, BITS)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_profile_of_a_saved_mechanism_goes_with_its_certificate(path: Path):
    certified = _load(path)
    held: Any = certified.certificate.requirement
    if isinstance(held, nw.MetricPrivacy) and finite_components(held.metric) is not None:
        with pytest.raises(nw.errors.UncertifiedError, match="infinitely"):
            profile_of(certified.mechanism, certified.certificate)
        return
    profile = profile_of(certified.mechanism, certified.certificate)
    for epsilon, delta in _claims(certified.certificate):
        assert _at(profile, [epsilon])[0] <= HAIR * delta + NOTHING
    found = _at(profile, EPSILONS)
    assert 0 < found[0] <= 1
    assert all(b <= HAIR * a for a, b in pairwise(found))
    assert profile.spread > 0
    if profile.largest is not None:
        assert _at(profile, [profile.largest])[0] <= profile.lost + NOTHING
        assert _at(profile, [profile.largest * Fraction(9, 10)])[0] > profile.lost
    assert hash(profile) == hash(profile_of(certified.mechanism, certified.certificate))
    assert profile.rule
    metric = isinstance(certified.certificate.requirement, nw.MetricPrivacy)
    assert certified.certificate.neighbours == ("metric" if metric else certified.mechanism.relation)


def test_every_kind_of_mechanism_is_among_them():
    kinds = {type(_load(path).mechanism) for path in FILES}
    assert set(PROFILES) <= kinds
    assert {kind for kind in EXAMPLES if kind in set(MECHANISMS.kinds.values())} <= kinds


def test_a_certificate_of_another_mechanism_gives_no_profile():
    one, other = (_load(CORPUS / f"law-{kind}-pure.json") for kind in ("laplace", "logistic"))
    with pytest.raises(nw.errors.UncertifiedError, match="another mechanism"):
        profile_of(one.mechanism, other.certificate)


def _made(kind: Any) -> Any:
    return kind(**EXAMPLES[kind])


def test_every_question_and_every_set_names_its_neighbours():
    named = {kind: _made(kind).neighbours for kind in (*QUERIES.kinds.values(), *SETS.kinds.values())}
    assert set(named.values()) <= set(WORDS)
    assert (named[nw.Scalar], named[nw.Vector], named[nw.Choice]) == ("declared",) * 3
    assert (named[nw.Histogram], named[nw.Workload], named[nw.Linear]) == ("add-remove", "add-remove", "replace")
    assert nw.Histogram(3, replace=True).neighbours == "replace"
    assert nw.Workload([[1, 2]], replace=True).neighbours == "replace"
    assert nw.Vector(nw.Replace([1, 1])).neighbours == "replace"


@pytest.mark.parametrize("stem", ["alike-pure", "laplace-strategy-pure", "linear-laplace-pure", "law-laplace-pure"])
def test_a_description_names_the_neighbours(stem: str):
    certified = _load(CORPUS / f"{stem}.json")
    neighbours = certified.certificate.neighbours
    assert f"Adjacency: {adjacency(neighbours)}." in certified.describe().splitlines()


def test_a_file_that_names_the_wrong_neighbours_is_refused():
    certified = _load(CORPUS / "alike-pure.json")
    data = certified.to_dict()
    assert data["certificate"]["neighbours"] == certified.mechanism.query.neighbours
    for neighbours in (set(WORDS) | {"", None}) - {certified.certificate.neighbours}:
        forged = {**data, "certificate": {**data["certificate"], "neighbours": neighbours}}
        del forged["digest"]
        with pytest.raises(nw.errors.MechanismFileError):
            nw.Certified.from_dict({**forged, "digest": digest(forged)})
