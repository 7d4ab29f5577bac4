"""Commands on a saved mechanism: `noisewright verify`, `describe` and `answer`."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Annotated

import typer

from noisewright.app.options import MechanismFile
from noisewright.app.output import say
from noisewright.problem.errors import InvalidNumberError
from noisewright.problem.numbers import show

_LONGEST_INPUT = 16 * 2**20


def verify(file: MechanismFile) -> None:
    """Prove again what a saved mechanism claims, with the verifier alone; an edited file is refused."""
    from noisewright.sample.certified import Certified

    certified = Certified.load(file)
    certificate = certified.certificate
    lines = {
        "Proven": str(certificate.requirement),
        "Bound": _exact(certificate.bound),
        "Rule": certificate.rule,
        "Query": str(certified.mechanism.query),
        "Digest": certified.to_dict()["digest"],
    }
    say("\n".join(f"{name + ':':<8}{text}" for name, text in lines.items()))


def describe(file: MechanismFile) -> None:
    """Say in words what a saved mechanism promises and how large its error is."""
    from noisewright.sample.certified import Certified

    say(Certified.load(file).describe())


def answer(
    file: MechanismFile,
    value: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="The true answer (several numbers with commas between; for a choice the scores, in the order of the"
            " candidates); - reads it from standard input instead.",
        ),
    ],
) -> None:
    """Print one private answer. Every call spends the mechanism's epsilon; keeping the sum is up to you.

    The file is proven again first.

    What you type can be seen by other users and stays in the shell's history; "--value -" avoids both.
    """
    truth = _from_input() if value == "-" else value
    from noisewright.sample.certified import Certified

    certified = Certified.load(file)
    query, parts = certified.mechanism.query, [part.strip() for part in truth.split(",")]
    if query.to_dict()["kind"] == "vector":
        say(",".join(repr(float(number)) for number in certified.release(parts)))
    elif query.to_dict()["kind"] == "choice":
        say(certified.release(_scores(query.candidates, parts)))
    else:
        say(str(certified.release(truth)))


def _scores(candidates: tuple[str, ...], parts: list[str]) -> dict[str, str]:
    if len(parts) != len(candidates):
        raise InvalidNumberError(
            f"the answer has {len(parts)} scores, the question {len(candidates)} candidates; give one for each, in"
            " their order."
        )
    return dict(zip(candidates, parts, strict=True))


def _from_input() -> str:
    """All of standard input; what is too long is refused, never cut: a part of a number is another number."""
    try:
        text = "" if sys.stdin is None else sys.stdin.read(_LONGEST_INPUT + 1)
    except UnicodeDecodeError:
        raise InvalidNumberError("standard input holds no number; give one, such as 42.") from None
    if len(text) > _LONGEST_INPUT:
        raise InvalidNumberError(
            f"standard input holds more than {_LONGEST_INPUT:,} characters; give one number, or several with commas"
            " between."
        )
    if not text.strip():
        raise InvalidNumberError("standard input is empty; give one number, such as 42.")
    return text


def _exact(value: Fraction) -> str:
    shown = show(value)
    return shown if Fraction(shown) == value else f"{value} (about {shown})"
