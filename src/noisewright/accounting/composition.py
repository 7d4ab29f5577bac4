"""`compose`: a plan of many releases, added up and proven like a mechanism.

The plan fixes the profile of every release before the first answer; questions, order and early stopping may depend
on answers, and nothing that is left unused comes back. What may be chosen later belongs to a filter, not here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from noisewright.accounting.certificate import MAKER, RULE, Bracket, PlanCertificate, PlanPart
from noisewright.accounting.costs import PlanCosts
from noisewright.accounting.curves import Curve, optimistic_pmf, pessimistic_pmf, slack, with_one_more
from noisewright.accounting.grids import DEPTHS, Leaf, LossGrid, choose_grid, require_near
from noisewright.accounting.parse import is_event, parts_of_event, parts_of_words
from noisewright.accounting.releases import RELEASES, CertifiedRelease, LowerPairs, release_from_dict
from noisewright.accounting.render import picture
from noisewright.accounting.structure import (
    DEEPEST,
    MOST_PARTS,
    MOST_TIMES,
    Parts,
    PlanProfile,
    end_of,
    groups_of,
    leaves_of,
    one_adjacency,
    pairs_of,
    require_bearable,
    require_size,
    times_of,
    too_deep,
    too_many_parts,
    total_of,
)
from noisewright.numerics.remembered import Remembered
from noisewright.numerics.special import shortened
from noisewright.problem.errors import InvalidInputError, MechanismFileError, UncertifiedError
from noisewright.problem.fields import exact_text, is_list
from noisewright.problem.matrices import Unchanging
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.privacy import DECLARED
from noisewright.problem.records import digest
from noisewright.problem.untrusted import READING_SECONDS, within
from noisewright.problem.warnings import tell_if_long
from noisewright.proof.profiles.base import Profile
from noisewright.sample.certified import Certified, check_seal, read_file, reading

_DIGITS = 64
_EACH_RELEASE = 0.07
_LESS = "equal releases count once, and epsilon and delta alone take a quarter of it"
_KEPT: Remembered[Any] = Remembered()
_ENDS: Remembered[tuple[Fraction | None, Fraction]] = Remembered()
_SHARED = "every answer moved by its whole sensitivity, to the same side"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, init=False)
class Composition(Unchanging):
    """A plan: what all its releases together give away about one person, proven.

    Guarantees: `delta` and `epsilon` are at or above the truth for every pair of neighbours, in whole numbers and
    balls; instances come from `compose` alone. The plan is fixed before the first answer.

    >>> plan = nw.compose([("laplace(epsilon=0.5)", 2)])
    >>> plan.epsilon(delta=0)
    Fraction(1, 1)
    >>> plan.delta(epsilon=1), plan.zcdp()
    (Fraction(0, 1), Fraction(1, 4))
    """

    parts: tuple[tuple[Any, int], ...]
    groups: int | None
    certificate: PlanCertificate

    def __init__(
        self,
        maker: object,
        parts: tuple[tuple[Any, int], ...],
        groups: int | None,
        neighbours: str,
        grids: tuple[LossGrid, ...] | None = None,
    ) -> None:
        if maker is not MAKER or hasattr(self, "parts"):
            raise UncertifiedError("a composition is made by compose(releases) and by nothing else.")
        if groups is not None and any(times != 1 for _, times in parts):
            raise UncertifiedError("each group of a plan is one release, or one plan of its own; refused.")
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "groups", groups)
        told = tuple(PlanPart(thing.label, times, thing.profile().rule, name_of(thing)) for thing, times in parts)
        if grids is None:
            leaves = self.leaves()
            _ENDS.of(self)[0] = end_of(leaves)
            grids = tuple(choose_grid(leaves, depth) for depth in DEPTHS)
        name = plan_digest([(part.digest, part.times) for part in told], groups, neighbours)
        certificate = PlanCertificate(
            MAKER, parts=told, groups=groups, neighbours=neighbours, grids=grids, rule=RULE, plan=name
        )
        object.__setattr__(self, "certificate", certificate)

    def __setstate__(self, state: Any) -> NoReturn:
        raise UncertifiedError("a composition is proven when it is read; use load, from_dict or pickle.")

    def __reduce__(self) -> tuple[Any, ...]:

        return plan_from_dict, (self.to_dict(),)

    def delta(self, epsilon: Number) -> Fraction:
        """At this epsilon, a delta at or above the least that holds for all releases together."""
        wanted = _not_negative(epsilon, "epsilon")
        value = Fraction(1)
        for depth_index, depth in enumerate(DEPTHS):
            value = self.curve(depth_index).delta(wanted)
            if value >= depth.least:
                break
        end, lost = self.end
        if end is not None and wanted >= end:
            value = min(value, lost)
        return shortened(value, _DIGITS)

    def epsilon(self, delta: Number) -> Fraction:
        """At this delta, an epsilon at or above the least that holds: the end of a bracket that was checked.

        Raises UncertifiedError where no finite epsilon is proven: more than this delta is lost altogether.
        """
        wanted = _delta(delta)
        found = self.curve(_depth_index(wanted)).epsilon(wanted)
        end, lost = self.end
        if end is not None and lost <= wanted:
            found = end if found is None else min(found, end)
        if found is None:
            least = shortened(self.curve(len(DEPTHS) - 1).delta(Fraction(10**6)), 20)
            raise UncertifiedError(
                f"no finite epsilon is proven at delta = {show(wanted)}: with a chance of up to {show(least)} this plan"
                " gives everything away; ask for a larger delta.",
                delta=wanted,
                least=least,
            )
        return found

    def bracket(self, *, epsilon: Number | None = None, delta: Number | None = None) -> Bracket:
        """Between what and what the delta at an epsilon lies, or the epsilon at a delta.

        The lower end belongs to one pair of neighbours that all releases share: every answer is moved by its whole
        sensitivity, to the same side. Where a release has no such pair, it is None. A plan of so many different
        releases that it takes minutes begins with a `LongWorkWarning`.
        """
        if not any(isinstance(depth_index, tuple) for depth_index in _KEPT.of(self)):
            count = len(self.leaves())
            tell_if_long(f"the bracket of {count} different releases", _EACH_RELEASE * count, _LESS)
        if (epsilon is None) == (delta is None):
            raise InvalidInputError("give either epsilon=... or delta=..., the other one is what is bracketed.")
        if epsilon is not None:
            upper = self.delta(epsilon)
            depth_index = next((i for i, depth in enumerate(DEPTHS) if upper >= depth.least), len(DEPTHS) - 1)
            wanted = parameter(epsilon, "epsilon")
            lows = [curve.delta(wanted + moved) for curve, moved in self._curves_below(depth_index)]
        else:
            wanted = _delta(parameter(delta, "delta"))  # type: ignore[arg-type]  # one of the two is given
            upper = self.epsilon(wanted)
            found = [(curve.epsilon(wanted), moved) for curve, moved in self._curves_below(_depth_index(wanted))]
            lows = [max(Fraction(0), low - moved) for low, moved in found if low is not None]
        if not lows:
            return Bracket(None, upper, "none is known for every release")
        if (low := max(lows)) > upper:
            raise UncertifiedError(
                f"the lower end {show(low)} came out above the upper end {show(upper)}, so that one of the proofs is"
                " wrong; use neither, and report this problem.",
                lower=low,
                upper=upper,
            )
        return Bracket(low, upper, _SHARED)

    def renyi(self, alpha: Number) -> Fraction:
        """An upper bound of the Renyi divergence of an order: the proven bounds of the releases, added up."""
        order = parameter(alpha, "alpha")
        if order <= 1:
            raise InvalidInputError(f"alpha is {show(order)}; give an order above 1.", alpha=order)
        return total_of([(thing.renyi(order), times) for thing, times in self.parts], self.groups)

    def zcdp(self) -> Fraction:
        """The rho of zero-concentrated privacy: the proven bounds of the releases, added up."""
        return self.rho()

    def rho(self) -> Fraction:
        """The same as `zcdp`, as a release of a larger plan is asked."""
        return total_of([(thing.rho(), times) for thing, times in self.parts], self.groups)

    def costs(self) -> PlanCosts:
        """What the whole plan costs in each sum that a ledger may keep, proven."""
        return PlanCosts(self)

    def plus(self, release: Any, times: int = 1) -> Composition:
        """The plan with more releases, by one product instead of all of them; for plans without groups.

        They have to be fixed as the others are: in advance. Numbers may differ from those of the same plan composed
        at once by less than both are away from the truth.
        """

        plan, more = extended(self, release, times)
        leaves = leaves_of(more, None, 0)
        for depth_index, kept in list(_KEPT.of(self).items()):
            if isinstance(depth_index, int):
                grid = plan.certificate.grids[depth_index]
                losses = with_one_more(kept[0], leaves, grid)
                _KEPT.of(plan)[depth_index] = losses, Curve(losses, grid, up=True)
        return plan

    @property
    def neighbours(self) -> str:
        """Which change of the data the plan's privacy is about."""
        return self.certificate.neighbours

    @property
    def label(self) -> str:
        """What it is, for people."""
        return f"a plan of {sum(times for _, times in self.parts)} releases"

    @property
    def end(self) -> tuple[Fraction | None, Fraction]:
        """The sum of the largest losses, None where there is none, and what may be lost beyond it."""
        kept = _ENDS.of(self)
        if 0 not in kept:
            kept[0] = end_of(self.leaves())
        return kept[0]

    def profile(self) -> Profile:
        """The profile of the whole plan, as one release of a larger one."""
        return PlanProfile(self, 0)

    def leaves(self, depth_index: int = 0) -> list[Leaf]:
        """The profiles that are composed, and how often each; those of groups as fine as the depth needs."""
        return leaves_of(self.parts, self.groups, depth_index)

    def pairs(self) -> LowerPairs | None:
        """One pair of neighbours that all releases share; None where a release has none."""
        return pairs_of(self.parts, self.groups)

    def curve(self, depth_index: int) -> Curve:
        """The proven curve on the grid of a depth."""
        kept = _KEPT.of(self)
        if depth_index not in kept:
            grid = self.certificate.grids[depth_index]
            losses = pessimistic_pmf(self.leaves(depth_index), grid)
            kept[depth_index] = losses, Curve(losses, grid, up=True)
        found: Curve = kept[depth_index][1]
        return found

    def _curves_below(self, depth_index: int) -> list[tuple[Curve, Fraction]]:
        kept = _KEPT.of(self)
        if ("below", depth_index) not in kept:
            kept["below", depth_index] = self._below(depth_index)
        found: list[tuple[Curve, Fraction]] = kept["below", depth_index]
        return found

    def _below(self, depth_index: int) -> list[tuple[Curve, Fraction]]:
        pairs = self.pairs()
        if pairs is None:
            return []
        # From below fewer cells are as tight.
        grid = replace(self.certificate.grids[depth_index], fineness=DEPTHS[depth_index].fineness)
        moved = slack(sum(times for _, _, times in pairs))
        turned = tuple((pair.turned(), profile, times) for pair, profile, times in pairs)
        both = [pairs] if all(a[0] is b[0] for a, b in zip(pairs, turned, strict=True)) else [pairs, turned]
        found = [optimistic_pmf(each, grid) for each in both]
        return [(Curve(losses, grid, up=False), moved) for losses in found if losses is not None]

    def plot(self, path: str | Path | None = None) -> Any:
        """The curve delta(epsilon) as a picture, written to a file if one is named."""
        return picture(self, path)

    def __str__(self) -> str:
        return str(self.certificate)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with epsilons that are proven at some deltas, and a digest of the whole content."""

        return plan_to_dict(self)

    @classmethod
    def from_dict(cls, data: Any, *, seconds: Number = READING_SECONDS) -> Composition:
        """Read back what `to_dict` wrote, and prove it again within so many seconds."""

        return plan_from_dict(data, seconds=seconds)

    def save(self, path: str | Path) -> None:
        """Write the plan to a JSON file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path, *, seconds: Number = READING_SECONDS) -> Composition:
        """Read a JSON file written by `save`, and prove it again within so many seconds."""

        return load_plan(path, seconds=seconds)


