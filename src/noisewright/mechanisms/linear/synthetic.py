"""Choosing and synthesising under metric privacy: the exponential mechanism, SmallDB and MWEM.

All three look at the data only through integer columns of linear scores, as in `linear`. `within` says how far off each
is at most, with a confidence; it is proven, and what `half_width` and the choice of rows and rounds read.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, pairwise

from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.mechanisms.linear.errors import USUAL_PEOPLE
from noisewright.mechanisms.linear.noise import check_columns, sums
from noisewright.numerics.balls import ball, hull, precision, upper
from noisewright.numerics.fields import BALLS, Field, Value
from noisewright.problem.errors import InvalidMechanismError, InvalidUtilityError
from noisewright.problem.fields import PackedMatrix, Rational, Whole, only, rational, whole, whole_matrix
from noisewright.problem.linear import Linear, checked_histogram
from noisewright.problem.numbers import Number
from noisewright.problem.records import record

MOST_CANDIDATES = 200_000


@record(error=InvalidMechanismError)
class _Scored(Mechanism):
    """Integer columns W of linear scores with a common step, and the scale that a budget of one buys."""

    query: Linear = only(Linear)
    columns: PackedMatrix = whole_matrix()
    step: Rational = rational(above=0)
    scale: Rational = rational(above=0)

    def __post_init__(self) -> None:
        check_columns(self.columns, self.query.dimension, self.query.size)

    @property
    def rate(self) -> Fraction:
        """What one integer step of a score costs."""
        return self.step / self.scale

    def scores(self, histogram: Iterable[Number]) -> list[int]:
        """The integer scores W x; they are private."""
        return sums(self.columns, checked_histogram(histogram, self.query.size))

    @abstractmethod
    def within(self, confidence: Fraction, people: int) -> Fraction:
        """How far off the result is at most, with the confidence, for so many people."""

    @property
    def known_people(self) -> int | None:
        """How many people the bound is for; None where the question has to say it and does not."""
        return self.query.people

    def half_width(self, confidence: Fraction, field: Field) -> Value:
        if self.known_people is None:
            raise InvalidUtilityError(
                "how far off synthetic answers are depends on how many people there are; give Linear(..., people=n)."
            )
        far = self.within(confidence, self.known_people)
        return hull(ball(0), ball(far)) if field is BALLS else float(far)

    def rounded_by(self) -> Fraction:
        """The most that a person's contribution to a score is off."""
        worst = Fraction(0)
        for row, wanted, below in zip(self.columns, self.query.numerators, self.query.denominators, strict=True):
            worst = max(worst, *(abs(self.step * w - Fraction(v, below)) for w, v in zip(row, wanted, strict=True)))
        return worst

    def spans(self) -> list[Fraction]:
        """How much two people can differ in each score."""
        return [self.step * (max(row) - min(row)) for row in self.columns]


@record("metric-exponential", MECHANISMS, error=InvalidMechanismError)
class MetricExponential(_Scored):
    """Chooses a row r of the query with probability proportional to e^(score_r / (2 scale))."""

    def log_weights(self, histogram: Iterable[Number]) -> list[Fraction]:
        """Logarithms of the weights of all choices, exactly, up to a common constant."""
        scores = self.scores(histogram)
        top = max(scores)
        return [self.rate * (s - top) / 2 for s in scores]

    @property
    def known_people(self) -> int:
        return self.query.people or USUAL_PEOPLE

    def within(self, confidence: Fraction, people: int) -> Fraction:
        """How far the chosen score lies below the best one.

        Rule: Theorem 4 of the d_X paper with its sign corrected, and the best choice in its sum: k choices that are
        more than g below the best weigh at most k e^(-g / (2 scale)) times as much as it. Rounded columns move each
        score by their bias. [KamalarubanEtAl20, theory#metric-privacy]
        """
        others = self.query.dimension - 1
        with precision():
            odds = ball(others * confidence / (1 - confidence))
            far = upper(2 * ball(self.scale) * odds.log()) if others else Fraction(0)
        return max(Fraction(0), far) + 2 * people * self.rounded_by()


