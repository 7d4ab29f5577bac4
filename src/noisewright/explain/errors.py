"""How large the error of each kind of mechanism will be, in sentences."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from typing import Any

from noisewright.laws.lattice import decimals_of
from noisewright.mechanisms.additive import Additive
from noisewright.mechanisms.bounded.clamped import Clamped
from noisewright.mechanisms.bounded.composite import Blend, Composite
from noisewright.mechanisms.bounded.conditional import Conditional, Rows
from noisewright.mechanisms.bounded.truncated import Truncated
from noisewright.mechanisms.linear.noise import ColumnGaussian, LinearElliptical, LinearLaplace
from noisewright.mechanisms.linear.synthetic import MetricExponential, MetricMWEM, MetricSmallDB
from noisewright.mechanisms.linear_gaussian import LinearGaussian
from noisewright.mechanisms.norm_shaped import NormShaped
from noisewright.mechanisms.per_coordinate import IdenticalNoise, PerCoordinate
from noisewright.mechanisms.response import RandomisedResponse
from noisewright.mechanisms.selection import MetricChoice, MinkowskiExponential, PermuteAndFlip, RandomExponential
from noisewright.mechanisms.strategies.strategy import GaussianStrategy, LaplaceStrategy, Strategy
from noisewright.numerics.balls import ball, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import UncertifiedError
from noisewright.problem.numbers import above, show
from noisewright.problem.utilities import AbsoluteError, ErrorQuantile, SquaredError
from noisewright.proof.bounded import largest_bias

_SHOWN = 6
_CONFIDENCE = Fraction(95, 100)


@singledispatch
def describe_error(mechanism: Any) -> list[str]:
    """Sentences about how large the error will be."""
    raise UncertifiedError(f"there is no description for mechanisms of type {type(mechanism).__name__}.")


@describe_error.register
def _error_of_additive(mechanism: Additive) -> list[str]:
    with precision():
        mean_square = mechanism.expected(SquaredError(), BALLS)
        values = (
            mechanism.expected(AbsoluteError(), BALLS),
            mean_square.sqrt(),
            mechanism.expected(ErrorQuantile("0.95"), BALLS),
        )
        shown = [f"{float(v.mid()):.6g}" if v.is_finite() else "infinite" for v in values]
        offset = float(mechanism.bias(BALLS).mid())
    lines = [f"Error: mean absolute {shown[0]}, root mean square {shown[1]}, 95 % of answers within {shown[2]}."]
    if abs(offset) > 1e-9 * float(mechanism.query.sensitivity):
        lines.append(f"Bias: answers are off by {offset:+.6g} on average, because the loss is not symmetric.")
    stretched = "" if mechanism.query.exact else " (times 1 + 2^-24, which absorbs the rounding of computed answers)"
    decimals = None if mechanism.query.integer else decimals_of(mechanism.lattice.step)
    shown_to = "" if decimals is None else f", to {decimals} decimal{'' if decimals == 1 else 's'}"
    lines.append(f"Released values are multiples of {show(mechanism.lattice.step)}{stretched}{shown_to}.")
    if mechanism.query.exact and not mechanism.query.integer:
        lines.append("Answers are declared to be exact: rounding errors of computed floats are not covered.")
    return lines


@describe_error.register(PerCoordinate)
@describe_error.register(NormShaped)
@describe_error.register(LinearGaussian)
def _error_of_several(mechanism: Any) -> list[str]:
    with precision():
        roots = [float(value.mid()) ** 0.5 for value in mechanism.power_means(Fraction(2), BALLS)]
    shown = ", ".join(f"{v:.6g}" for v in roots[:_SHOWN])
    more = f" … ({len(roots)} numbers)" if len(roots) > _SHOWN else ""
    lines = [
        f"Error: root mean square of each number {shown}{more}; all together {sum(v * v for v in roots) ** 0.5:.6g}."
    ]
    free = [i + 1 for i, extent in enumerate(mechanism.query.extents) if not extent]
    if free:
        names = ", ".join(map(str, free[:_SHOWN])) + (" …" if len(free) > _SHOWN else "")
        lines.append(f"No person can change number {names}: released without noise.")
    if isinstance(mechanism, LinearGaussian):
        lines.append(f"The noise of different numbers is correlated; steps of {show(mechanism.step)} in its own frame.")
    return lines


@describe_error.register
def _error_of_alike(mechanism: IdenticalNoise) -> list[str]:
    first, *rest = describe_error(mechanism.part)
    return [first.replace("Error:", "Error of each bin:", 1), *rest]


@describe_error.register(LinearLaplace)
@describe_error.register(LinearElliptical)
@describe_error.register(ColumnGaussian)
def _error_of_linear(mechanism: LinearLaplace | LinearElliptical | ColumnGaussian) -> list[str]:
    with precision():
        roots = [float(v.mid()) ** 0.5 for v in mechanism.variances(BALLS)]
    shown = ", ".join(f"{name} {root:.6g}" for name, root in zip(mechanism.query.names, roots[:12], strict=False))
    more = f" and {len(roots) - 12} more" if len(roots) > 12 else ""
    worst = float(max(mechanism.biases()))
    lines = [f"Error (root mean square of the noise): {shown}{more}."]
    if worst:
        lines.append(f"Bias: each person's contribution is off by at most {worst:.3g}.")
    return lines


@describe_error.register(GaussianStrategy)
@describe_error.register(LaplaceStrategy)
def _error_of_strategy(mechanism: Strategy) -> list[str]:
    total = float(mechanism.expected(SquaredError()).mid())
    weights = sum(float(part.weight) * part.questions for part in mechanism.query.parts)
    kind = "Gaussian" if isinstance(mechanism, GaussianStrategy) else "Laplace"
    return [
        f"Error: root mean square {(total / weights) ** 0.5:.6g} per question, unbiased; {kind} noise on"
        f" {mechanism.rows.groups} group{'s' if mechanism.rows.groups > 1 else ''} of whole rows, answers by least"
        " squares.",
    ]


@describe_error.register(Rows)
@describe_error.register(Composite)
@describe_error.register(Blend)
@describe_error.register(Truncated)
def _error_of_conditional(mechanism: Conditional) -> list[str]:
    grid, query = mechanism.grid, mechanism.query
    with precision():
        rows = sorted({0, grid.last // 2, grid.last})
        errors = [mechanism.moments(i, BALLS)[1].sqrt() for i in rows]
        shown = [f"{float(upper(e)):.6g} at {show(grid.points[i])}" for i, e in zip(rows, errors, strict=True)]
        bias = largest_bias(mechanism)
    if not bias:
        mean = "Mean: exactly the true answer, for every answer in the range."
    elif bias <= query.width / 10**12:
        mean = f"Mean: proven to be within {above(bias)} of the true answer, for every answer in the range."
    else:
        mean = f"Bias: answers are off by up to {above(bias)} on average."
    low, high = mechanism.value(0), mechanism.value(mechanism.last)
    return [
        f"Error: root mean square {', '.join(shown)}.",
        mean,
        f"Released values {'are whole numbers' if query.integer else 'lie'} between {show(low)} and {show(high)}.",
        *mechanism.remarks,
    ]


@describe_error.register
def _error_of_clamped(mechanism: Clamped) -> list[str]:
    low, high = mechanism.query.inputs
    shown = [mechanism.near(x) for x in (low, (low + high) / 2, high)]
    with precision():
        errors = [f"{float(upper(ball(mechanism.variance_at(x)).sqrt())):.6g} at {show(x)}" for x in shown]
    first, last = mechanism.ends
    kind = "whole numbers" if mechanism.query.integer else f"multiples of {show(mechanism.step)}"
    return [
        f"Error: root mean square {', '.join(errors)}.",
        "Mean: exactly the true answer, for every answer in the range.",
        f"Released values are {kind} between {show(first * mechanism.step)} and {show(last * mechanism.step)}.",
    ]


@describe_error.register(RandomExponential)
@describe_error.register(PermuteAndFlip)
def _error_of_choice(mechanism: RandomExponential | PermuteAndFlip) -> list[str]:
    flips = isinstance(mechanism, PermuteAndFlip)
    epsilons = (mechanism.epsilon,) if isinstance(mechanism, PermuteAndFlip) else mechanism.epsilons
    with precision():
        far = upper(mechanism.expected(ErrorQuantile("0.95")))
    return [
        f"Chooses one of {len(mechanism.query.candidates)} candidates, higher scores more often, by"
        f" {'permute-and-flip' if flips else 'the exponential mechanism'} (epsilon {', '.join(map(show, epsilons))}).",
        f"Error: whatever the scores are, the chosen one is with 95 % confidence at most {above(far)} below the best.",
    ]


@describe_error.register
def _error_of_metric_choice(mechanism: MetricChoice) -> list[str]:
    with precision():
        far = upper(mechanism.expected(ErrorQuantile("0.95")))
    return [
        f"Chooses one of {len(mechanism.query.candidates)} candidates, higher scores more often, by the exponential"
        f" mechanism with scale {show(mechanism.scale)}.",
        f"Declared: a person who changes element moves every score by at most {show(mechanism.query.sensitivity)} times"
        f" the {mechanism.moves}.",
        f"Error: whatever the scores are, the chosen one is with 95 % confidence at most {above(far)} below the best.",
    ]


@describe_error.register
def _error_of_minkowski_exponential(mechanism: MinkowskiExponential) -> list[str]:
    return [f"Releases {mechanism.query}, with weight e^(-{show(mechanism.rate)} * distance^{show(mechanism.power)})."]


@describe_error.register
def _error_of_randomised_response(mechanism: RandomisedResponse) -> list[str]:
    return [
        f"Releases a person's own value with probability {show(mechanism.truth)}, each of the other"
        f" {len(mechanism.values) - 1} with {show(mechanism.other)}."
    ]


@describe_error.register
def _error_of_metric_exponential(mechanism: MetricExponential) -> list[str]:
    scale = float(mechanism.scale)
    choices = mechanism.query.dimension
    return [
        f"Chooses one of {choices}: except with probability e^-t its score is within {2 * scale:.4g} (ln {choices} + t)"
        " of the best."
    ]


@describe_error.register
def _error_of_metric_small_db(mechanism: MetricSmallDB) -> list[str]:
    return [
        f"Chooses one of {mechanism.candidates} databases of {mechanism.rows} rows, scaled to everybody.",
        *_how_far(mechanism),
    ]


@describe_error.register
def _error_of_metric_mwem(mechanism: MetricMWEM) -> list[str]:
    return [
        f"Synthetic histogram after {mechanism.rounds} rounds; each measurement has noise of scale"
        f" {float(2 * mechanism.rounds * mechanism.scale):.4g}.",
        *_how_far(mechanism),
    ]


def _how_far(mechanism: MetricSmallDB | MetricMWEM) -> list[str]:
    if mechanism.known_people is None:
        return ["How far off its answers are depends on how many people there are, which the question does not say."]
    far = above(mechanism.within(_CONFIDENCE, mechanism.known_people))
    return [
        f"Error: with 95 % confidence every answer is within {far} of the truth, for {mechanism.known_people} people."
    ]
