"""The verifier of bounded mechanisms where only one row, one end, one direction or one part is wrong.

Every truth here is worked out by hand or by looking at many places; none comes from the mechanism's own formulas.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, log
from typing import Any

import mpmath
import numpy as np
import pytest

import noisewright as nw
from noisewright.laws.bumps import FLAT, Plateau, Quartic, Steps, Tent
from noisewright.mechanisms.bounded.composite import Blend, Composite
from noisewright.mechanisms.bounded.conditional import Rows, uniform_grid
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.proof.bounded import bounded_ratio, largest_bias
from tests.bounded import question

F = Fraction
LARGE = F(32)


def two_values(wrong_row: int | None, by: int, *, bias: str | None = "0") -> Rows:
    """Rows for the answers 0, 1, 2, 3 on the outputs -3 and 6, each with its answer as mean but for one."""
    query = question("3", "3", inputs=(0, 3), bias=bias)
    weights = [(12 - 2 * i, 6 + 2 * i) for i in range(4)]
    if wrong_row is not None:
        low, high = weights[wrong_row]
        weights[wrong_row] = (low - by, high + by)
    return Rows(query, uniform_grid(F(0), F(3), 3), query.outputs, tuple(weights))


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("row", range(4))
def test_a_bias_of_a_single_row_is_seen_wherever_the_row_stands_and_wherever_it_leans(row, by):
    assert nw.certify(two_values(None, 0), nw.PureDP(1)).rule.endswith("mean")
    leaning = two_values(row, by)
    assert largest_bias(leaning) == F(1, 2), "one eighteenth of the mass moved by 9"
    with pytest.raises(nw.errors.UncertifiedError, match="mean of the release"):
        nw.certify(leaning, nw.PureDP(1))


@pytest.mark.parametrize(("allowed", "accepted"), [("0.499", False), ("0.5", True)])
def test_a_bias_is_allowed_up_to_what_the_question_says(allowed, accepted):
    leaning = two_values(2, -1, bias=allowed)
    if accepted:
        assert nw.certify(leaning, nw.PureDP(1)).bound <= 1
    else:
        with pytest.raises(nw.errors.UncertifiedError, match="mean of the release"):
            nw.certify(leaning, nw.PureDP(1))


SCALE = F(4, 3)


@pytest.mark.parametrize(("moved", "accepted"), [(2, True), (-2, True), (4, False), (-4, False)])
def test_a_trillionth_of_the_range_is_no_bias(moved, accepted):
    """Weights in units of 10^-12 / 9 of the mass move the mean by 10^-12 each; the range is 3."""
    query = question("3", "3", inputs=(0, 3))
    unit = 10**12
    weights = [(unit * (6 - i), unit * (3 + i)) for i in range(4)]
    weights[1] = (weights[1][0] - moved, weights[1][1] + moved)
    mechanism = Rows(query, uniform_grid(F(0), F(3), 3), query.outputs, tuple(weights))
    if accepted:
        assert nw.certify(mechanism, nw.PureDP(1)).rule.endswith("mean")
    else:
        with pytest.raises(nw.errors.UncertifiedError, match="mean of the release"):
            nw.certify(mechanism, nw.PureDP(1))


def cut_off(outputs: tuple[str, str], power: int, bias: float = 1, sensitivity: str = "1/2") -> Truncated:
    """Noise of scale 4/3 around the answers 0, 1/4 … 1, cut off at lopsided bounds."""
    query = nw.Scalar(sensitivity, inputs=(0, 1), outputs=outputs, bias=bias, exact=True).bounded
    assert query is not None
    return Truncated(query, F(power), SCALE, 4, 64)


def _shape(mechanism: Truncated, answer: Fraction) -> Any:
    middle, power = mpmath.mpf(answer.numerator) / answer.denominator, int(mechanism.power)
    return lambda y: mpmath.exp(-((abs(y - middle) / float(SCALE)) ** power))


def _ends(mechanism: Truncated, answer: Fraction) -> list[Any]:
    low, high = mechanism.query.outputs
    return [mpmath.mpf(float(low)), mpmath.mpf(answer.numerator) / answer.denominator, mpmath.mpf(float(high))]


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("outputs", [("-3", "1.25"), ("-0.25", "4")], ids=["room below", "room above"])
def test_the_bias_of_cut_off_noise_is_that_of_its_density(outputs, power):
    mechanism = cut_off(outputs, power)
    biases = []
    for answer in mechanism.grid.points:
        shape, ends = _shape(mechanism, answer), _ends(mechanism, answer)
        mean = mpmath.quad(lambda y, f=shape: y * f(y), ends) / mpmath.quad(shape, ends)
        biases.append(abs(float(mean) - float(answer)))
    assert float(largest_bias(mechanism)) == pytest.approx(max(biases), rel=1e-9)
    assert nw.certify(cut_off(outputs, power, 1.001 * max(biases)), nw.PureDP(LARGE)).rule.endswith("mean")
    with pytest.raises(nw.errors.UncertifiedError, match="mean of the release"):
        nw.certify(cut_off(outputs, power, 0.999 * max(biases)), nw.PureDP(LARGE))


@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("outputs", [("-3", "1.25"), ("-0.25", "4")], ids=["room below", "room above"])
@pytest.mark.parametrize("apart", [1, 2, 4])
def test_the_ratio_of_cut_off_noise_is_the_largest_of_its_densities(outputs, power, apart):
    """Answers up to so many quarters apart, every pair, both ways, at 41 outputs."""
    mechanism = cut_off(outputs, power, sensitivity=str(F(apart, 4)))
    low, high = mechanism.query.outputs
    places = [mpmath.mpf(float(low + (high - low) * F(k, 40))) for k in range(41)]
    logs = []
    for answer in mechanism.grid.points:
        shape = _shape(mechanism, answer)
        total = mpmath.log(mpmath.quad(shape, _ends(mechanism, answer)))
        logs.append([mpmath.log(shape(y)) - total for y in places])
    truth = max(
        a - b for i in range(5) for j in range(5) if abs(i - j) <= apart for a, b in zip(logs[i], logs[j], strict=True)
    )
    assert float(bounded_ratio(mechanism, LARGE)[0]) == pytest.approx(float(truth), rel=1e-12)


def stepped(
    heights: tuple[int, ...],
    sensitivity: str = "1/10",
    *,
    base: Any = FLAT,
    cells: int = 10,
    window: tuple[Fraction, Fraction] = (F(0), F(1)),
) -> Composite:
    """Steps of width 1/5, which one person moves by 7/50 of the ten cells at most."""
    count = len(heights)
    edges = tuple(F(k, 5) - F(count, 10) for k in range(count + 1))
    query = question(sensitivity, "200", bias=None, exact=True)
    return Composite(query, Steps(edges, tuple(map(F, heights))), base, F(1, 2), window, cells, 16)


def flat(z: np.ndarray) -> np.ndarray:
    """The base that is the same everywhere."""
    return np.full(len(z), 0.5)


def brute_ratio(heights: tuple[int, ...], move: Fraction, floor: Any) -> float:
    """Largest ratio of two such densities whose steps are at most `move` apart, at many places and moves."""
    z = (2 * np.arange(401) + 0.5) / 401 - 1
    below = floor(z) / 2
    levels = np.array([0, *heights, 0]) * 5 / sum(heights) / 2

    def density(start: float) -> np.ndarray:
        place = np.clip(np.floor((z - start) * 5), -1, len(heights)).astype(int)
        return np.asarray(below + levels[place + 1])

    free = 2 - len(heights) / 5
    worst = 1.0
    for start in -1 + free * np.linspace(0, 1, 21):
        for other in start + float(move) * np.linspace(0, 1, 11):
            if other <= -1 + free:
                ratios = density(start) / density(other)
                worst = max(worst, float(ratios.max()), float(1 / ratios.min()))
    return log(worst)


@pytest.mark.parametrize(
    "heights",
    [(1, 2, 8), (8, 2, 1), (4, 9, 1), (1, 9, 4), (1,) * 9],
    ids=["cliff behind", "cliff before", "fall", "rise", "low and wide"],
)
def test_nested_steps_cost_their_highest_cliff_whichever_way_it_falls(heights):
    mechanism = stepped(heights)
    move = (2 - F(len(heights), 5)) / 10
    bound, rule = bounded_ratio(mechanism, LARGE)
    assert rule == "pure/nested-steps"
    assert float(bound) == pytest.approx(brute_ratio(heights, move, flat), rel=1e-12)


@pytest.mark.parametrize("heights", [(2, 8, 8, 4), (4, 8, 8, 2)])
def test_a_move_across_two_cliffs_costs_both(heights):
    """Four steps leave 6/5 to move in; a fifth of the answers is 6/25: more than one step is wide, less than two."""
    bound, rule = bounded_ratio(stepped(heights, "1/5"), LARGE)
    assert rule == "pure/nested-steps"
    assert float(bound) == pytest.approx(brute_ratio(heights, F(6, 25), flat), rel=1e-12)


def test_steps_that_only_touch_after_the_largest_move_do_not_meet():
    """Three steps of width 1/5 leave 7/5 to move in; a seventh of the answers is exactly one step."""
    heights = (3, 9, 2)
    bound, _ = bounded_ratio(stepped(heights, "1/7", cells=7), LARGE)
    assert float(bound) == pytest.approx(brute_ratio(heights, F(1, 5), flat), rel=1e-12)


def test_steps_on_a_base_that_is_not_flat_are_not_judged_as_if_it_were():
    top = 5 / (2 * (4 + 0.02))
    mechanism = stepped((1, 2, 8), base=Quartic(F(1, 50)))
    truth = brute_ratio((1, 2, 8), F(7, 50), lambda z: top - top * 0.98 * z**4)
    bound, rule = bounded_ratio(mechanism, LARGE)
    assert rule == "pure/supremum-over-infimum"
    assert float(bound) >= truth


@pytest.mark.parametrize("base", [FLAT, Quartic(F(1, 3))], ids=["flat", "quartic"])
@pytest.mark.parametrize(("bump", "peak"), [(Plateau(F(1, 4)), 2.0), (Tent(F(1, 4)), 4.0)], ids=["plateau", "tent"])
def test_a_composite_density_costs_its_highest_over_its_lowest_point(bump, peak, base):
    query = question("1", "200", bias=None)
    share = F(1, 5)
    top, floor = (0.5, 0.5) if base == FLAT else (5 / (2 * (4 + 1 / 3)), 5 / (2 * (4 + 1 / 3)) / 3)
    bound, _ = bounded_ratio(Composite(query, bump, base, share, query.inputs, 4, 16), LARGE)
    assert float(bound) == pytest.approx(log((0.8 * top + 0.2 * peak) / (0.8 * floor)), rel=1e-12)


def test_a_base_that_is_somewhere_zero_is_refused():
    base = Steps((F(-1), F(0), F(1)), (F(1), F(0)))
    for sensitivity in ("1/10", "1"):
        with pytest.raises(nw.errors.UncertifiedError, match="positive everywhere"):
            nw.certify(stepped((1, 2, 8), sensitivity, base=base), nw.PureDP(LARGE))


def test_more_steps_than_can_be_compared_pair_by_pair_are_refused():
    count = 1001
    steps = Steps(tuple(F(k, 2 * count) for k in range(count + 1)), (F(1),) * count)
    query = question("1/10", "200", bias=None)
    with pytest.raises(nw.errors.UncertifiedError, match="at most 1000"):
        nw.certify(Composite(query, steps, FLAT, F(1, 2), query.inputs, 10, 16), nw.PureDP(LARGE))


@pytest.mark.parametrize("window", [(F(0), F(1, 2)), (F(1, 2), F(1))], ids=["begins alike", "ends alike"])
def test_a_window_that_shares_one_end_with_the_inputs_is_refused(window):
    with pytest.raises(nw.errors.UncertifiedError, match="window"):
        nw.certify(stepped((1, 2, 8), window=window), nw.PureDP(LARGE))


def blend(row_weights: tuple[int, ...], share_of_bump: Fraction, *, bias: str | None = None) -> Blend:
    """Two cells of inputs; the rows give the outputs 0 and 1 of [-200, 201] the weights (w, 12 - w)."""
    query = question("1", "200", bias=bias)
    first = Composite(query, Plateau(F(1, 4)), FLAT, share_of_bump, query.inputs, 2, 16)
    second = Rows(query, first.grid, (F(0), F(1)), tuple((12 - w, w) for w in row_weights))
    return Blend(first, second, F(1, 2))


def test_a_blend_costs_its_dearer_part_whichever_that_is():
    by_rows = blend((1, 6, 11), F(1, 100))
    assert float(bounded_ratio(by_rows, LARGE)[0]) == pytest.approx(log(11))
    by_bump = blend((5, 6, 7), F(1, 2))
    assert float(bounded_ratio(by_bump, LARGE)[0]) == pytest.approx(log((0.25 + 1) / 0.25))
    with pytest.raises(nw.errors.UncertifiedError, match="likelihood ratio"):
        nw.certify(by_rows, nw.PureDP("2.39"))
    with pytest.raises(nw.errors.UncertifiedError, match="likelihood ratio"):
        nw.certify(by_bump, nw.PureDP("1.6"))


def test_a_blend_is_biased_if_its_second_part_is():
    straight = Blend(*_parts(blend((0, 6, 12), F(1, 2), bias="0"), (1, 6, 11)))
    assert largest_bias(straight) == F(1, 12)
    with pytest.raises(nw.errors.UncertifiedError, match="mean of the release"):
        nw.certify(straight, nw.PureDP(LARGE))


def _parts(mixed: Blend, weights: tuple[int, ...]) -> tuple[Composite, Rows, Fraction]:
    rows = Rows(mixed.query, mixed.grid, (F(0), F(1)), tuple((12 - w, w) for w in weights))
    return mixed.first, rows, mixed.share


@pytest.mark.parametrize(("less", "ratio"), [(16, 5), (4, 1.25)])
@pytest.mark.parametrize("column", range(3))
def test_the_worst_output_counts_wherever_it_stands(column, less, ratio):
    """Three outputs; only one of them becomes that much likelier."""
    query = question("1", "3", bias=None)
    rows = [[20, 20, 20], [20, 20, 20]]
    rows[0][column] -= less
    rows[0][(column + 1) % 3] += less // 2
    rows[0][(column + 2) % 3] += less // 2
    mechanism = Rows(query, uniform_grid(F(0), F(1), 1), (F(-1), F(0), F(1)), tuple(map(tuple, rows)))
    bound = bounded_ratio(mechanism, LARGE)[0]
    assert float(bound) == pytest.approx(log(ratio))
    assert nw.certify(mechanism, nw.PureDP(bound)).bound == bound


def test_an_impossible_output_between_possible_ones_is_refused():
    query = question("1", "3", bias=None)
    grid = uniform_grid(F(0), F(1), 4)
    for place in range(5):
        rows = [(4, 8)] * 5
        rows[place] = (0, 12)
        with pytest.raises(nw.errors.UncertifiedError, match="impossible for its neighbour"):
            nw.certify(Rows(query, grid, (F(-1), F(1)), tuple(rows)), nw.PureDP(LARGE))


@pytest.mark.parametrize("ratio", [(7, 3), (3, 7), (10**6, 1)])
def test_the_bound_of_rows_is_not_below_the_logarithm_to_sixty_digits(ratio):
    a, b = ratio
    query = question("1", "3", bias=None)
    total = 2 * (a + b)
    rows = Rows(query, uniform_grid(F(0), F(1), 1), (F(-1), F(1)), ((a, total - a), (b, total - b)))
    bound, _ = bounded_ratio(rows, LARGE)
    with mpmath.workdps(60):
        truth = abs(mpmath.log(mpmath.mpf(a) / b))
        shown = mpmath.mpf(bound.numerator) / bound.denominator
        assert truth <= shown <= truth + mpmath.mpf(2) ** -79


def test_a_claim_at_the_logarithm_itself_is_neither_raised_nor_lowered():
    query = question("1", "3", bias=None)
    rows = Rows(query, uniform_grid(F(0), F(1), 1), (F(-1), F(1)), ((8, 2), (2, 8)))
    just_above = F(log(4)) + F(1, 2**50)
    assert nw.certify(rows, nw.PureDP(just_above)).bound <= just_above
    with pytest.raises(nw.errors.UncertifiedError) as refusal:
        nw.certify(rows, nw.PureDP(F(log(4)) - F(1, 2**50)))
    assert exp(float(refusal.value.bound)) == pytest.approx(4)
    assert F(log(4)) - F(1, 2**50) < refusal.value.bound < just_above
