"""Half a page on a certified mechanism, for a person who has never heard of epsilon."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from html import escape
from typing import Any

from noisewright.explain.errors import describe_error
from noisewright.explain.odds import learnt, together
from noisewright.mechanisms.answers import LARGEST_FLOAT
from noisewright.mechanisms.half_widths import half_width, rounded_up
from noisewright.mechanisms.linear.noise import LinearLaplace
from noisewright.mechanisms.selection import MetricChoice
from noisewright.numerics.balls import Ball, precision, upper
from noisewright.numerics.fields import BALLS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.problem.fields import flag
from noisewright.problem.linear import Linear
from noisewright.problem.numbers import show
from noisewright.problem.queries import Bounded, Choice, Scalar, Vector
from noisewright.problem.utilities import ErrorQuantile
from noisewright.proof.certify import Certificate

_WIDTH = 88
_SHOWN = 6
_CONFIDENCE = "0.95"
_NOTHING = Fraction(1, 10**9)
TITLE = "What this release gives away, and how good its answers are"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, paragraphs and a list of points."""

    heading: str
    paragraphs: Sequence[str]
    points: Sequence[str] = ()


def explained(mechanism: Any, certificate: Certificate, *, html: bool) -> str:
    """The explanation as plain text, or as a fragment of HTML that needs nothing from elsewhere."""
    sections = sections_of(mechanism, certificate)
    return as_html(sections) if flag().read(html, "html", InvalidUtilityError) else as_text(sections)


def as_text(sections: Sequence[Section]) -> str:
    """Headings, wrapped paragraphs and points."""
    lines = [TITLE, "=" * len(TITLE)]
    for section in sections:
        lines += ["", section.heading]
        lines += [_wrapped(text, "", "") for text in section.paragraphs]
        lines += [_wrapped(text, "- ", "  ") for text in section.points]
    return "\n".join(lines)


def _wrapped(text: str, first: str, later: str) -> str:
    """Lines of a readable width; a number stays beside its sign."""
    kept = text.replace(" %", "\u00a0%")
    lines = textwrap.fill(
        kept, _WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )
    return lines.replace("\u00a0", " ")


def as_html(sections: Sequence[Section]) -> str:
    """The same as HTML, escaped."""
    parts = [f'<section class="noisewright-explanation">\n<h2>{escape(TITLE)}</h2>']
    for section in sections:
        parts.append(f"<h3>{escape(section.heading)}</h3>")
        parts += [f"<p>{escape(text)}</p>" for text in section.paragraphs]
        if section.points:
            parts.append("<ul>\n" + "\n".join(f"<li>{escape(text)}</li>" for text in section.points) + "\n</ul>")
    return "\n".join([*parts, "</section>"])


def sections_of(mechanism: Any, certificate: Certificate) -> list[Section]:
    """What was asked, what can be learnt, how far off answers are, what not to do, what is not protected."""
    requirement, bound = certificate.requirement, certificate.bound
    again = together(requirement, bound)
    attacker = (
        "Think of an attacker who knows everything about everybody else, sees what is released, and wavers between two"
        " possibilities for one person."
    )
    return [
        Section(
            "What was asked",
            [f"{asked(mechanism if isinstance(mechanism, MetricChoice) else mechanism.query)} {_blurred(mechanism)}"],
        ),
        Section("What an attacker could learn", [" ".join([attacker, *learnt(requirement, bound)])]),
        Section("How far off the answer is", *errors_of(mechanism)),
        Section(
            "What not to do",
            [],
            [
                f"Do not release again and again without adding up the cost: {again}.",
                "Do not answer for everybody and again for all but a few: the difference is about those few.",
                "Do not publish the true answer, or anything computed from it; what is computed from released answers"
                " is safe.",
                "Do not choose the question, its limits or the noise by looking at the data.",
                limits(mechanism.query),
            ],
        ),
        Section(
            "What is not protected",
            [
                "What is true of many people at once, and shows with or without any one of them: that is what the"
                " release is for. Several people who change together, such as a family, are protected less, each of"
                " them adding to the odds. What an attacker knows from elsewhere stays known.",
            ],
        ),
    ]


def _blurred(mechanism: Any) -> str:
    if isinstance(mechanism, LinearLaplace) and not any(mechanism.scales):
        return "What is released is the true answer: it differs only where nothing is guaranteed."
    return "What is released is not the true answer: it is blurred on purpose."


@singledispatch
def asked(query: Any) -> str:
    """A question in everyday words."""
    return f"The question: {query}."


@asked.register
def _asked_scalar(query: Scalar) -> str:
    kind = "One whole number, such as a count," if query.integer else "One number"
    return f"{kind} that a single person can change by at most {show(query.sensitivity)}."


