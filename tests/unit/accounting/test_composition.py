"""What a composition answers, what it refuses, and how it is saved."""

from __future__ import annotations

import copy
import json
import math
import pickle
from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.accounting.certificate import Bracket, PlanCertificate
from noisewright.accounting.releases import CertifiedRelease, DeclaredNoise, DeclaredPair
from noisewright.laws.gaussian import Gaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.problem.errors import InvalidInputError, InvalidNumberError, MechanismFileError, UncertifiedError
from noisewright.problem.records import digest
from noisewright.sample.certified import make_certified
from tests.compositions import Exact, high, low, response_losses


def laplace(scale="2", sensitivity=1, epsilon="1/2"):
    query = nw.Scalar(sensitivity=sensitivity, exact=True)
    return make_certified(nw.mechanisms.Additive(query, Laplace(scale), Lattice("1/100", 0)), nw.PureDP(epsilon))


def gaussian(std="4"):
    query = nw.Scalar(sensitivity=1, exact=True)
    return make_certified(nw.mechanisms.Additive(query, Gaussian(std), Lattice("1/100", 0)), nw.ApproxDP(1, "1e-3"))


def test_certified_mechanisms_are_composed_with_the_times_they_are_given():
    plan = nw.compose([(laplace(), 3), gaussian(), (gaussian(), 2)])
    assert [(type(thing), times) for thing, times in plan.parts] == [
        (CertifiedRelease, 3),
        (CertifiedRelease, 1),
        (CertifiedRelease, 2),
    ]
    same = nw.compose(["laplace(scale=2) x 3", "gaussian(sigma=4) x 3"])
    assert plan.delta(1) == same.delta(1)
    assert plan.epsilon("1e-6") == same.epsilon("1e-6")
    assert isinstance(plan.delta(1), Fraction)
    assert isinstance(plan.epsilon("1e-6"), Fraction)


def test_ten_releases_are_not_one():
    once, often = nw.compose([(laplace(), 1)]), nw.compose([(laplace(), 10)])
    assert often.delta(1) > once.delta(1) == 0
    assert often.epsilon(0) == 5
    assert once.epsilon(0) == Fraction(1, 2)


def test_the_epsilon_that_is_returned_was_checked():
    plan = nw.compose(["gaussian(sigma=5) x 7", "randomized_response(epsilon=0.2) x 3"])
    for delta in ("1e-2", "1e-5", "1e-11"):
        found = plan.epsilon(delta)
        assert plan.delta(found) <= Fraction(delta)
        assert plan.delta(found * Fraction(99, 100)) > Fraction(delta)
    assert plan.epsilon("0.9") == 0


def test_brackets_hold_the_truth_and_name_their_pair():
    plan = nw.compose(["randomized_response(epsilon=0.2) x 5", "gaussian(sigma=3) x 2"])
    exact = Exact([(response_losses(Fraction(1, 5)), 5)], Fraction(2, 9))
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2)):
        bracket, truth = plan.bracket(epsilon=epsilon), exact.delta(epsilon)
        assert bracket.lower is not None
        assert bracket.lower <= high(truth)
        assert low(truth) <= bracket.upper
        assert bracket.width is not None
        assert 0 <= bracket.width < 0.01
        assert "sensitivity" in bracket.pair
    found = plan.bracket(delta="1e-6")
    assert found.lower is not None
    assert found.lower < found.upper == plan.epsilon("1e-6")
    assert low(exact.delta(found.lower)) > Fraction("1e-6") - Fraction("1e-9")
    assert "1e" not in str(found) or "to" in str(found)


def test_no_lower_end_is_made_up_where_none_is_known():
    plan = nw.compose(["pair(epsilon=0.2, delta=1e-9) x 5", "gaussian(sigma=3)"])
    found = plan.bracket(delta="1e-6")
    assert found.lower is None
    assert found.width is None
    assert found.pair == "none is known for every release"


def test_a_lower_end_above_the_upper_one_is_told_and_not_hidden(monkeypatch):
    plan, larger = nw.compose("gaussian(sigma=3)"), nw.compose("gaussian(sigma=2)")
    curves = larger._curves_below(1)
    monkeypatch.setattr(nw.Composition, "_curves_below", lambda self, place: curves)
    with pytest.raises(UncertifiedError, match="report this problem"):
        plan.bracket(epsilon=1)
    with pytest.raises(UncertifiedError, match="report this problem"):
        plan.bracket(delta="1e-9")


