"""The programme, its cache and its bound; plans; refusals."""

from __future__ import annotations

import gzip
from fractions import Fraction
from typing import Any

import pytest

import noisewright as nw
from noisewright.numerics.fields import FLOATS
from noisewright.sample.certified import make_certified
from noisewright.search import cache
from noisewright.search.bounds.approximate import Dual, find_dual, proven_bound
from noisewright.search.designers import scalar_approximate
from noisewright.search.designers.plan import gaussian_wins_from
from noisewright.search.families import approximate
from noisewright.search.programmes.approximate import solved_law
from tests.cache_files import content_of, write
from tests.forgery import put

QUERY, CLAIM, LOSS = nw.Scalar(1), nw.ApproxDP("0.5", "0.01"), nw.SquaredError()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NOISEWRIGHT_CACHE", str(tmp_path))
    cache.forget()
    yield tmp_path
    cache.forget()


@pytest.fixture
def solves(monkeypatch) -> list[Any]:
    """The problems that were solved, not looked up."""
    seen: list[Any] = []

    def counted(*problem):
        seen.append(problem)
        return solved_law(*problem)

    monkeypatch.setattr(approximate, "solved_law", counted)
    return seen


def test_solutions_are_kept_in_memory_and_on_disk(folder, solves):
    first = approximate.solve_approximate(QUERY, CLAIM, LOSS)
    assert approximate.solve_approximate(QUERY, CLAIM, LOSS) is first
    (file,) = folder.iterdir()
    assert file.name == f"{approximate.problem_digest(QUERY, CLAIM, LOSS)}.json.gz"
    cache.forget()
    assert approximate.solve_approximate(QUERY, CLAIM, LOSS) == first
    assert len(solves) == 1


def test_a_forged_cache_cannot_weaken_privacy_or_raise_the_bound(folder, solves):
    honest = approximate.solve_approximate(QUERY, CLAIM, LOSS)
    (file,) = folder.iterdir()
    data = content_of(file)
    data["law"]["weights"] = data["law"]["weights"][: len(data["law"]["weights"]) // 2]
    write(file, data)
    cache.forget()
    again = approximate.solve_approximate(QUERY, CLAIM, LOSS)
    assert len(solves) == 2
    assert again.law == honest.law
    data = content_of(file)
    data["dual"]["multipliers"] = [[s, a, b, 3 * v] for s, a, b, v in data["dual"]["multipliers"]]
    write(file, data)
    cache.forget()
    forged = approximate.solve_approximate(QUERY, CLAIM, LOSS)
    assert forged.bound is not None
    assert honest.bound is not None
    assert forged.bound < honest.bound
    assert len(solves) == 2


@pytest.mark.parametrize("times", [2, 40])
def test_repeating_multipliers_in_a_cache_file_cannot_raise_the_bound(folder, times):
    honest = approximate.solve_approximate(QUERY, CLAIM, LOSS)
    assert honest.law is not None
    best = float(honest.law.moment(2, FLOATS))
    (file,) = folder.iterdir()
    data = content_of(file)
    rows = data["dual"]["multipliers"]
    for part in (1, times):
        # Each one stands there several times, whole or in parts that sum to it; delta is charged with their sum.
        forged = [[s, a, b, v / part] for s, a, b, v in rows] * times
        write(file, put(data, ("dual", "multipliers"), forged))
        cache.forget()
        report = nw.design(QUERY, privacy=CLAIM, utility=LOSS)
        assert report.bound is not None
        assert report.bound <= best


def test_parts_of_a_multiplier_prove_what_the_whole_one_does():
    dual = find_dual(QUERY, CLAIM, LOSS)
    assert dual is not None
    parts = [(s, a, b, v / 4) for s, a, b, v in dual.multipliers for _ in range(4)]
    whole = proven_bound(QUERY, CLAIM, LOSS, dual)
    assert proven_bound(QUERY, CLAIM, LOSS, Dual(dual.per, dual.count, dual.edge, parts)) == whole
    assert float(whole) > 0


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("dual", "per"), 0),
        (("dual", "per"), -3),
        (("dual", "count"), 0),
        (("dual", "count"), 10**15),
        (("dual", "edge"), "0"),
        (("dual", "multipliers", 0, 3), 1e999),
        (("dual", "multipliers", 0, 3), float("nan")),
        (("law", "width"), "2/3"),
        (("law", "edge"), "1/2"),
    ],
)
def test_a_cache_file_that_does_not_fit_the_question_is_solved_again(folder, solves, place, value):
    honest = approximate.solve_approximate(QUERY, CLAIM, LOSS)
    (file,) = folder.iterdir()
    write(file, put(content_of(file), place, value))
    cache.forget()
    assert approximate.solve_approximate(QUERY, CLAIM, LOSS) == honest
    assert len(solves) == 2


_CONTENTS = (b"", b"[]", b'{"law": 1}', b"{" * 10_000, b'{"content": {}, "digest": 1}')
DAMAGED = [b"", b"[]", *(gzip.compress(content, mtime=0) for content in _CONTENTS)]


@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_damaged_cache_is_solved_again(folder, solves, damaged):
    honest = approximate.solve_approximate(QUERY, CLAIM, LOSS)
    (file,) = folder.iterdir()
    content = content_of(file)
    file.write_bytes(damaged)
    cache.forget()
    assert approximate.solve_approximate(QUERY, CLAIM, LOSS) == honest
    assert len(solves) == 2
    assert content_of(file) == content


def test_a_file_that_is_too_large_is_not_read(folder, solves, monkeypatch):
    approximate.solve_approximate(QUERY, CLAIM, LOSS)
    cache.forget()
    monkeypatch.setattr(cache, "_LARGEST_FILE", 1000)
    approximate.solve_approximate(QUERY, CLAIM, LOSS)
    assert len(solves) == 2


