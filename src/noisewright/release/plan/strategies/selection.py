"""Groups that nobody listed: which of them are published, with a proof, and what is answered about those.

Noise whose values end at m is added to the number of persons of every group, and a group is published, with that noisy
number, where it is strictly above m. A group nobody is in cannot get there, so that nothing has to be drawn for keys
that are not in the table, although they are part of the guarantee.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.laws.lattice import Lattice
from noisewright.laws.tabulated import HALF, Tabulated
from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import InvalidPrivacyError, InvalidQueryError, UncertifiedError
from noisewright.problem.privacy import ApproxDP
from noisewright.problem.queries import Scalar
from noisewright.problem.records import record
from noisewright.release.ask.estimates import Estimate, Interval
from noisewright.release.ask.question import BY_GROUP, Question
from noisewright.release.plan.layout import STRATEGIES, AnswerStrategy, AnswerTable, Numbers, Proposal, kept_whole
from noisewright.release.plan.strategies.by_group import ByGroup
from noisewright.release.stage.aggregates import Aggregate, Persons, Rows
from noisewright.release.table.keys import Row, Value
from noisewright.sample.certified import Certified, make_certified
from noisewright.sample.entropy import Entropy
from noisewright.search.families.approximate import truncated_staircase

if TYPE_CHECKING:
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility

Published = tuple[tuple[Row, tuple[int, ...]], ...]
"""The published groups in the order of their keys, each with its released numbers."""
_BEYOND = 0.025
_ROUNDING = 1 - 1e-9


def private_strategy(question: Question, rows: int) -> AnswerStrategy:
    """How a question about privately chosen groups is answered, where a person has so many rows in a group.

    The number of persons is known from the choice itself; so is that of rows where a person has one in a group.
    """
    if question.strategy != BY_GROUP:
        raise InvalidQueryError(
            f"{question.label!r} needs listed keys; keys that are chosen privately are for count, persons, sum, mean,"
            " variance, proportion and histogram.",
            name=question.label,
        )
    known = {Persons(), Rows()} if rows == 1 else {Persons()}
    return SELECTING if question.grouping.bins is None and set(question.aggregates) <= known else FOLLOWING


@record("selecting", STRATEGIES)
class Selecting(AnswerStrategy):
    """The groups are chosen by their noisy number of persons, which is released with them.

    Rule: let X be noise on the whole numbers from -m to m, private at shift 1. Think of the table with one row for
    every conceivable key and its number of persons, nearly all of them 0. One person moves at most `table.groups` of
    the numbers, each by 1; so all noisy numbers together are as private as `table.groups` draws of X composed, however
    many keys there are. What is released is a function of them: the keys whose noisy number is above m, and these
    numbers. A number of 0 never gets above m, so that drawing for the keys in the table alone gives the same release.
    A group of one person gets above m only where X = m, whose chance is at most delta.
    [KorolovaEtAl09, theory#partition-selection]
    """

    def aggregates(self, questions: Sequence[Question]) -> tuple[Aggregate, ...]:
        return (Persons(),)

    def indices(self, question: Question, aggregates: Sequence[Aggregate]) -> tuple[int, ...]:
        return (0,)

    def query(self, table: AnswerTable) -> Any:
        return Scalar(1, integer=True)

    def fits(self, certified: Certified, table: AnswerTable) -> bool:
        return AnswerStrategy.fits(self, certified, table) and _ends(certified)

    def touched(self, table: AnswerTable) -> int:
        return table.groups

    def proposed(self, table: AnswerTable, privacy: Notion, utility: Utility, weights: Sequence[Fraction]) -> Proposal:
        certified = bounded_noise(require_delta(privacy), utility)
        error = float(certified.mechanism.expected(type(utility)()).mid()) * float(weights[0])
        return Proposal(certified, "truncated staircase", told(certified), error)

    def drawn(self, certified: Certified, table: AnswerTable, part: Numbers, entropy: Entropy | None) -> list[Any]:
        most, listed = end_of(certified), sorted(part[0].items())
        if not listed:
            return [()]
        noisy = certified.release_many([numbers[0] for _, numbers in listed], entropy=entropy)
        passed = [(key, int(value)) for (key, _), value in zip(listed, noisy, strict=True) if int(value) > most]
        ends = intervals(certified.mechanism.law, sorted({value for _, value in passed}))
        return [tuple((key, (value, *ends[value])) for key, value in passed)]

    def stored(self, part: Numbers) -> list[Any]:
        return [written(part[0])]

    def restored(self, table: AnswerTable, part: Numbers) -> list[Any]:
        return [restored(part[0], table, 3)]

    def groups(self, table: AnswerTable, part: Numbers) -> Iterator[tuple[tuple[Any, ...], Sequence[int]]]:
        yield from part[0]

    def estimate(
        self, question: Question, row: Sequence[int], indices: Sequence[int], widths: Sequence[Fraction]
    ) -> Estimate:
        value, low, high = map(Fraction, row)
        return Interval(value, low, high)

    def widths(self, certified: Certified, table: AnswerTable, confidence: Fraction) -> list[Fraction]:
        return [Fraction(certified.half_width(confidence))]

    def errors(self, certified: Certified, table: AnswerTable, utility: Utility) -> list[float]:
        return [float(certified.mechanism.expected(type(utility)()).mid())]


@record("following", STRATEGIES)
class Following(ByGroup):
    """Numbers of groups that were chosen privately before: every conceivable group has a draw of its own.

    Rule: the mechanism is fixed before anything is drawn, and the same for every key. Think of it as drawn for every
    conceivable key and shown for the published ones, which is a function of those draws and of the choice; so the
    choice and all draws together cost no more than their composition, and only the shown ones have to be drawn. A
    published group without a row in this table has zeros. [theory#partition-selection]
    """

    def after(self, table: AnswerTable, part: Numbers, earlier: Sequence[tuple[AnswerTable, Numbers]]) -> Sequence[Any]:
        chosen = [
            own[0]
            for other, own in earlier
            if other.strategy == SELECTING and other.grouping.keys == table.grouping.keys
        ]
        if len(chosen) != 1:
            raise UncertifiedError("groups are chosen once, before anything else is drawn for them; refused.")
        zeros = (0,) * (table.grouping.count * len(table.aggregates))
        return [{key: part[0].get(key, zeros) for key, _ in chosen[0]}]

    def drawn(self, certified: Certified, table: AnswerTable, part: Numbers, entropy: Entropy | None) -> list[Any]:
        shown: Mapping[Row, Sequence[int]] = part[0]
        if not shown:
            return [()]
        noisy = ByGroup.drawn(self, certified, table, [value for own in shown.values() for value in own], entropy)
        each = len(noisy) // len(shown)
        return [tuple((key, tuple(noisy[i * each : (i + 1) * each])) for i, key in enumerate(shown))]

    def stored(self, part: Numbers) -> list[Any]:
        return [written(part[0])]

    def restored(self, table: AnswerTable, part: Numbers) -> list[Any]:
        return [restored(part[0], table, table.grouping.count * len(table.aggregates))]

    def groups(self, table: AnswerTable, part: Numbers) -> Iterator[tuple[tuple[Any, ...], Sequence[int]]]:
        width, bins = len(table.aggregates), table.grouping.bins
        ends: Sequence[tuple[str, ...]] = [(label,) for label in bins.labels] if bins else [()]
        for key, numbers in part[0]:
            for place, end in enumerate(ends):
                yield (*key, *end), numbers[place * width : (place + 1) * width]


SELECTING, FOLLOWING = Selecting(), Following()


def require_delta(privacy: Notion) -> ApproxDP:
    """The requirement, if groups can be chosen privately under it; refuses others."""
    if not isinstance(privacy, ApproxDP):
        raise InvalidPrivacyError(
            f"privacy is {privacy}, and keys that are chosen privately need a delta: what is never published without"
            " a person is published with a chance that is no longer 0. Give nw.ApproxDP(epsilon, delta), or list the"
            " keys: nw.keys(column, [...]).",
            privacy=privacy,
        )
    return privacy


def bounded_noise(privacy: ApproxDP, utility: Utility) -> Certified:
    """Noise on the whole numbers that ends as early as any: certified, with the fewest persons for an even chance.

    Rule: of a symmetric law on -m ... m that is (epsilon, delta)-private at shift 1, the masses from the end inward are
    at most delta, e^epsilon delta, e^(2 epsilon) delta, ...: what exceeds e^epsilon times the next one further out adds
    up to at most delta, and is worth most at the end. The truncated staircase has masses in these ratios; so no
    symmetric law ends before the least m at which they add up to 1. [DesfontainesEtAl22, theory#partition-selection]
    """
    query = Scalar(1, integer=True)
    law = truncated_staircase(query, privacy, type(utility)())
    if law is None:
        raise InvalidPrivacyError(
            f"no group can be chosen privately with {privacy} for each group of a person: thousands of persons would be"
            " needed in it. Give a larger epsilon or delta, fewer groups_per_person, or list the keys.",
            privacy=privacy,
        )
    return make_certified(Additive(query, law, Lattice.integers()), privacy)


def _ends(certified: Certified) -> bool:
    law = getattr(certified.mechanism, "law", None)
    return isinstance(law, Tabulated) and law.edge == HALF and law.width == 1


def end_of(certified: Certified) -> int:
    """The largest value m of the noise, which the noisy number of a published group is above."""
    if not _ends(certified):
        raise UncertifiedError("groups are chosen with noise that ends, and with no other; refused.")
    return len(certified.mechanism.law.weights) - 1


def publication_chance(law: Tabulated, persons: int) -> Fraction:
    """How likely a group of so many persons is to be published: the noise exceeds m - persons."""
    most = len(law.weights) - 1
    return Fraction(sum(law.weight(k) for k in range(max(most - persons + 1, -most), most + 1)), law.total)


def persons_for(law: Tabulated, wanted: Fraction) -> int:
    """The fewest persons of a group that is published with at least this chance."""
    most, found, persons = len(law.weights) - 1, 0, 0
    while found < wanted * law.total:
        found += law.weight(most - persons)
        persons += 1
    return persons


def told(certified: Certified) -> str:
    """What the choice means for groups, in a sentence."""
    law = certified.mechanism.law
    half, most = (persons_for(law, Fraction(share)) for share in ("1/2", "19/20"))
    return (
        f"groups are chosen privately; a group of {half} persons is published with a chance of at least 50 %, of {most}"
        f" persons with 95 %, of one person with {float(publication_chance(law, 1)):.2g}."
    )


def intervals(law: Tabulated, values: Sequence[int]) -> dict[int, tuple[int, int]]:
    """By noisy number, between what and what the true one lies 95 times in 100, among groups that are published.

    Rule: of a group of n persons the published number is n + X given n + X > m. A true n is left out where a number as
    large, or one as small, has a chance of at most 2.5 % in that law; so whatever n is, it is left out at most 5 times
    in 100. In floats: they are no part of a proof, and n is left out only where the chance is clearly below.
    What is far above m is as far from it as that it matters no more, so that no number is too large.
    [theory#partition-selection]
    """
    most = len(law.weights) - 1
    masses = np.array([law.weight(k) / law.total for k in range(-most, most + 1)])
    tail = np.append(np.cumsum(masses[::-1])[::-1], 0.0)

    def at_least(x: NDArray[np.int64]) -> Any:
        return tail[np.clip(x + most, 0, 2 * most + 1)]

    found = {}
    for value in values:
        near = min(value, 3 * most + 1)  # from 2 m + 1 persons on a group is published for sure
        n = np.arange(max(1, near - most), near + most + 1)
        passed = at_least(most - n + 1)
        above, below = at_least(near - n), passed - at_least(near - n + 1)
        kept = n[np.minimum(above, below) > _BEYOND * _ROUNDING * passed]
        found[value] = value - near + int(min([near, *kept])), value - near + int(max([near, *kept]))
    return found


def written(published: Published) -> list[list[list[Any]]]:
    """Published groups as a ledger keeps them: of each the values of its key, and its numbers."""
    return [[[_text(value) for value in key], list(numbers)] for key, numbers in published]


def restored(plain: Iterable[tuple[Iterable[object], Iterable[object]]], table: AnswerTable, count: int) -> Published:
    """Inverse of `written`, for groups of a table with so many numbers each; ValueError or TypeError for others.

    Guarantees: the groups are distinct and in their order, and the keys of each column fit into one column.
    """
    found = tuple((tuple(map(_value, key)), tuple(map(kept_whole, numbers))) for key, numbers in plain)
    if any(len(key) != len(table.grouping.key_columns) or len(numbers) != count for key, numbers in found):
        raise ValueError("these are no groups of the table")
    keys = [key for key, _ in found]
    if not all(_same_type(column) for column in zip(*keys, strict=True)) or any(a >= b for a, b in pairwise(keys)):
        raise ValueError("these are no keys of a table")
    return found


def _same_type(column: Sequence[Value]) -> bool:
    """Whether keys are of one type, and whole numbers within 64 bits."""
    if len(set(map(type, column))) > 1:
        return False
    whole = [value for value in column if isinstance(value, int)]
    low, high = min(whole, default=0), max(whole, default=0)
    return low >= -(2**63) and high < (2**63 if low < 0 else 2**64)


def _text(value: Value) -> str:
    """A key with the letter of its kind before it."""
    if isinstance(value, bool):
        return f"b{value:d}"
    if isinstance(value, date):
        return f"d{value.isoformat()}"
    return f"{'t' if isinstance(value, str) else 'i'}{value}"


def _value(text: object) -> Value:
    kinds: Mapping[str, Any] = {"t": _printed, "i": kept_whole, "d": date.fromisoformat, "b": ("0", "1").index}
    if not isinstance(text, str) or text[:1] not in kinds:
        raise ValueError("this is no key")
    found: Value = kinds[text[0]](text[1:])
    return bool(found) if text[0] == "b" else found


def _printed(text: str) -> str:
    """A text; ValueError for halves of characters, which no frame holds."""
    return text.encode().decode()