def test_a_bracket_is_of_one_number():
    plan = nw.compose("gaussian(sigma=3)")
    with pytest.raises(InvalidInputError, match="either"):
        plan.bracket()
    with pytest.raises(InvalidInputError, match="either"):
        plan.bracket(epsilon=1, delta="1e-6")
    assert Bracket(None, Fraction(1), "x").width is None
    assert Bracket(Fraction(0), Fraction(0), "x").width == 0


@pytest.mark.parametrize("wrong", [-1, math.nan, math.inf, "x", None, True])
def test_epsilon_and_delta_are_numbers_that_can_be_meant(wrong):
    plan = nw.compose("gaussian(sigma=3)")
    with pytest.raises(InvalidInputError):
        plan.delta(wrong)
    with pytest.raises(InvalidInputError):
        plan.epsilon(wrong)
    with pytest.raises(InvalidInputError):
        plan.renyi(wrong)


def test_a_delta_of_one_or_an_order_of_one_is_refused():
    plan = nw.compose("gaussian(sigma=3)")
    with pytest.raises(InvalidInputError, match="below 1"):
        plan.epsilon(1)
    with pytest.raises(InvalidInputError, match="above 1"):
        plan.renyi(1)


@pytest.mark.parametrize("more", [[], ["laplace(epsilon=1/2)"]])
def test_a_pair_without_an_epsilon_still_costs_its_delta(more: list[str]):
    """Five times nothing is told, but for a chance of a thousandth to tell all."""
    plan, lost = nw.compose(["pair(epsilon=0, delta=1e-3) x 5", *more]), 1 - 0.999**5
    for epsilon in (1, 3):
        assert float(plan.delta(epsilon)) == pytest.approx(lost, rel=1e-9)
        assert plan.delta(epsilon) >= Fraction(lost) * (1 - Fraction(1, 10**12))
    with pytest.raises(UncertifiedError, match="gives everything away"):
        plan.epsilon("4e-3")


def test_what_may_be_lost_altogether_has_no_epsilon():
    plan = nw.compose("pair(epsilon=1, delta=1e-3) x 4")
    with pytest.raises(UncertifiedError, match="gives everything away") as caught:
        plan.epsilon("1e-3")
    assert caught.value.least >= 1 - (1 - Fraction(1, 1000)) ** 4
    assert plan.epsilon("4e-3") <= 4
    assert plan.delta(4) == pytest.approx(1 - 0.999**4, rel=1e-9)
    with pytest.raises(UncertifiedError, match="no finite epsilon"):
        nw.compose("gaussian(sigma=3)").epsilon(0)


def test_renyi_and_concentrated_bounds_add_up():
    plan = nw.compose([(laplace(), 3), ("gaussian(sigma=4)", 5)])
    assert plan.zcdp() == 3 * Fraction(1, 8) + 5 * Fraction(1, 32)
    one = nw.compose("laplace(scale=2)").renyi(2)
    assert plan.renyi(2) == 3 * one + 5 * Fraction(1, 16)
    with pytest.raises(UncertifiedError, match="infinite"):
        nw.compose("pair(epsilon=1, delta=1e-3)").renyi(2)
    with pytest.raises(UncertifiedError, match="infinite"):
        nw.compose("pair(epsilon=1, delta=1e-3)").zcdp()


def test_disjoint_groups_cost_the_worst_of_them_once():
    words = ["gaussian(sigma=3)", "laplace(epsilon=0.5)", "randomized_response(epsilon=0.7)"]
    plan = nw.compose(words, groups=1)
    each = [nw.compose(one) for one in words]
    for epsilon in (0, Fraction(1, 3), Fraction(3, 5), 2):
        worst = max(one.delta(epsilon) for one in each)
        assert worst <= plan.delta(epsilon) <= worst * Fraction(101, 100) + Fraction(1, 10**30)
    assert plan.delta(1) < nw.compose(words).delta(1)
    assert plan.bracket(epsilon="0.1").lower not in (None, 0)


def test_two_groups_are_two_copies_of_the_maximum_and_not_the_two_worst():
    words = ["gaussian(sigma=3)", "laplace(epsilon=0.5)"]
    plan = nw.compose(words, groups=2)
    for epsilon in (0, Fraction(1, 2), 1):
        assert plan.delta(epsilon) >= nw.compose([(words[0], 2)]).delta(epsilon)
        assert plan.delta(epsilon) >= nw.compose([(words[1], 2)]).delta(epsilon)
    assert plan.zcdp() == 2 * Fraction(1, 8)