@record("metric-smalldb", MECHANISMS, error=InvalidMechanismError)
class MetricSmallDB(_Scored):
    """Chooses a small database of `rows` people whose answers, scaled to everybody, are close to the true ones.

    The weight of a small database y is e^(-largest |W x - (n / rows) W y| step / (2 scale)), where n
    is the public number of people.
    """

    rows: Whole = whole(at_least=1)

    @property
    def candidates(self) -> int:
        """How many small databases there are."""
        return math.comb(self.query.size + self.rows - 1, self.rows)

    def databases(self) -> Iterator[tuple[int, ...]]:
        """All of them, as histograms."""
        places = self.query.size + self.rows - 1
        for bars in combinations(range(places), self.query.size - 1):
            yield tuple(b - a - 1 for a, b in pairwise((-1, *bars, places)))

    def log_weight(self, scores: list[int], people: int, database: Iterable[int]) -> Fraction:
        """Logarithm of the weight of one small database, exactly."""
        small = sums(self.columns, list(database))
        far = max(abs(s * self.rows - people * t) for s, t in zip(scores, small, strict=True))
        return -self.rate * Fraction(far, 2 * self.rows)

    def within(self, confidence: Fraction, people: int) -> Fraction:
        """How far each answer of the small database, scaled to everybody, is off.

        Rule: Proposition 1 of the d_X paper, with what is known here. Some small database is near: of `rows` people
        drawn from everybody the mean answers are within span sqrt(ln(2K + 1) / (2 rows)) of the true ones with a
        positive chance (Hoeffding, K queries), and shares rounded to whole people move at most N / (4 rows) of them.
        Of M databases one that is 2 scale (ln M + t) worse than the best is chosen with a chance of at most e^-t.
        [KamalarubanEtAl20, Hoeffding63, theory#metric-privacy]
        """
        span, size, count = max(self.spans()), self.query.size, self.query.dimension
        with precision():
            drawn = (ball(2 * count + 1).log() / (2 * self.rows)).sqrt()
            near = min(upper(drawn), Fraction(size, 4 * self.rows), Fraction(1))
            chosen = upper(2 * ball(self.scale) * (ball(self.candidates) / ball(1 - confidence)).log())
        return people * (span * near + 2 * self.rounded_by()) + chosen


@record("metric-mwem", MECHANISMS, error=InvalidMechanismError)
class MetricMWEM(_Scored):
    """Multiplicative weights: `rounds` times choose the worst answered query, measure it, and reweigh.

    Each choice and each measurement uses a share 1/(2 rounds) of every budget. The update compares
    like with like: exponent q_i (measured - q(y)) / (2 n) with the query q itself, divided by its
    largest entry twice, so that the result does not depend on the units of the class.
    """

    rounds: Whole = whole(at_least=1)

    def within(self, confidence: Fraction, people: int) -> Fraction:
        """How far each answer of the synthetic histogram is off.

        Rule: Theorem 8 of the d_X paper for the mechanism as it is drawn. In T rounds let m bound the T measurements'
        noise and g what the T choices fall short of the worst query, all at once with the confidence. Entropy relative
        to the truth starts at ln N at most and falls in each round by a^2 - e^2, a and e the chosen query's error and
        noise over 2 n times its largest entry (Hardt, Ligett and McSherry; e^z <= 1 + z + z^2 up to z = 1.79, so
        m must be below 1.5 n times that entry). So the errors before rounds 2, …, T are at most
        2 n sqrt((T - 1)(ln N + T e^2)) times the largest entry of all, in sum, and (T - 1) g; the histogram after the
        last round may be off by the span. Never worse than the span for everybody.
        [HardtLigettMcSherry12, KamalarubanEtAl20]
        """
        rest, rounds, count = 1 - confidence, self.rounds, self.query.dimension
        sizes = [self.step * max(map(abs, row)) for row in self.columns if any(row)]
        crude, rounding = people * max(self.spans()), 2 * people * self.rounded_by()
        if not sizes or not people:
            return crude + rounding
        with precision():
            unit = 2 * rounds * ball(self.scale)
            noise = unit * (ball(4 * rounds) / ball(rest)).log()
            gap = 2 * unit * (ball(2 * rounds * count) / ball(rest)).log() + ball(self.step)
            if not bool(2 * noise < 3 * people * ball(min(sizes))):
                return crude + rounding
            spread = ball(self.query.size).log() + rounds * (noise / (2 * people * ball(min(sizes)))) ** 2
            sought = 2 * people * ball(max(sizes)) * ((rounds - 1) * spread).sqrt() + (rounds - 1) * gap + ball(crude)
            return min(crude, upper(sought / rounds)) + rounding