@asked.register
def _asked_bounded(query: Bounded) -> str:
    (low, high), (bottom, top) = query.inputs, query.outputs
    kind = "One whole number" if query.integer else "One number"
    return (
        f"{kind} from {show(low)} to {show(high)} that a single person can change by at most"
        f" {show(query.sensitivity)}; what is released stays within {show(bottom)} to {show(top)}."
    )


@asked.register
def _asked_choice(query: Choice) -> str:
    return (
        f"Which of {len(query.candidates)} candidates has the best score; a single person can change each score by at"
        f" most {show(query.sensitivity)}."
    )


@asked.register
def _asked_metric_choice(query: MetricChoice) -> str:
    """A choice that knows more than its question: what moves scores how far."""
    return (
        f"Which of {len(query.query.candidates)} candidates has the best score; a single person who changes can change"
        f" each score by at most {show(query.query.sensitivity)} times the {query.moves}."
    )


@asked.register
def _asked_vector(query: Vector) -> str:
    return f"{query.dimension} numbers. What a single person can change of them: {query.sensitivity}."


@asked.register
def _asked_linear(query: Linear) -> str:
    return f"{query}, answered from how many people have each element; a single person has one of them."


@singledispatch
def limits(query: Any) -> str:
    """What the caller must see to, since nothing here can."""
    return "Do not give data in which one person counts more often than the question says: nothing here can see that."


@limits.register(Scalar)
@limits.register(Bounded)
@limits.register(Choice)
@limits.register(Vector)
def _limits_of_numbers(query: Any) -> str:
    said = "Do not give an answer that one person can change by more than the question says: nothing here can see that"
    if getattr(query, "integer", False) is True:
        return f"{said}."
    if query.exact:
        return f"{said}. Answers were declared to be exact: do not give sums of floats."
    moves = [query.sensitivity]
    if isinstance(query, Vector):
        told = zip(query.sensitivity.smallest, query.whole, strict=True)
        moves = [move for move, whole in told if move and not whole]
    if not moves:
        return f"{said}."
    return f"{said}. Do not give floats beyond {show(LARGEST_FLOAT * min(moves))} in size, which are too coarse."


def errors_of(mechanism: Any) -> tuple[list[str], list[str]]:
    """Sentences and points about the error: on average, and in 95 of 100 releases."""
    try:
        widths = half_width(mechanism, _CONFIDENCE, joint=False)
    except InvalidUtilityError:
        return [
            _shortfall(mechanism) if isinstance(mechanism.query, Choice) else " ".join(describe_error(mechanism))
        ], []
    means = _means(mechanism)
    if not isinstance(widths, tuple):
        whatever = ", whatever the true answer is" if isinstance(mechanism.query, Bounded) else ""
        usual = f"off by {means[0]} on average, and " if means else ""
        return [
            f"The released number is {usual}within {widths} of the truth in at least 95 of 100 releases{whatever}.",
            *_lean(mechanism),
        ], []
    points = [
        f"{name}: {f'off by {means[i]} on average, ' if means else ''}within {widths[i]} in at least 95 of 100 releases"
        for i, name in enumerate(_names(mechanism.query, len(widths)))
    ]
    more = [f"… and {len(widths) - _SHOWN} more"] if len(widths) > _SHOWN else []
    every = half_width(mechanism, _CONFIDENCE, joint=True)
    said = f"All numbers at once are within {every} of the truth in at least 95 of 100 releases. Each by itself:"
    return [said], points + more


def _shortfall(mechanism: Any) -> str:
    far = rounded_up(upper(mechanism.expected(ErrorQuantile(_CONFIDENCE))))
    return (
        "Higher scores are chosen more often. Whatever the scores are, the chosen one is at most"
        f" {far} below the best in at least 95 of 100 releases."
    )


def _names(query: Any, count: int) -> list[str]:
    """What the first numbers are called: by their labels, the names of queries, or their places."""
    known = getattr(query, "labels", None) or getattr(query, "names", None)
    return [f"number {i + 1}" if known is None else str(known[i]) for i in range(min(count, _SHOWN))]


def _lean(mechanism: Any) -> list[str]:
    """How far answers are off on average, where they lean to one side."""
    with precision():
        bias = mechanism.bias(BALLS)
        size = upper(abs(bias))
    if size <= mechanism.query.sensitivity * _NOTHING:
        return []
    side = "too high" if bool(bias > 0) else "too low"
    return [f"Where they lean most, answers are {rounded_up(size, 3)} {side} on average."]


def _means(mechanism: Any) -> list[str]:
    """Mean absolute errors, rounded up; none where there is no rule for them."""
    try:
        with precision():
            shown = [_upwards(value) for value in mechanism.errors.power_means(Fraction(1), BALLS)[:_SHOWN]]
            return shown * _SHOWN if len(shown) == 1 else shown  # what is known of one bin is known of all
    except InvalidUtilityError:
        return []


def _upwards(value: Ball) -> str:
    return str(rounded_up(upper(value), 3)) if value.is_finite() else "no finite amount"
