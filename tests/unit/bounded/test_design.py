"""Designing for bounded questions: feasibility, ranking, memory, own functions, columns."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.lab.composite.parameters import enumeration, target_search
from noisewright.mechanisms.bounded.conditional import profile_of, uniform_grid
from noisewright.problem.utilities import SquaredError
from noisewright.proof.bounded import largest_bias
from noisewright.search.bounds.bounded import certified_lower
from noisewright.search.cache import Cache
from noisewright.search.designers.bounded import best_where, closed_forms
from noisewright.search.families.bounded_optimum import solved, variance_floor
from noisewright.search.families.shapes import two_point
from noisewright.search.programmes.bounded import (
    Multipliers,
    Programme,
    check_feasible,
    smallest_epsilon,
    smallest_margin,
    solve,
)
from noisewright.search.programmes.layout import Size, bound_programme, design_programme, output_values
from tests.bounded import question

SMALL: dict[str, Any] = {"inputs": 10, "outputs": 60}


def _scalar(sensitivity: str, low: Fraction, high: Fraction) -> nw.Scalar:
    return nw.Scalar(sensitivity, inputs=(0, 1), outputs=(low, high), unbiased=True)


@pytest.mark.parametrize("sensitivity", ["1", "1/10"])
@pytest.mark.parametrize("epsilon", ["1/2", "1"])
def test_at_the_smallest_margin_a_mechanism_is_returned_and_just_below_it_the_error_names_it(
    sensitivity: str, epsilon: str
):
    margin = smallest_margin(question(sensitivity), Fraction(epsilon))
    report = nw.mechanisms.design_bounded(
        _scalar(sensitivity, -margin, 1 + margin), privacy=nw.PureDP(epsilon), utility=nw.WorstVariance(), **SMALL
    )
    assert report.best.certificate.bound <= Fraction(epsilon)
    short = margin * Fraction(999, 1000)
    for low, high in ((-short, 1 + margin), (-margin, 1 + short), (-short, 1 + short)):
        with pytest.raises(nw.errors.InfeasibleError) as caught:
            nw.design(_scalar(sensitivity, low, high), privacy=nw.PureDP(epsilon), utility=nw.WorstVariance())
        error = caught.value
        assert error.outputs == (-margin, 1 + margin)
        assert Fraction(epsilon) < error.epsilon <= Fraction(epsilon) * Fraction(1003, 1000)
        check_feasible(_bounded(sensitivity, low, high), error.epsilon)
        assert str(float(margin))[:6] in str(error)


def _figures(report: nw.Report) -> list[Any]:
    return [report.bound, *((c.name, c.value, c.gap, c.certified.mechanism.digest) for c in report.candidates)]


def _bounded(sensitivity: str, low: Fraction, high: Fraction):
    found = _scalar(sensitivity, low, high).bounded
    assert found is not None
    return found


def test_outputs_inside_the_inputs_name_no_epsilon():
    query = _bounded("1", Fraction(0), Fraction(1))
    assert smallest_epsilon(query) is None
    with pytest.raises(nw.errors.InfeasibleError, match="no epsilon up to 32"):
        check_feasible(query, Fraction(1))


def test_an_allowed_bias_needs_less_room_and_gains():
    tight = smallest_margin(question(), Fraction(1))
    loose = smallest_margin(question(bias="1/10"), Fraction(1))
    assert loose < tight
    room = str(float(loose) + 0.05)
    report = nw.mechanisms.design_bounded(
        question(margin=room, bias="1/10"), privacy=nw.PureDP(1), utility=nw.WorstVariance(), **SMALL
    )
    winner = report.candidates[0]
    assert 0 < abs(winner.bias) <= 0.1 + 1e-9
    assert report.bound is not None
    assert report.bound <= winner.value
    unbiased = nw.mechanisms.design_bounded(question(), privacy=nw.PureDP(1), utility=nw.WorstVariance(), **SMALL)
    assert winner.value < unbiased.candidates[0].value


def test_the_report_ranks_promises_first_and_shows_the_bias(tmp_path: Path):
    report = nw.mechanisms.design_bounded(
        question(margin="2"), privacy=nw.PureDP(1), utility=nw.WorstVariance(), **SMALL
    )
    names = [c.name for c in report.candidates]
    assert names[0] == "linear programme"
    assert set(names[-2:]) == {"truncated Laplace", "truncated Gaussian"}
    assert {"two-point", "piecewise", "A1B1", "hybrid"} <= set(names)
    values = [c.value for c in report.kept]
    assert values == sorted(values)
    assert report.bound is not None
    assert all(report.bound <= v for v in values)
    assert all(c.bias == 0 for c in report.kept)
    assert all(c.bias != 0 for c in report.candidates[-2:])
    text = str(report)
    assert "bias" in text
    assert "Smallest error at each answer" in text
    stretches = best_where(report)
    assert (stretches[0][0], stretches[-1][1]) == report.query.inputs
    assert report.to_dict()["notes"] == list(report.notes)
    report.plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_a_prior_on_one_answer_is_met_there():
    prior = nw.AverageVariance(prior=[("1/3", 1)])
    at_point = nw.mechanisms.design_bounded(question(), privacy=nw.PureDP(1), utility=prior, **SMALL)
    even = nw.mechanisms.design_bounded(question(), privacy=nw.PureDP(1), utility=nw.AverageVariance(), **SMALL)
    profile = profile_of(even.candidates[0].certified.mechanism)
    assert at_point.candidates[0].value < float(profile.at(Fraction(1, 3), 0))
    assert at_point.bound is not None
    assert at_point.bound <= at_point.candidates[0].value
    with pytest.raises(nw.errors.InvalidUtilityError, match="outside"):
        nw.mechanisms.design_bounded(
            question(), privacy=nw.PureDP(1), utility=nw.AverageVariance(prior=[(2, 1)]), inputs=8, outputs=40
        )


def test_a_sensitivity_that_does_not_divide_the_range():
    query = question("37/101", "2")
    report = nw.mechanisms.design_bounded(query, privacy=nw.PureDP(1), utility=nw.WorstVariance(), inputs=6, outputs=40)
    assert report.candidates[0].name == "linear programme"
    assert report.bound is not None
    assert report.bound <= report.candidates[0].value
    floor = variance_floor(query, Fraction(1), nw.WorstVariance())
    assert float(floor) == pytest.approx((37 / 101) ** 2 * np.e / (np.e - 1) ** 2, rel=1e-12)
    assert report.bound >= floor * (1 - Fraction(1, 10**12))


@pytest.mark.parametrize(
    ("sensitivity", "size"),
    [
        ("0.101", {"inputs": 4, "outputs": 16}),
        pytest.param("0.0101", {"inputs": 8, "outputs": 30}, marks=pytest.mark.soak),
    ],
    ids=["a tenth", "a hundredth"],
)
def test_a_sensitivity_that_is_small_beside_the_range_is_answered(sensitivity: str, size: dict[str, int]):
    small = nw.Scalar(sensitivity, inputs=(0, 1), outputs=(-1, 2), unbiased=True)
    report = nw.mechanisms.design_bounded(small, privacy=nw.PureDP(2), utility=nw.WorstVariance(), **size)
    assert report.best.certificate.bound <= 2
    assert report.candidates[0].value < 0.01


def test_a_sensitivity_that_is_tiny_beside_the_range_is_answered_or_refused_quickly():
    tiny = nw.Scalar("0.0001", inputs=(0, 1), outputs=(-1, 2), unbiased=True)
    report = nw.design(tiny, privacy=nw.PureDP(1), utility=nw.WorstVariance())
    assert report.candidates[0].value < 2e-8
    tight = nw.Scalar("0.0001", inputs=(0, 1), outputs=("-0.00006", "1.00006"), unbiased=True)
    with pytest.raises(nw.errors.InvalidQueryError, match="times the sensitivity"):
        nw.design(tight, privacy=nw.PureDP(1), utility=nw.WorstVariance())


def test_bounds_that_are_not_symmetric_are_used_on_both_sides():
    query = nw.Scalar(1, inputs=(0, 1), outputs=("-0.65", 4), unbiased=True)
    wide = nw.mechanisms.design_bounded(query, privacy=nw.PureDP(1), utility=nw.WorstVariance(), **SMALL)
    tight = nw.mechanisms.design_bounded(
        question(margin="0.65"), privacy=nw.PureDP(1), utility=nw.WorstVariance(), **SMALL
    )
    assert wide.candidates[0].value < tight.candidates[0].value
    assert wide.best.mechanism.value(wide.best.mechanism.last) > 2


def test_far_bounds_get_growing_cells():
    values = output_values(question(margin="1000"), Fraction(1), 100)
    assert values[0] == -1000
    assert values[-1] == 1001
    assert len(values) < 200
    steps = [b - a for a, b in pairwise(values)]
    assert all((s / min(steps)).denominator == 1 for s in steps)


def test_the_bound_holds_at_any_multipliers():
    """Whatever multipliers are given, a certified mechanism is not below the bound: random ones are tried."""
    for sensitivity in ("1", "1/4"):
        asked = question(sensitivity, "2")
        known = solved(asked, Fraction(1), nw.WorstVariance(), Size(8, 30), lambda _: None, Cache(None)).mechanism
        assert known is not None
        best = float(profile_of(known).worst(1))
        programme, _ = bound_programme(
            design_programme(asked, Fraction(1), nw.WorstVariance(), Size(8, 30)), nw.WorstVariance()
        )
        for seed in range(5):
            bound = certified_lower(programme, _random_multipliers(programme, seed))
            assert 0 <= float(bound) <= best
        found = solve(programme, programme.distances**2).multipliers
        assert 0 < float(certified_lower(programme, found)) <= best
        for factor in (1.1, 1.5, 3.0):
            assert float(certified_lower(programme, replace(found, mass=factor * found.mass))) <= best
            first, second, values = found.pairs
            steep = replace(found, mass=factor * found.mass, pairs=(first, second, values + 1.0))
            assert float(certified_lower(programme, steep)) <= best


def _random_multipliers(programme: Programme, seed: int) -> Multipliers:
    generator = np.random.default_rng(seed)
    rows, outs = len(programme.grid.points), len(programme.values)
    pairs = [(i, k) for i in range(rows) for k in range(rows) if i != k and max(i, k) <= programme.reach[min(i, k)]]
    first, second = (np.array([p[s] for p in pairs]) for s in (0, 1))
    counts, mass, mean = generator.random(rows), generator.normal(size=rows) / rows, generator.normal(size=rows)
    return Multipliers(counts, mass, mean, (first, second, generator.random((len(pairs), outs)) / 10))


def test_solutions_are_remembered_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    query, size = question(margin="2"), Size(8, 40)
    told: list[str] = []
    first = solved(query, Fraction(1), nw.WorstVariance(), size, told.append, Cache(tmp_path))
    assert first.mechanism is not None
    assert told == ["solving the linear programme", "proving the bound"]
    told.clear()
    monkeypatch.setattr("noisewright.search.families.bounded_optimum.solve", lambda *_: pytest.fail("solved again"))
    again = solved(query, Fraction(1), nw.WorstVariance(), size, told.append, Cache(tmp_path))
    assert again == first
    assert told[0] == "reading the stored solution"
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    assert Cache(tmp_path).get(file.name.removesuffix(".json.gz"), lambda data: data) is None
    broken = Cache(tmp_path / "a file" / "below")
    (tmp_path / "a file").write_text("in the way")
    nothing = object()
    broken.put("key", nothing, dict)
    assert broken.get("key", lambda data: data) is nothing


def test_the_second_design_solves_nothing_and_is_the_same(monkeypatch: pytest.MonkeyPatch):
    ask: dict[str, Any] = {"privacy": nw.PureDP(1), "utility": nw.WorstVariance(), **SMALL}
    first = nw.mechanisms.design_bounded(question(margin="2"), **ask)
    monkeypatch.setattr("noisewright.search.families.bounded_optimum.solve", lambda *_: pytest.fail("solved again"))
    again = nw.mechanisms.design_bounded(question(margin="2"), **ask)
    assert _figures(again) == _figures(first)


@pytest.mark.parametrize("utility", [nw.Expected(abs, growth=1), "variance"])
def test_other_utilities_are_refused_with_the_way_out(utility):
    with pytest.raises(nw.errors.InvalidUtilityError, match="WorstVariance"):
        nw.mechanisms.design_bounded(question(), privacy=nw.PureDP(1), utility=utility, **SMALL)


def test_squared_error_means_its_worst_case():
    report = nw.mechanisms.design_bounded(question(margin="2"), privacy=nw.PureDP(1), utility=SquaredError(), **SMALL)
    worst = nw.mechanisms.design_bounded(
        question(margin="2"), privacy=nw.PureDP(1), utility=nw.WorstVariance(), **SMALL
    )
    assert _figures(report) == _figures(worst)


@pytest.mark.parametrize("size", [{"inputs": 3}, {"outputs": True}, {"inputs": 5000}])
def test_impossible_grids_are_refused(size: dict):
    with pytest.raises(nw.errors.InvalidQueryError):
        nw.mechanisms.design_bounded(question(), privacy=nw.PureDP(1), utility=nw.WorstVariance(), **size)
    with pytest.raises(nw.errors.InvalidQueryError, match="bounds"):
        nw.mechanisms.design_bounded(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.WorstVariance())


def test_a_persons_own_functions_are_certified_as_steps():
    query = question(margin="10")
    mine = nw.mechanisms.composite_from(
        query, privacy=nw.PureDP(1), activation=lambda u: u * u, width=Fraction(1, 2), base=lambda z: 2 - z / 10
    )
    assert mine.certificate.bound <= 1
    assert -10 <= mine.release(0.5) <= 11
    for wrong in (lambda u: -1.0, lambda u: float("nan"), lambda u: 0.0):
        with pytest.raises(nw.errors.InvalidLawError):
            nw.mechanisms.composite_from(query, privacy=nw.PureDP(1), activation=wrong, width=Fraction(1, 2))
    with pytest.raises(nw.errors.InvalidLawError, match="0 somewhere"):
        nw.mechanisms.composite_from(
            query, privacy=nw.PureDP(1), activation=lambda u: 1.0, width=Fraction(1, 2), base=lambda z: max(0.0, z)
        )
    with pytest.raises(nw.errors.InvalidLawError, match="width"):
        nw.mechanisms.composite_from(query, privacy=nw.PureDP(1), activation=lambda u: 1.0, width=Fraction(2))


def test_any_loss_can_be_minimised():
    query = question(margin="2")
    certified, worst = nw.mechanisms.loss_programme(query, privacy=nw.PureDP(1), loss=abs, size=Size(10, 60))
    squared, _ = nw.mechanisms.loss_programme(query, privacy=nw.PureDP(1), loss=lambda e: e * e, size=Size(10, 60))
    rows = squared.mechanism
    shares = np.array(rows.weights, dtype=float) / rows.total
    distances = np.array([[float(v - x) for v in rows.values] for x in rows.grid.points])
    assert worst <= (shares * np.abs(distances)).sum(axis=1).max() + 1e-9
    assert certified.certificate.bound <= 1
    with pytest.raises(nw.errors.InvalidLossError):
        nw.mechanisms.loss_programme(query, privacy=nw.PureDP(1), loss=lambda e: -1.0, size=Size(4, 10))


def test_a_budget_is_split_where_it_gains_most():
    columns = [
        nw.Scalar(1, inputs=(0, 10), outputs=(-40, 50), unbiased=True),
        nw.Scalar(5, inputs=(0, 5), outputs=(-40, 45), unbiased=True),
    ]
    plan = nw.mechanisms.plan_columns(columns, privacy=nw.PureDP(2), utility=nw.WorstVariance(), inputs=6, outputs=40)
    assert sum(plan.epsilons) == 2
    assert plan.epsilons[1] > plan.epsilons[0]
    assert plan.total == pytest.approx(sum(plan.values))
    first, second = plan.release([3, 4])
    assert -40 <= first <= 50
    assert -40 <= second <= 45
    with pytest.raises(nw.errors.InvalidAnswerError):
        plan.release([3])
    with pytest.raises(nw.errors.InfeasibleError):
        nw.mechanisms.plan_columns(columns, privacy=nw.PureDP("0.05"), utility=nw.WorstVariance())
    with pytest.raises(nw.errors.InvalidQueryError):
        nw.mechanisms.plan_columns([nw.Scalar(1)], privacy=nw.PureDP(1), utility=nw.WorstVariance())


def test_the_local_mean_refuses_what_is_biased_or_too_little():
    local = nw.Certified(
        two_point(question(), Fraction(1)), nw.certify(two_point(question(), Fraction(1)), nw.PureDP(1))
    )
    with pytest.raises(nw.errors.InvalidAnswerError):
        nw.mechanisms.local_mean(local, [1.0])
    noise = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError()).best
    with pytest.raises(nw.errors.InvalidQueryError):
        nw.mechanisms.local_mean(noise, [1.0, 2.0])


def test_answers_outside_the_inputs_are_refused_without_being_told():
    certified = nw.Certified(
        two_point(question(), Fraction(1)), nw.certify(two_point(question(), Fraction(1)), nw.PureDP(1))
    )
    for call in (lambda: certified.release(1.25), lambda: certified.release_many([0.5, 1.25])):
        with pytest.raises(nw.errors.InvalidAnswerError) as caught:
            call()
        assert "1.25" not in str(caught.value)
    with pytest.raises(nw.errors.InvalidAnswerError, match="release"):
        certified.draw(5)
    assert certified.release_many(np.zeros((2, 2))).shape == (2, 2)


def test_the_papers_algorithms_come_close_to_the_exact_optimum():
    found = enumeration("A1", "B1", 1.0, steps=(0.1, 0.01))
    assert found is not None
    assert 0.9175252 <= found.released_variance() <= 0.9175252 * 1.005
    reached = target_search("A1", "B1", 1.0, target=1.2, step=0.1)
    assert reached is not None
    assert reached.released_variance() <= 1.2
    assert target_search("A1", "B1", 1.0, target=0.5, step=0.1) is None


def test_grids_locate_answers_exactly():
    grid = uniform_grid(Fraction(0), Fraction(1), 4)
    assert grid.locate("3/8") == (1, Fraction(1, 2))
    assert grid.locate(1) == (3, Fraction(1))
    assert grid.locate(0.25) == (1, Fraction(0))


def test_noise_gathered_at_the_ends_is_proposed_where_any_bias_is_allowed():
    free = nw.Scalar("1/5", inputs=(0, 1), outputs=(0, 1)).bounded
    assert free is not None
    names, goal = ("inflated Laplace", "inflated Gaussian"), nw.WorstVariance()
    found: dict[str, Any] = dict(closed_forms(free, Fraction(1), goal))
    assert [found[name].ends for name in names] == ["inflated", "inflated"]
    worst = {name: mechanism.profile.worst(1) for name, mechanism in found.items()}
    assert min(worst, key=worst.__getitem__) == "inflated Laplace"
    assert not set(names) & set(closed_forms(replace(free, bias=Fraction(0)), Fraction(1), goal))


def test_a_bias_that_is_allowed_is_used_up_and_not_passed_where_answers_carry_rounding_errors():
    query = nw.Scalar(1, inputs=(0, 2), outputs=(-4, 6), bias="0.2")
    made = two_point(query.bounded, Fraction(1))
    assert nw.certify(made, nw.PureDP(1)).bound <= 1
    assert Fraction(199, 1000) < largest_bias(made) <= Fraction(1, 5)