def plan_digest(named: Sequence[tuple[str, int]], groups: int | None, neighbours: str) -> str:
    """The digest of a plan: what is composed, by the digest of each part, how often, and for whom."""
    return digest({"parts": [list(part) for part in named], "groups": groups, "neighbours": neighbours})


def name_of(thing: Any) -> str:
    """The digest of a release or of a plan."""
    return str(thing.certificate.plan) if isinstance(thing, Composition) else str(thing.digest)


def _depth_index(delta: Fraction) -> int:
    """The depth at which a delta is read."""
    return next((depth_index for depth_index, depth in enumerate(DEPTHS) if delta >= depth.least), len(DEPTHS) - 1)


def _not_negative(value: Number, name: str) -> Fraction:
    exact = parameter(value, name)
    if exact < 0:
        raise InvalidInputError(f"{name} is {show(exact)}; it must be at least 0.", given=exact)
    return exact


def _delta(value: Number) -> Fraction:
    exact = _not_negative(value, "delta")
    if exact >= 1:
        raise InvalidInputError(f"delta is {show(exact)}; it must be below 1.", given=exact)
    return exact


def compose(releases: Any, *, groups: int | None = None, neighbours: str | None = None) -> Composition:
    """What many releases together give away about one person, proven.

    `releases` lists certified mechanisms, each alone or as (mechanism, times); also plans, events of `dp_accounting`,
    and words such as "gaussian(sigma=40) x 1000". With `groups=g` they are about disjoint groups of people, of which
    one person is in at most g; such a plan is about people who come or go (add-remove), whatever holds it.
    `neighbours` says what releases that only declare a sensitivity are about (`add-remove` or `replace`), where others
    are certified for that.
    Guarantees: every number of the composition is at or above the truth, whatever order the releases come in and
    whatever is asked because of earlier answers, as long as each release is one of the plan.
    Raises InvalidInputError for what is no release and for releases about different neighbours.

    >>> plan = nw.compose(["gaussian(sigma=40) x 1000", "laplace(epsilon=0.1) x 20"])
    >>> round(float(plan.epsilon(delta=1e-6)), 3)
    4.338
    """
    parts = _checked(read_parts(releases))
    if groups is not None:
        groups = groups_of(groups)
        parts = tuple(
            (thing if times == 1 else composed(((thing, times),), None, neighbours), 1) for thing, times in parts
        )
    return composed(parts, groups, neighbours)