def test_a_group_may_have_a_plan_of_its_own():
    inner = nw.compose(["gaussian(sigma=5) x 4", "laplace(epsilon=0.1)"])
    plan = nw.compose([inner, ("gaussian(sigma=3)", 2)], groups=1)
    for epsilon in (Fraction(1, 2), 1):
        alone = max(inner.delta(epsilon), nw.compose("gaussian(sigma=3) x 2").delta(epsilon))
        assert alone <= plan.delta(epsilon) <= alone * Fraction(101, 100)
    assert plan.delta("0.5") < nw.compose([inner, ("gaussian(sigma=3)", 2)]).delta("0.5")
    assert nw.compose([(plan, 2)]).delta(1) > plan.delta(1)


def test_plans_in_plans_are_their_releases():
    inner = nw.compose(["gaussian(sigma=5) x 4", "laplace(epsilon=0.1)"])
    twice = nw.compose([(inner, 2), "laplace(epsilon=0.1)"])
    flat = nw.compose(["gaussian(sigma=5) x 8", "laplace(epsilon=0.1) x 3"])
    assert twice.delta(1) == flat.delta(1)
    assert twice.zcdp() == flat.zcdp()


def test_one_more_release_is_the_plan_with_one_more():
    plan = nw.compose("gaussian(sigma=10) x 100")
    plan.delta("0.5")
    more = plan.plus("laplace(epsilon=0.1)", 2)
    at_once = nw.compose(["gaussian(sigma=10) x 100", "laplace(epsilon=0.1) x 2"])
    assert float(more.delta("0.5")) == pytest.approx(float(at_once.delta("0.5")), rel=2e-3)
    assert more.delta("0.5") > plan.delta("0.5")
    assert [times for _, times in more.parts] == [100, 2]
    assert len(plan.parts) == 1
    with pytest.raises(InvalidInputError, match="disjoint groups"):
        nw.compose(["gaussian(sigma=10)"], groups=1).plus("gaussian(sigma=10)")


def test_releases_that_lose_nothing_cost_nothing():
    assert nw.compose([DeclaredPair(0, 0)]).delta(0) == 0
    assert nw.compose([DeclaredPair(0, 0), "gaussian(sigma=3)"]).delta(1) == nw.compose("gaussian(sigma=3)").delta(1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "nothing to compose"),
        ([("gaussian(sigma=1)", 0)], "from 1 to"),
        ([("gaussian(sigma=1)", 10**6 + 1)], "from 1 to"),
        ([("gaussian(sigma=1)", 1.5)], "give a certified mechanism|is no release"),
        (None, "give a certified mechanism"),
        ([{"epsilon": 1}], "give a certified mechanism"),
        (3, "give a certified mechanism"),
    ],
)
def test_what_is_no_release_is_refused(given, words):
    with pytest.raises(InvalidInputError, match=words):
        nw.compose(given)


@pytest.mark.parametrize("groups", [0, -1, 1.5, "2", True])
def test_groups_are_a_whole_number(groups):
    with pytest.raises((InvalidInputError, InvalidNumberError)):
        nw.compose(["gaussian(sigma=1)"], groups=groups)


def test_neighbours_of_different_kinds_are_not_mixed(monkeypatch):
    monkeypatch.setattr(DeclaredPair, "neighbours", "replace")
    with pytest.raises(InvalidInputError, match="declared, replace"):
        nw.compose(["gaussian(sigma=3)", "pair(epsilon=1, delta=0)"])
    plan = nw.compose(["gaussian(sigma=3)", "pair(epsilon=1, delta=0)"], neighbours="replace")
    assert plan.neighbours == "replace"
    with pytest.raises(InvalidInputError, match="add-remove, replace"):
        nw.compose(["pair(epsilon=1, delta=0)"], neighbours="add-remove")
    with pytest.raises(InvalidInputError, match="disjoint groups"):
        nw.compose(["pair(epsilon=1, delta=0)"], groups=1)
    with pytest.raises(InvalidInputError, match="neighbours is"):
        nw.compose(["gaussian(sigma=3)"], neighbours="friends")


