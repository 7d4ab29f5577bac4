"""Releases in words, and events of another library."""

from __future__ import annotations

import itertools
from fractions import Fraction
from types import SimpleNamespace

import pytest

import noisewright as nw
from noisewright.accounting.parse import parts_of_event, parts_of_words
from noisewright.accounting.releases import DeclaredNoise, DeclaredPair
from noisewright.laws.gaussian import DiscreteGaussian, Gaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.problem.errors import InvalidInputError, MechanismFileError
from noisewright.sample.certified import make_certified


@pytest.mark.parametrize(
    ("text", "release", "times"),
    [
        ("gaussian(sigma=40) x 1000", DeclaredNoise(Gaussian(40), 1), 1000),
        ("Gaussian( sigma = 1/3 , sensitivity=2 )", DeclaredNoise(Gaussian("1/3"), 2), 1),
        ("laplace(epsilon=0.1) x 20", DeclaredNoise(Laplace(10), 1), 20),
        ("laplace(epsilon=0.1, sensitivity=3)*2", DeclaredNoise(Laplace(30), 3), 2),
        ("laplace(scale=7) × 2", DeclaredNoise(Laplace(7), 1), 2),
        ("discrete_laplace(epsilon=0.5, sensitivity=2)", DeclaredNoise(DiscreteLaplace(4), 2), 1),
        ("discrete-laplace(scale=5)", DeclaredNoise(DiscreteLaplace(5), 1), 1),
        ("discrete_gaussian(sigma=3) x 4", DeclaredNoise(DiscreteGaussian(3), 1), 4),
        ("randomized_response(epsilon=1)", DeclaredPair(1, 0, True), 1),
        ("randomised_response(epsilon=1)", DeclaredPair(1, 0, True), 1),
        ("pair(epsilon=1, delta=1e-6) x 1_000", DeclaredPair(1, "1e-6"), 1000),
        ("pair(epsilon=0, delta=0.1)", DeclaredPair(0, "0.1"), 1),
    ],
)
def test_words_name_a_release_and_how_often(text, release, times):
    assert parts_of_words(text) == [(release, times)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gauss(sigma=1)", "no release that is known by name"),
        ("gaussian", "is no release"),
        ("gaussian(sigma=1", "is no release"),
        ("gaussian(sigma=1) y 3", "is no release"),
        ("gaussian(sigma=1) x", "is no release"),
        ("gaussian(sigma=1) x -3", "is no release"),
        ("gaussian(sigma=1) x 0", "from 1 to"),
        ("gaussian(sigma=1) x _", "is no release"),
        ("gaussian(sigma=1) x 1__0", "is no release"),
        ("gaussian(sigma=1) x \u0663", "is no release"),
        ("gaussian(sigma=\u0661)", "is no release"),
        ("gaussian(sigma=1) x " + "9" * 900, "from 1 to"),
        ("gaussian(sigma=1e-400)", "hides nothing"),
        ("laplace(epsilon=1e300)", "hides nothing"),
        ("gaussian()", "not complete"),
        ("gaussian(scale=1)", "each once as name=number"),
        ("gaussian(sigma=1, sigma=2)", "each once"),
        ("gaussian(1)", "each once"),
        ("gaussian(sigma=)", "finite number"),
        ("gaussian(sigma=nan)", "finite number"),
        ("gaussian(sigma=0)", "must be positive"),
        ("laplace(epsilon=1, scale=2)", "not complete"),
        ("laplace(epsilon=-1)", "must be positive"),
        ("pair(epsilon=1)", "not complete"),
        ("pair(epsilon=1, delta=1)", "below 1"),
        ("pair(epsilon=1, delta=-0.1)", "at least 0"),
        ("pair(epsilon=65, delta=0)", "at most 64"),
        ("discrete_laplace(epsilon=1, sensitivity=1/2)", "whole"),
        ("discrete_gaussian(sigma=1, sensitivity=1.5)", "whole"),
        ("x" * 2000, "is no release"),
    ],
)
def test_words_that_name_none_are_refused(text, words):
    with pytest.raises(InvalidInputError, match=words):
        nw.compose([text])


def test_a_file_is_named_by_its_ending(tmp_path):
    query = nw.Scalar(sensitivity=1, exact=True)
    mechanism = nw.mechanisms.Additive(query, Laplace(2), Lattice("1/100", 0))
    make_certified(mechanism, nw.PureDP("1/2")).save(tmp_path / "one x 2.json")
    plan = nw.compose([f"{tmp_path}/one x 2.json x 3"])
    assert plan.epsilon(0) == Fraction(3, 2)
    with pytest.raises(MechanismFileError):
        nw.compose([f"{tmp_path}/none.json"])