def composed(
    parts: Parts, groups: int | None, neighbours: str | None, grids: tuple[LossGrid, ...] | None = None
) -> Composition:
    """The composition of parts that were read."""
    require_size(parts, groups)
    return Composition(MAKER, parts, groups, one_adjacency(parts, groups, neighbours), grids)


def extended(plan: Composition, release: Any, times: int) -> tuple[Composition, Parts]:
    """A plan with more releases on the same grids, and those releases."""
    if plan.groups is not None:
        raise InvalidInputError("this plan is about disjoint groups; compose it again with one group more.")
    more = _checked(read_parts(release, times_of(times)))
    told = None if plan.neighbours == DECLARED else plan.neighbours
    return composed((*plan.parts, *more), None, told, plan.certificate.grids), more


def _checked(parts: Any) -> Parts:
    if not parts:
        raise InvalidInputError("there is nothing to compose; give at least one release.")
    for thing, _ in parts:
        require_bearable(thing)
    return tuple(parts)


# What a person may give as releases, read into the parts of a plan.

_WANTED = (
    'a certified mechanism, (mechanism, times), a composition, words such as "gaussian(sigma=40) x 1000", or an event'
    " of dp_accounting"
)


def read_parts(given: Any, times: int = 1, depth: int = 0) -> list[tuple[Any, int]]:
    """The releases in what was given, and how often each, if all of it is made so many times."""
    if _is_counted(given):
        return read_parts(given[0], times_of(given[1], before=times), _deeper(depth))
    if not _is_one(given) and is_list(given) and not isinstance(given, Mapping | Path):
        found: list[tuple[Any, int]] = []
        for one in given:
            found.extend(read_parts(one, times, _deeper(depth)))
            if len(found) > MOST_PARTS:
                raise too_many_parts()
        return found
    return [(thing, times_of(count, before=times)) for thing, count in _read_one(given)]