def test_a_plan_of_groups_is_about_people_who_come_or_go_and_nothing_relabels_it():
    groups = nw.compose(["gaussian(sigma=1)", "gaussian(sigma=1)"], groups=1)
    assert groups.neighbours == groups.certificate.neighbours == "add-remove"
    assert nw.compose([groups]).neighbours == "add-remove"
    nested = nw.compose([nw.compose([groups])])
    assert nested.neighbours == "add-remove"
    assert nw.compose([groups, "gaussian(sigma=3)"], neighbours="add-remove").neighbours == "add-remove"
    for told in ("replace", "metric", "declared"):
        for inner in (groups, nested):
            with pytest.raises(InvalidInputError, match=f"add-remove, {told}"):
                nw.compose([inner], neighbours=told)
        with pytest.raises(InvalidInputError, match="come or go"):
            nw.compose(["gaussian(sigma=1)"], groups=1, neighbours=told)
        with pytest.raises(InvalidInputError):
            nw.compose(["gaussian(sigma=5)"], neighbours=told).plus(groups)
    with pytest.raises(InvalidInputError, match="add-remove, declared"):
        nw.compose([groups, "gaussian(sigma=3)"])


@pytest.mark.parametrize("told", ["declared", "replace", "metric"])
def test_a_file_does_not_relabel_a_plan_of_groups(told):
    groups = nw.compose(["gaussian(sigma=1)", "gaussian(sigma=1)"], groups=1)
    with pytest.raises(MechanismFileError, match="come or go"):
        nw.Composition.from_dict(sealed({**groups.to_dict(), "neighbours": told}))
    outer = nw.compose([groups]).to_dict()
    with pytest.raises(MechanismFileError, match="different kinds of adjacency"):
        nw.Composition.from_dict(sealed({**outer, "neighbours": told}))
    outer["parts"][0]["plan"] = sealed({**groups.to_dict(), "neighbours": told})
    with pytest.raises(MechanismFileError, match="come or go"):
        nw.Composition.from_dict(sealed({**outer, "neighbours": told}))


def test_compositions_and_their_certificates_come_from_compose_alone():
    plan = nw.compose("gaussian(sigma=3)")
    with pytest.raises(UncertifiedError):
        nw.Composition(object(), plan.parts, None, "declared")
    with pytest.raises(UncertifiedError):
        PlanCertificate(object(), parts=())
    with pytest.raises(UncertifiedError):
        nw.Composition.__init__(plan, object(), plan.parts, None, "declared")
    with pytest.raises(UncertifiedError):
        plan.__setstate__({})
    with pytest.raises(UncertifiedError):
        pickle.dumps(plan.certificate)
    with pytest.raises(AttributeError):
        plan.groups = 2  # type: ignore[misc]
    assert copy.deepcopy(plan) is plan
    text = str(plan.certificate)
    assert "profile/gaussian" in text
    assert "declared" in text
    assert plan.certificate.plan[:12] in text


def sealed(data):
    content = {key: value for key, value in data.items() if key != "digest"}
    return {**content, "digest": digest(content)}


def some_plan(groups=None):
    inner = nw.compose(["gaussian(sigma=9) x 4"])
    return nw.compose([(laplace(), 2), (inner, 1), "randomized_response(epsilon=0.25) x 3"], groups=groups)


@pytest.mark.parametrize("groups", [None, 2])
def test_a_saved_plan_is_proven_again(tmp_path, groups):
    plan = some_plan(groups)
    plan.save(tmp_path / "plan.json")
    back = nw.Composition.load(tmp_path / "plan.json")
    assert back.to_dict() == plan.to_dict()
    assert back.certificate == plan.certificate
    assert back.epsilon("1e-6") == plan.epsilon("1e-6")
    assert pickle.loads(pickle.dumps(plan)).delta(1) == plan.delta(1)  # noqa: S301 -- our own bytes