def event(name, **fields):
    return type(f"{name}DpEvent", (SimpleNamespace,), {})(**fields)


def test_events_of_dp_accounting_are_read_with_their_counts():
    inner = event("Composed", events=[event("Gaussian", noise_multiplier=2.5), event("NoOp")])
    plan = event(
        "Composed",
        events=[
            event("SelfComposed", event=event("SelfComposed", event=inner, count=3), count=5),
            event("Laplace", noise_multiplier=4),
            event("SelfComposed", event=event("DiscreteLaplace", noise_parameter=0.25, sensitivity=2), count=7),
        ],
    )
    assert parts_of_event(plan) == [
        (DeclaredNoise(Gaussian("2.5"), 1), 15),
        (DeclaredNoise(Laplace(4), 1), 1),
        (DeclaredNoise(DiscreteLaplace(4), 2), 7),
    ]


def test_events_without_a_proof_are_refused():
    for wrong in (
        event("PoissonSampled", event=event("Gaussian", noise_multiplier=1), sampling_probability=0.1),
        event("NonPrivate"),
        event("Gaussian", noise_multiplier=0),
        event("Gaussian", noise_multiplier=float("nan")),
        event("SelfComposed", event=event("Gaussian", noise_multiplier=1), count=1.5),
        event("DiscreteLaplace", noise_parameter=1, sensitivity=0.5),
    ):
        with pytest.raises(InvalidInputError):
            nw.compose(wrong)


def itself(name, field, held=lambda one: one, **more):
    found = event(name, **{field: None}, **more)
    setattr(found, field, held(found))
    return found


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (itself("Composed", "events", lambda one: [one]), "hold themselves"),
        (itself("Composed", "events", lambda one: [one, one]), "hold themselves"),
        (itself("SelfComposed", "event", count=1), "hold themselves"),
        (itself("SelfComposed", "event", count=2), "at most 1000000 times"),
        (event("Composed", events=[event("NoOp")] * 100_001), "more than 100000 events"),
        (event("Composed", events=None), "are of type NoneType"),
        (event("Composed"), "has no events"),
        (event("Gaussian"), "has no noise_multiplier"),
        (event("DiscreteLaplace", noise_parameter=1), "has no sensitivity"),
        (event("SelfComposed", event=event("NoOp")), "has no count"),
        (event("SelfComposed", event=event("NoOp"), count=-1), "from 1 to"),
        (event("SelfComposed", event=event("SelfComposed", event=event("NoOp"), count=-2), count=-3), "from 1 to"),
        ((event("SelfComposed", event=event("Gaussian", noise_multiplier=1), count=1000), 1001), "at most 1000000"),
    ],
)
def test_events_that_have_no_end_or_lack_something_are_refused(wrong, words):
    with pytest.raises(InvalidInputError, match=words):
        nw.compose(wrong)


def test_lists_that_hold_themselves_are_refused():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(InvalidInputError, match="holds itself"):
        nw.compose(endless)
    with pytest.raises(InvalidInputError, match="more than 100000 releases"):
        nw.compose(itertools.repeat("gaussian(sigma=1)"))


@pytest.mark.parametrize("times", [-1, 0, 10**6 + 1])
def test_every_number_of_times_counts_by_itself(times):
    plan = nw.compose("gaussian(sigma=1)")
    for given in ([("gaussian(sigma=1)", times)], [([("gaussian(sigma=1)", -1)], times)]):
        with pytest.raises(InvalidInputError, match="from 1 to"):
            nw.compose(given)
        with pytest.raises(InvalidInputError, match="from 1 to"):
            plan.plus(given, -1)
    with pytest.raises(InvalidInputError, match="from 1 to"):
        plan.plus("gaussian(sigma=1)", times)


def test_events_are_those_of_the_library_itself():
    dp = pytest.importorskip("dp_accounting")
    given = dp.SelfComposedDpEvent(dp.ComposedDpEvent([dp.GaussianDpEvent(40.0), dp.LaplaceDpEvent(10.0)]), 20)
    plan = nw.compose(given)
    assert plan.delta(1) == nw.compose(["gaussian(sigma=40) x 20", "laplace(epsilon=0.1) x 20"]).delta(1)
    discrete = nw.compose(dp.dp_event.DiscreteLaplaceDpEvent(noise_parameter=0.5, sensitivity=1))
    assert discrete.epsilon(0) == Fraction(1, 2)