def _is_one(given: Any) -> bool:
    return isinstance(given, Certified | Composition | CertifiedRelease | str) or given in RELEASES or is_event(given)


def _deeper(depth: int) -> int:
    if depth >= DEEPEST:
        raise too_deep()
    return depth + 1


def _read_one(given: Any) -> list[tuple[Any, int]]:
    """What is no list."""
    if isinstance(given, Certified):
        return [(CertifiedRelease(given), 1)]
    if isinstance(given, Composition | CertifiedRelease) or given in RELEASES:
        return [(given, 1)]
    if isinstance(given, str):
        return parts_of_words(given)
    if is_event(given):
        return parts_of_event(given)
    raise InvalidInputError(f"a release is of type {type(given).__name__}; give {_WANTED}.")


def _is_counted(given: Any) -> bool:
    """Whether it is a release with the number of times."""
    pair = isinstance(given, tuple | list) and len(given) == 2
    return pair and not isinstance(given[1], str) and not is_list(given[1]) and hasattr(given[1], "__index__")


# Plans in files: every release, every grid and every number in the file is proven again, and nothing is believed.

FORMAT = "noisewright plan, version 1"
CLAIMED = tuple(Fraction(1, 10**n) for n in (3, 6, 9, 12, 15))
_FIELDS = {"parts", "groups", "neighbours", "grids", "claims"}


