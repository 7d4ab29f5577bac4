"""What can be charged: a certified mechanism, several of them together, or a plan that says what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from noisewright.accounting.composition import Composition, name_of, plan_digest
from noisewright.problem.errors import InvalidInputError, UncertifiedError
from noisewright.problem.records import digest
from noisewright.proof.costs import NO_DELTA, Costs, EpsilonDelta
from noisewright.sample.certified import Certified
from noisewright.sample.entropy import WordStream

NEIGHBOURS = ("add-remove", "replace", "metric")
DECLARED = "declared"
"""The owner's own word: whom a declared sensitivity compares is what the ledger says."""


class Costed(Protocol):
    """A release, or a plan of releases, that was proven and says what it costs."""

    @property
    def certificate(self) -> Any:
        """What was proven; `to_dict()` is kept in the ledger."""

    def costs(self) -> Costs:
        """What it costs in each sum."""


Kind = TypeVar("Kind", bound=type)
_ACCEPTED: set[type] = {Certified, Composition}


def chargeable(kind: Kind) -> Kind:
    """Let things of a class be charged: one that only the verifier makes, and that is `Costed`."""
    _ACCEPTED.add(kind)
    return kind


class Together:
    """Several releases that are charged at once, whatever comes of them: their costs add up."""

    def __init__(self, parts: Sequence[Costed]) -> None:
        self.parts = tuple(parts)

    def costs(self) -> TogetherCosts:
        """The sum over the parts."""
        return TogetherCosts([part.costs() for part in self.parts])


class TogetherCosts:
    """Sums over parts, each of which is proven apart: all of a kind, or None where one part has none.

    Rule: the parts are fixed before the first of them is drawn, so that every rule that adds them one by one
    may add them at once. [theory#composition-and-filters]
    """

    def __init__(self, parts: Sequence[Costs]) -> None:
        self._parts = parts

    def pure(self) -> Fraction | None:
        """The sum of the epsilons."""
        return _sum([part.pure() for part in self._parts])

    def pair(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """The sums of epsilons and of deltas."""
        return _sums([part.pair(spare / len(self._parts)) for part in self._parts])

    def gaussian(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """The sums of squared lengths and of deltas."""
        return _sums([part.gaussian(spare / len(self._parts)) for part in self._parts])

    def concentrated(self, spare: Fraction = NO_DELTA) -> EpsilonDelta | None:
        """The sums of concentrations and of deltas."""
        return _sums([part.concentrated(spare / len(self._parts)) for part in self._parts])

    def divergence(self, order: Fraction) -> Fraction | None:
        """The sum of the divergences of one order."""
        return _sum([part.divergence(order) for part in self._parts])

    def metric(self) -> Any | None:
        """The sum of the metrics."""
        from noisewright.problem.metrics import Sum

        metrics = [part.metric() for part in self._parts]
        return None if any(metric is None for metric in metrics) else Sum(metrics)


def _sum(found: Sequence[Fraction | None]) -> Fraction | None:
    known = [value for value in found if value is not None]
    return sum(known, Fraction(0)) if len(known) == len(found) else None


def _sums(found: Sequence[EpsilonDelta | None]) -> EpsilonDelta | None:
    known = [pair for pair in found if pair is not None]
    if len(known) < len(found):
        return None
    return sum((pair[0] for pair in known), Fraction(0)), sum((pair[1] for pair in known), Fraction(0))


def accepted(given: Any) -> Any:
    """What was given, if it can be charged; a list of such things as one (`Together`)."""
    # Looked through once, so that what is looked at is what is charged.
    parts = tuple(given) if isinstance(given, list | tuple) else (given,)
    if parts and all(type(part) in _ACCEPTED for part in parts):
        for part in parts:
            _require_unchanged(part)
        return given if type(given) in _ACCEPTED else Together(parts)
    raise UncertifiedError(
        f"a {type(given).__name__} cannot be charged; give a certified mechanism, such as design(...).best, a list of"
        " them, or a composed plan."
    )


def _require_unchanged(part: Any) -> None:
    """Refuse what is not any more what was proven: its costs would be those of something else."""
    if isinstance(part, Certified):
        proven, now = part.certificate.mechanism, part.mechanism.digest
    elif isinstance(part, Composition):
        named = [(name_of(thing), times) for thing, times in part.parts]
        proven, now = part.certificate.plan, plan_digest(named, part.groups, part.certificate.neighbours)
    else:
        return
    if proven != now:
        raise UncertifiedError("this is not any more what was certified; certify it again. Nothing was charged.")


def _each(costed: Any, read: Callable[[Any], Any]) -> list[Any]:
    return [read(part) for part in costed.parts] if isinstance(costed, Together) else [read(costed)]


def certificate_of(costed: Any) -> Any:
    """The plain form of what was proven; a list for several releases."""
    found = _each(costed, lambda part: part.certificate.to_dict())
    return found if isinstance(costed, Together) else found[0]


def question_of(costed: Any) -> str:
    """The digest of what is asked; that of the certificate for what has no question of its own."""
    digests = _each(costed, _question)
    return digests[0] if len(digests) == 1 else digest({"questions": digests})


def _question(part: Any) -> str:
    mechanism = getattr(part, "mechanism", None)
    plain = part.certificate.to_dict() if mechanism is None else mechanism.query.to_dict()
    return digest(plain)


def neighbours_of(costed: Any) -> str:
    """Whom the certificates compare; InvalidInputError if two of one charge disagree."""
    kinds = set(_each(costed, _relation)) - {DECLARED}
    if len(kinds) > 1:
        raise InvalidInputError(f"one charge cannot be under {' and '.join(sorted(kinds))} adjacency at once.")
    return kinds.pop() if kinds else DECLARED


def _relation(part: Any) -> str:
    """The relation of one certificate; those of metric privacy speak of metrics whether or not they say so."""
    if part.costs().metric() is not None:
        return "metric"
    return str(part.certificate.neighbours)


class _BeforeTheDrawError(Exception):
    """The answer was read, and randomness was asked for."""


class _NoEntropy:
    """Gives no randomness: whoever asks has read the answer."""

    def stream(self) -> WordStream:
        raise _BeforeTheDrawError


def require_readable(certified: Any, answer: Any) -> None:
    """Refuse an answer that cannot be released, before anything is charged; nothing is drawn."""
    if type(certified) is not Certified:
        raise UncertifiedError(f"a {type(certified).__name__} cannot be released; give a certified mechanism.")
    with suppress(_BeforeTheDrawError):
        certified.release(answer, entropy=_NoEntropy())