def edited(data, change):
    made = copy.deepcopy(data)
    change(made)
    return made


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["claims"].__setitem__(0, [d["claims"][0][0], "1/1000"]),
        lambda d: d["parts"][2].__setitem__("times", 400),
        lambda d: d.__setitem__("groups", 3),
        lambda d: d["parts"][2]["release"].__setitem__("epsilon", "1"),
        lambda d: d["grids"][0].__setitem__("unit", "1/1000000000"),
        lambda d: d["grids"][0].__setitem__("unit", "0"),
        lambda d: d["grids"][1].__setitem__("mass_bits", 10**6),
        lambda d: d["grids"][1].__setitem__("mass_bits", "9"),
        lambda d: d["grids"].pop(),
        lambda d: d["parts"].append({"times": 1}),
        lambda d: d["parts"][0].__setitem__("times", 0),
        lambda d: d.__setitem__("parts", 3),
        lambda d: d["claims"].append(["1/10"]),
        lambda d: d["claims"].append(["1/10", "1"]),
        lambda d: d["claims"].pop(),
        lambda d: d["claims"].clear(),
        lambda d: d.__setitem__("claims", None),
        lambda d: d["claims"].__setitem__(0, d["claims"][1]),
        lambda d: d["claims"].__setitem__(0, "12"),
        lambda d: d["parts"][0]["release"]["certified"]["certificate"].__setitem__("bound", "1/9"),
    ],
)
def test_a_plan_that_claims_too_much_or_costs_too_much_is_refused(change):
    data = some_plan().to_dict()
    with pytest.raises(MechanismFileError):
        nw.Composition.from_dict(sealed(edited(data, change)))
    with pytest.raises(MechanismFileError):
        nw.Composition.from_dict(edited(data, change))


def test_a_group_in_a_file_is_not_counted_once_where_it_is_meant_often():
    data = some_plan(2).to_dict()
    often = edited(data, lambda d: d["parts"][0].__setitem__("times", 50))
    with pytest.raises(MechanismFileError, match="each group of a plan"):
        nw.Composition.from_dict(sealed(often))


def test_a_plan_without_any_epsilon_claims_none_and_is_read_back():
    plan = nw.compose("pair(epsilon=1, delta=0.1)")
    assert plan.to_dict()["claims"] == []
    assert nw.Composition.from_dict(plan.to_dict()).delta(1) == plan.delta(1)


def test_a_release_in_a_file_that_hides_nothing_is_refused():
    data = nw.compose("laplace(scale=1)").to_dict()
    data["parts"][0]["release"] = DeclaredNoise(Laplace("1e-300"), 1).to_dict()
    with pytest.raises(MechanismFileError, match="hides nothing"):
        nw.Composition.from_dict(sealed(data))


def test_a_plan_in_a_file_is_plain_json(tmp_path):
    data = some_plan().to_dict()
    assert json.loads(json.dumps(data)) == data
    assert "float" not in {type(value).__name__ for value in data["claims"][0]}


def test_a_plan_shows_its_curve(tmp_path):
    plan = nw.compose(["randomized_response(epsilon=0.5) x 30"])
    plan.plot(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 5000
    assert nw.compose("pair(epsilon=1, delta=1e-3)").plot() is not None


def test_releases_say_what_they_are():
    assert "sensitivity 1" in DeclaredNoise(Gaussian(3), 1).label
    assert DeclaredPair(1, 0, True).label == "randomised response, epsilon 1"
    assert DeclaredPair(1, "1e-3").label == "any (1, 0.001)-private release"
    with pytest.raises(InvalidInputError, match="has no delta"):
        DeclaredPair(1, "1e-3", True)
    assert CertifiedRelease(laplace()).label.startswith("laplace noise, scale 2, certified for pure")


@pytest.mark.parametrize("others", [[], ["laplace(scale=2)"], ["gaussian(sigma=4) x 3", "laplace(scale=2)"]], ids=str)
def test_a_bracket_is_the_same_whichever_way_lopsided_noise_leans(others):
    """Somebody comes or leaves: both orders of the neighbours count, in a plan with symmetric noise as without."""
    query = nw.Scalar(sensitivity=1, exact=True)
    found = []
    for levels in ([2, 1, 0, "5/2"], ["5/2", 0, 1, 2]):
        law = nw.laws.Piecewise(1, 1, [-2, -1, 0, 1, 2], levels, left_cells=1, right_cells=1)
        leaning = make_certified(nw.mechanisms.Additive(query, law, Lattice.cells("1/4")), nw.PureDP(5))
        bracket = nw.compose([*others, leaning]).bracket(epsilon="1/2")
        found.append((bracket.lower, bracket.upper))
    (low_one, high_one), (low_other, high_other) = found
    assert low_one is not None
    assert low_other is not None
    assert low_one == low_other > 0
    assert high_one == high_other
