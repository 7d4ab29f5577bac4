"""Answers that stay within bounds and are right on average, where a question asks for that.

`inputs` is public knowledge of where the true number of a group lies, `outputs` what every released one stays within.
The true number is clamped to `inputs` before the draw. Rule: clamping to fixed ends brings two numbers no farther
apart, so that one person moves the clamped number by no more than the one before it, and by no more than the width of
`inputs`. [theory#tables-and-contribution-bounds]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.problem.errors import InfeasibleError, InvalidQueryError, SolverError
from noisewright.problem.fields import one_of, only
from noisewright.problem.numbers import show
from noisewright.problem.privacy import LARGEST_EPSILON, ApproxDP, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.problem.queries import Bounded, Scalar
from noisewright.problem.records import record
from noisewright.proof.renyi import pure_to_renyi
from noisewright.release.ask.within import Within, decimal_text, ends_text
from noisewright.release.plan.layout import STRATEGIES, AnswerStrategy, AnswerTable, Proposal
from noisewright.release.plan.noise import errors_of
from noisewright.release.stage.aggregates import AGGREGATES
from noisewright.sample.certified import Certified, make_certified
from noisewright.sample.entropy import Entropy
from noisewright.search.design import design
from noisewright.search.designers.bounded import CLAMPED
from noisewright.search.families.shapes import clamped_noise, stretch

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility

_LARGEST_WHOLE = 10**12
_FINE = 10**9
_HALVINGS = 60
_WIDE = 10
_STRETCHED = Fraction(51, 50)


@record("in-bounds", STRATEGIES, error=InvalidQueryError)
class InBounds(AnswerStrategy):
    """Each group by itself, by the best law on the whole numbers of `outputs` whose mean is the true number.

    Guarantees: every released number lies in the bounds; its mean, over the draw, is the true number of the group
    clamped to the inputs. One number only: each number with bounds has a table of its own.
    """

    number: Any = one_of(AGGREGATES)
    within: Any = only(Within)

    def __post_init__(self) -> None:
        if max(map(abs, (*self.inputs, *self.outputs))) > _LARGEST_WHOLE or self.inputs[0] == self.inputs[1]:
            raise InvalidQueryError(
                f"inputs {ends_text(self.within.inputs)} and outputs {ends_text(self.within.outputs)} on a step of"
                f" {show(self.number.unit)} are no whole numbers of up to 1e12 steps; give another step=."
            )

    @property
    def inputs(self) -> tuple[int, int]:
        """The whole numbers that the true one is clamped to: no narrower than what was said."""
        low, high = self.within.inputs
        return math.floor(low / self.number.unit), math.ceil(high / self.number.unit)

    @property
    def outputs(self) -> tuple[int, int]:
        """The whole numbers that may be released: no wider than what was said."""
        low, high = self.within.outputs
        return math.ceil(low / self.number.unit), math.floor(high / self.number.unit)

    def clamped(self, value: int) -> int:
        """The true number as it is answered: the nearest one of the inputs."""
        return min(max(value, self.inputs[0]), self.inputs[1])

    def query(self, table: AnswerTable) -> Bounded:
        """Rule: one person moves a clamped number by no more than the number, and by no more than its range.
        [theory#tables-and-contribution-bounds]
        """
        low, high = self.inputs
        moved = min(table.sensitivities[0], high - low)
        asked = Scalar(moved, integer=True, inputs=self.inputs, outputs=self.outputs, unbiased=True)
        bounded: Bounded = asked.bounded  # type: ignore[assignment]  # because it has bounds
        return bounded

    def touched(self, table: AnswerTable) -> int:
        return table.groups

    def proposed(self, table: AnswerTable, privacy: Notion, utility: Utility, weights: Sequence[Fraction]) -> Proposal:
        pure, plain = pure_within(privacy), type(utility)()
        found = _wide(self.query(table), pure, plain)
        if found is None:
            try:
                report = design(self.query(table), privacy=pure, utility=plain, progress=False)
            except (InfeasibleError, InvalidQueryError, SolverError) as error:
                raise self._refusal(error, table, pure) from None
            found = Proposal(report.best, report.candidates[0].name, report.why, report.candidates[0].value)
        why = (
            f"{found.why} Every answer lies within {ends_text(self.within.outputs)} and is right on average for true"
            f" answers from {ends_text(self.within.inputs)}, to which they are clamped; the error is that of the true"
            " answer with the largest one."
        )
        return replace(found, why=why, error=found.error * float(weights[0]) * table.grouping.count)

    def _refusal(
        self, error: InfeasibleError | InvalidQueryError | SolverError, table: AnswerTable, pure: PureDP
    ) -> InfeasibleError:
        """What cannot be had, in the units of the question, with the nearest bounds that can."""
        unit, label = self.number.unit, table.questions[0][0].label
        nearest = error.fields.get("outputs")
        least = error.fields.get("epsilon")
        out = None if nearest is None else tuple(end * unit for end in nearest)
        ways = [f"outputs of at least {ends_text(out)}"] if out else ["wider outputs"]
        ways += [f"an epsilon of at least {decimal_text(least)} for each of them"] if least else []
        return InfeasibleError(
            f"answers to {label!r} from {ends_text(self.within.inputs)}, which one person moves by"
            f" {decimal_text(self.query(table).sensitivity * unit)}, cannot be released inside"
            f" {ends_text(self.within.outputs)} and be right on average, at epsilon = {show(pure.epsilon)} for each of"
            f" them; it takes {' or '.join(ways)}. Nothing is spent.",
            outputs=out,
            epsilon=least,
        )

    def drawn(
        self, certified: Certified, table: AnswerTable, part: Sequence[int], entropy: Entropy | None
    ) -> list[int]:
        answers: Any = certified.release_many([self.clamped(value) for value in part], entropy=entropy)
        return [int(value) for value in answers]

    def widths(self, certified: Certified, table: AnswerTable, confidence: Fraction) -> list[Fraction]:
        """Guarantees: whatever the true number in the inputs is, the released one is as near with this confidence."""
        return [Fraction(certified.half_width(confidence))]

    def errors(self, certified: Certified, table: AnswerTable, utility: Utility) -> list[float]:
        """Those of the true number with the largest error."""
        return errors_of(certified.mechanism, utility)


def _wide(query: Bounded, privacy: PureDP, utility: Utility) -> Proposal | None:
    """Clamped noise, where the inputs are many noise scales wide and the outputs leave room; else None.

    A linear programme, which `design` solves beside it up to 40 sensitivities, gains next to nothing there
    (docs/bounded.md) and takes a minute for fine steps.
    """
    rate = min(privacy.epsilon, Fraction(1))
    made = clamped_noise(query, privacy.epsilon, utility) if query.width * rate >= _WIDE * query.sensitivity else None
    if made is None or (wider := stretch(made)) > _STRETCHED:
        return None
    why = (
        f"the inputs are {show(query.width / query.sensitivity)} times as wide as what one person moves, so the noise"
        f" is the best without bounds, wider by at most {float(wider - 1):.1%}, clamped, around the place whose mean is"
        " the answer."
    )
    error = made.shown(utility, made.expected(utility))
    return Proposal(make_certified(made, privacy), CLAMPED, why, error)


def pure_within(privacy: Notion) -> PureDP:
    """The largest pure requirement that is known to keep another one; answers in bounds are proven for pure ones.

    Rule: pure privacy is approximate privacy with any delta, is epsilon^2/2-concentrated, and has at most the
    divergence of randomised response. [BunSteinke16]
    """
    if isinstance(privacy, ZeroConcentratedDP):
        largest = Fraction(math.isqrt(math.floor(2 * privacy.rho * _FINE**2)), _FINE)
        return PureDP(min(largest, LARGEST_EPSILON))
    if isinstance(privacy, RenyiDP):
        keeps, breaks = Fraction(0), LARGEST_EPSILON
        for _ in range(_HALVINGS):
            middle = (keeps + breaks) / 2
            if pure_to_renyi(middle, privacy.alpha) <= privacy.epsilon:
                keeps = middle
            else:
                breaks = middle
        return PureDP(keeps)
    if not isinstance(privacy, PureDP | ApproxDP):
        raise TypeError(f"no plan is made for {type(privacy).__name__}")
    return privacy if isinstance(privacy, PureDP) else PureDP(privacy.epsilon)