def plan_to_dict(plan: Composition) -> dict[str, Any]:
    """Plain data with a digest of the whole content."""
    # Claims are what is proven when the plan is composed at once, as whoever reads the file will.
    afresh = composed(plan.parts, plan.groups, plan.neighbours, plan.certificate.grids)
    content = {
        "format": FORMAT,
        "parts": [{"times": times, **_plain(thing)} for thing, times in plan.parts],
        "groups": plan.groups,
        "neighbours": plan.neighbours,
        "grids": [grid.to_dict() for grid in plan.certificate.grids],
        "claims": [[str(delta), str(epsilon)] for delta, epsilon in _claims(afresh)],
    }
    return {**content, "digest": digest(content)}


def _plain(thing: Any) -> dict[str, Any]:
    return {"plan" if isinstance(thing, Composition) else "release": thing.to_dict()}


def _claims(plan: Composition) -> list[tuple[Fraction, Fraction]]:
    """The deltas at which an epsilon is proven, and that epsilon."""
    found = []
    for delta in CLAIMED:
        try:
            found.append((delta, plan.epsilon(delta)))
        except UncertifiedError:
            continue
    return found


def plan_from_dict(data: Mapping[str, Any], depth: int = 0, *, seconds: Number = READING_SECONDS) -> Composition:
    """Read back what `to_dict` wrote, and prove it again.

    Guarantees: returns only if the digest fits, every release is certified anew, and every claimed epsilon is proven,
    all within so many seconds.
    """
    check_seal(data, "plan", FORMAT, _FIELDS)
    if depth > DEEPEST:
        raise MechanismFileError(f"the plan holds plans in plans more than {DEEPEST} deep; refused.")
    with within(seconds), reading("plan"):
        if len(data["parts"]) > MOST_PARTS:
            raise MechanismFileError(f"the plan has more than {MOST_PARTS} parts; refused.")
        parts = tuple((_thing(one, depth), _count(one["times"])) for one in data["parts"])
        groups = None if data["groups"] is None else _count(data["groups"])
        grids = tuple(LossGrid.from_dict(one) for one in data["grids"])
        plan = composed(parts, groups, data["neighbours"], grids)
        require_near(plan.certificate.grids, plan.leaves())
        known = _claims(plan)
        claims = [(exact_text(delta), exact_text(epsilon)) for delta, epsilon in data["claims"]]
        if [delta for delta, _ in claims] != [delta for delta, _ in known]:
            raise MechanismFileError(
                "the claims of the plan are not at the deltas at which it has an epsilon; refused."
            )
        for (delta, epsilon), (_, proven) in zip(claims, known, strict=True):
            if proven > epsilon:
                raise MechanismFileError(
                    f"epsilon is {show(epsilon)} at delta = {show(delta)} in the file, but {show(proven)} is what can"
                    " be proven; refused."
                )
    return plan


def _thing(data: Mapping[str, Any], depth: int) -> Any:
    if set(data) == {"times", "plan"}:
        return plan_from_dict(data["plan"], depth + 1)
    if set(data) != {"times", "release"}:
        raise MechanismFileError("a part of the plan is neither a release nor a plan; refused.")
    release = release_from_dict(data["release"])
    require_bearable(release)
    return release


def _count(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MOST_TIMES:
        raise MechanismFileError(f"the plan says {value!r:.20} where a number of times from 1 to a million belongs.")
    return value


def load_plan(path: str | Path, *, seconds: Number = READING_SECONDS) -> Composition:
    """The plan in a file that `save` wrote, proven again within so many seconds."""
    with within(seconds):
        return plan_from_dict(read_file(path))