def test_any_multipliers_give_a_bound_that_holds():
    law = solved_law(QUERY, CLAIM, LOSS)
    assert law is not None
    value = law.moment(2, FLOATS)
    dual = find_dual(QUERY, CLAIM, LOSS)
    assert dual is not None
    best = proven_bound(QUERY, CLAIM, LOSS, dual)
    assert value * 0.998 < float(best) < value
    for factor in (0.0, 0.5, 1.5, 10.0):
        other = Dual(dual.per, dual.count, dual.edge, [(s, a, b, v * factor) for s, a, b, v in dual.multipliers])
        assert proven_bound(QUERY, CLAIM, LOSS, other) <= best * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize(
    ("query", "utility"),
    [
        (nw.Scalar(2), nw.PowerError("1.5")),
        (nw.Scalar(1), nw.PowerError("0.5")),
        (nw.Scalar(1), nw.Usefulness("0.4")),
        (nw.Scalar(3, integer=True), nw.AbsoluteError()),
        (nw.Scalar(2, integer=True), nw.Usefulness(1)),
    ],
    ids=str,
)
@pytest.mark.parametrize("privacy", [nw.ApproxDP(1, "0.001"), nw.ProbabilisticDP("0.7", "0.05")], ids=str)
def test_no_candidate_is_beyond_the_bound(query, utility, privacy, monkeypatch):
    monkeypatch.setenv("NOISEWRIGHT_CACHE", "off")
    report = nw.design(query, privacy=privacy, utility=utility)
    assert report.bound is not None
    for candidate in report.candidates:
        better = candidate.value - report.bound if utility.larger_is_better else report.bound - candidate.value
        assert better <= 1e-9
        assert candidate.certified.certificate.bound <= privacy.delta
    assert report.candidates[0].gap is not None
    assert report.candidates[0].gap < 0.1
    data = report.to_dict()
    assert nw.Certified.from_dict(data["candidates"][0]["certified"]).certificate.requirement == privacy


@pytest.mark.parametrize("privacy", [nw.RenyiDP(3, "0.5"), nw.ZeroConcentratedDP("0.05")], ids=str)
@pytest.mark.parametrize("integer", [False, True])
def test_divergence_requirements_are_used_up(privacy, integer):
    report = nw.design(nw.Scalar(1, integer=integer), privacy=privacy, utility=nw.SquaredError())
    limit = privacy.epsilon if isinstance(privacy, nw.RenyiDP) else privacy.rho
    for candidate in report.candidates:
        assert float(limit) * 0.999 <= float(candidate.certified.certificate.bound) <= limit
    assert report.bound is not None
    assert all(candidate.value >= report.bound for candidate in report.candidates)


def test_losses_of_ones_own_are_refused_with_a_delta():
    with pytest.raises(nw.errors.InvalidUtilityError, match=r"under ApproxDP give one of nw.AbsoluteError"):
        nw.design(QUERY, privacy=CLAIM, utility=nw.Expected(abs, growth=1))


def test_plans_rank_after_composition():
    report = nw.design(QUERY, privacy=nw.ApproxDP(1, "1e-6"), utility=LOSS, compose=60)
    names = [c.name for c in report.candidates]
    assert names.index("Gaussian") < names.index("Laplace")
    assert "60 equal releases" in report.why
    for candidate in report.candidates:
        assert nw.compose([(candidate.certified, 60)]).delta(1) <= Fraction(1, 10**6)


@pytest.mark.parametrize("count", [0, -3, 10**7, 2.5, True, "7"])
def test_plans_of_impossible_length_are_refused(count):
    with pytest.raises(nw.errors.InvalidNumberError, match="equal releases"):
        nw.design(QUERY, privacy=CLAIM, utility=LOSS, compose=count)


def test_the_turning_point_turns():
    privacy = nw.ApproxDP(1, "1e-6")
    count = gaussian_wins_from(QUERY, privacy, LOSS)
    assert count is not None
    std = float(nw.laws.calibrated(nw.laws.GAUSSIAN, 1, privacy).std)

    def laplace_needs(releases: int) -> float:
        """Mean squared error of Laplace noise whose releases compose to the total, by bisection on the scale."""
        low, high = 1.0, 100.0
        while high / low > 1.005:
            scale = (low * high) ** 0.5
            law = nw.laws.Laplace(Fraction(scale).limit_denominator(10**6))
            mechanism = nw.mechanisms.Additive(QUERY, law, nw.laws.Lattice.cells(Fraction(1, 10)))
            certified = make_certified(mechanism, nw.PureDP(1 / law.scale))
            if nw.compose([(certified, releases)]).delta(1) <= Fraction(1, 10**6):
                high = scale
            else:
                low = scale
        return 2 * high**2

    assert count * std**2 <= laplace_needs(count) * 1.01
    assert (count - 1) * std**2 > laplace_needs(count - 1) * 0.9


@pytest.mark.parametrize(
    "powers", [pytest.param(scalar_approximate._POWERS, marks=pytest.mark.soak), ("1.25",)], ids=len
)
def test_a_divergence_that_balls_do_not_enclose_is_not_proven(powers, monkeypatch):
    """Narrow generalized Gaussian noise of power 1.25 on the way to its scale at epsilon = 20 has one."""
    monkeypatch.setattr(scalar_approximate, "_POWERS", tuple(map(Fraction, powers)))
    report = nw.design(nw.Scalar(1), privacy=nw.RenyiDP(4, 20), utility=nw.SquaredError())
    assert any(c.name.startswith("generalized Gaussian") for c in report.candidates)
    assert all(c.certified.certificate.bound <= 20 for c in report.candidates)
