"""Noise for a plan of many equal releases under one total: every family is scaled until the whole plan fits.

The totals come from composed privacy losses (dp-accounting, rounded up) or, for Gaussian noise,
from its exact profile; each release carries its own certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from noisewright.laws.gaussian import Gaussian, GeneralizedGaussian
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.logistic import Logistic
from noisewright.laws.piecewise import staircase
from noisewright.mechanisms.additive import Additive
from noisewright.numerics.bisection import first_true, geometric
from noisewright.numerics.fields import FLOATS
from noisewright.problem.errors import InvalidPrivacyError, InvalidQueryError
from noisewright.problem.privacy import LARGEST_EPSILON, SMALLEST_EPSILON, ApproxDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Scalar
from noisewright.problem.utility import Utility
from noisewright.proof.renyi import renyi_divergence
from noisewright.search.designers.scalar_pure import SCALAR
from noisewright.search.families.approximate import float_value, truncated_staircase
from noisewright.search.families.calibration import GAUSSIAN, calibrated, rounded_up
from noisewright.search.families.composition import loss_distribution, staircase_losses
from noisewright.search.families.staircase import aligned_split, laplace as pure_laplace, tuned_staircase
from noisewright.search.report.designer import Designer, Proposal, check_problem
from noisewright.search.report.report import Report
from noisewright.search.report.shown import Advance
from noisewright.search.report.words import times
from noisewright.search.tools.golden import on_cells

_MOST_RELEASES = 4096
_TOLERANCE = 1e-4
_SEARCH_TOLERANCE = 3e-3
_COARSE = 2_000
_SHARE_OF_DELTA = 4
_POWERS = (Fraction(5, 4), Fraction(3, 2), Fraction(7, 4))


def plan_designer(count: int) -> Designer:
    """Families for `count` equal releases whose total meets the requirement.

    Guarantees: each candidate's single release is certified; its total was composed with pessimistic
    rounding in floats (Gaussian: exact profile, in balls) and is at most the requirement.
    """
    return Designer(SCALAR, partial(_propose, count), check=_check, why=partial(_reason, count))


def _check(query: Any, privacy: Any, utility: Utility) -> None:
    if not isinstance(query, Scalar) or query.integer:
        raise InvalidQueryError("plans of many releases are designed for real-valued Scalar questions.", query=query)
    if not privacy.approximate:
        raise InvalidPrivacyError(
            f"privacy is {privacy!r}; a plan of many releases needs a total of the form nw.ApproxDP(epsilon, delta).",
            privacy=privacy,
        )
    check_problem(query, privacy, utility)


def _propose(count: int, query: Scalar, privacy: ApproxDP, utility: Utility, step: Advance) -> Iterator[Proposal]:
    step("Gaussian and Laplace")
    yield _gaussian(query, privacy, utility, count)
    each = _clamped(_epsilon_of_laplace(privacy, count, _TOLERANCE))
    yield Proposal("Laplace", pure_laplace(query, each, utility), 1, PureDP(each))
    step("staircases")
    each, _ = _epsilon_of_staircase(privacy, utility.scaled(query.sensitivity), count, _TOLERANCE)
    yield Proposal("staircase", tuned_staircase(query, each, utility), 2, PureDP(each))
    if cut := _truncated(query, privacy, utility, count):
        yield cut
    step("smooth families")
    yield from _smooth(query, privacy, utility, count)


def _reason(count: int, report: Report) -> str:
    winner, second = report.candidates[:2]
    ratio = winner.value / second.value if report.utility.larger_is_better else second.value / winner.value
    wins = gaussian_wins_from(report.query, report.privacy, report.utility)
    when = f"from {wins} releases on" if wins else f"for no plan of up to {_MOST_RELEASES} releases"
    behind = f"{times(ratio)} times worse" if ratio > 1.001 else "practically level"
    return (
        f"{winner.name} wins for {count} equal releases with this total: {second.name} noise is next, {behind}."
        f" Gaussian noise beats Laplace and staircase noise {when}. Totals are composed privacy losses,"
        " rounded up; each release is certified by itself."
    )


def gaussian_wins_from(query: Scalar, privacy: ApproxDP, utility: Utility) -> int | None:
    """Smallest number of equal releases from which Gaussian noise beats Laplace and staircases; None up to 4096."""

    def wins(count: int) -> bool:
        spread = calibrated(GAUSSIAN, query.sensitivity, privacy).std
        normal = float_value(Gaussian(spread * rounded_up(math.sqrt(count))), utility)
        rival = _rival(query, privacy, utility, count)
        return normal >= rival if utility.larger_is_better else normal <= rival

    for power in range(_MOST_RELEASES.bit_length()):
        if wins(1 << power):
            return first_true(wins, (1 << power) // 2, 1 << power)
    return None


def _rival(query: Scalar, privacy: ApproxDP, utility: Utility, count: int) -> float:
    """The better of Laplace and staircase noise for the plan, in floats."""
    each = _epsilon_of_laplace(privacy, count)
    laplace_value = float_value(Laplace(query.sensitivity / _clamped(each)), utility)
    epsilon, split = _epsilon_of_staircase(privacy, utility.scaled(query.sensitivity), count)
    law = staircase(epsilon=epsilon, sensitivity=query.sensitivity, split=split)
    stairs = Additive(query, law, Lattice.cells(query.sensitivity / split.denominator))
    better = max if utility.larger_is_better else min
    return better(float(stairs.expected(utility, FLOATS)), laplace_value)


def _largest(fits: Callable[[float], bool], guess: float, tolerance: float = _SEARCH_TOLERANCE) -> float:
    """The largest parameter that fits, to a relative tolerance; the returned one was checked."""
    low, high = guess, guess
    while not fits(low):
        low, high = low / 2, low
        if low < 1e-9:
            raise InvalidPrivacyError("no noise of this family fits so many releases into the total.")
    while high <= low:
        high = low * 2
        if fits(high):
            low = high
    return first_true(fits, high, low, relative=tolerance, middle=geometric)


def _fits(losses: Any, privacy: ApproxDP, count: int) -> bool:
    """Whether so many releases with these losses keep to the total."""
    delta = losses.self_compose(count).get_delta_for_epsilon(float(privacy.epsilon))
    return bool(delta <= float(privacy.delta))


def _first_guess(privacy: ApproxDP, count: int) -> float:
    return float(privacy.epsilon) / math.sqrt(count * (1 + 2 * math.log(1 / float(privacy.delta)) * (count > 1)))


def _epsilon_of_laplace(privacy: ApproxDP, count: int, tolerance: float = _SEARCH_TOLERANCE) -> float:
    from dp_accounting.pld import privacy_loss_distribution

    made = partial(
        privacy_loss_distribution.from_laplace_mechanism,
        value_discretization_interval=float(privacy.epsilon) / _COARSE,
    )
    guess = max(_first_guess(privacy, count), 1e-5)
    return _largest(lambda each: _fits(made(1 / each), privacy, count), guess, tolerance)


def _epsilon_of_staircase(
    privacy: ApproxDP, utility: Utility, count: int, tolerance: float = _SEARCH_TOLERANCE
) -> tuple[Fraction, Fraction]:
    def split_at(each: float) -> Fraction:
        return aligned_split(utility, _clamped(each))[0]

    def fits(each: float) -> bool:
        return _fits(staircase_losses(each, float(split_at(each))), privacy, count)

    each = _largest(fits, max(_first_guess(privacy, count), 1e-5), tolerance)
    return _clamped(each), split_at(each)


def _clamped(epsilon: float) -> Fraction:
    value = Fraction(epsilon).limit_denominator(10**9)
    return min(max(value, SMALLEST_EPSILON), LARGEST_EPSILON)


def _gaussian(query: Scalar, privacy: ApproxDP, utility: Utility, count: int) -> Proposal:
    """Releases with Gaussian noise together are one with a sensitivity sqrt(count) times as large."""
    # The root is rounded up, so the profile is proven for at least the sensitivity of the whole plan.
    std = calibrated(GAUSSIAN, query.sensitivity * rounded_up(math.sqrt(count) * (1 + 1e-12)), privacy).std
    rho = query.sensitivity**2 / (2 * std**2)
    return Proposal("Gaussian", on_cells(query, Gaussian(std), std, utility), 0, ZeroConcentratedDP(rho))


def _truncated(query: Scalar, privacy: ApproxDP, utility: Utility, count: int) -> Proposal | None:
    """A truncated staircase whose ends take a quarter of delta over the whole plan."""
    delta = max(privacy.delta / (_SHARE_OF_DELTA * count), Fraction(1, 10**15))

    def made(each: float) -> Proposal | None:
        single = ApproxDP(_clamped(each), delta)
        law = truncated_staircase(query, single, utility)
        if law is None:
            return None
        return Proposal("truncated staircase", Additive(query, law, Lattice.cells(law.width)), 3, single)

    def fits(each: float) -> bool:
        plan = made(each)
        if plan is None:
            return False
        return _fits(loss_distribution(plan.mechanism, float(plan.requirement.epsilon)), privacy, count)

    try:
        return made(_largest(fits, _first_guess(privacy, count), _TOLERANCE))
    except InvalidPrivacyError:
        return None


def _smooth(query: Scalar, privacy: ApproxDP, utility: Utility, count: int) -> Iterator[Proposal]:
    """Logistic and generalized Gaussian noise; a certificate of one Renyi order goes with each."""
    interval = max(float(privacy.epsilon) / count / 100, float(privacy.epsilon) / 20_000)
    makers: dict[str, Callable[[Fraction], Any]] = {"logistic": Logistic}
    for power in _POWERS:
        makers[f"generalized Gaussian, power {float(power):g}"] = partial(GeneralizedGaussian, power)
    for name, make in makers.items():

        def mechanism(rate: float, make: Callable[[Fraction], Any] = make) -> Additive:
            scale = rounded_up(1 / rate) * query.sensitivity
            return Additive(query, make(scale), Lattice.cells(query.sensitivity / max(2, math.ceil(50 * rate))))

        def fits(rate: float, mechanism: Callable[[float], Additive] = mechanism) -> bool:
            return _fits(loss_distribution(mechanism(rate), interval), privacy, count)

        made = mechanism(_largest(fits, _first_guess(privacy, count)))
        order = Fraction(2)
        yield Proposal(name, made, 4, RenyiDP(order, renyi_divergence(made.law, order, query.sensitivity)[0]))
