"""The page of a certified mechanism, and what every page says of proofs and of how to verify them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noisewright.app.reports.blocks import Page, Section, command, facts, paragraphs, points
from noisewright.app.reports.sections import amount_card, laws, promised, within
from noisewright.explain.summary import sections_of
from noisewright.problem.numbers import above
from noisewright.problem.privacy import WORDS
from noisewright.sample.certified import Certified

_ADD_REMOVE = "add-remove"


def mechanism_page(certified: Certified, name: str) -> Page:
    """The page of a mechanism that will be in a file of this name."""
    mechanism, certificate = certified.mechanism, certified.certificate
    saved = certified.to_dict()
    asked, _, errors, caution, limits = sections_of(mechanism, certificate)
    far = within(certified)
    kind = mechanism.to_dict()["kind"]
    return Page(
        "Report of a certified mechanism",
        f"A private answer to: {mechanism.query}",
        " ".join(asked.paragraphs),
        [
            amount_card(certificate.requirement, "one release"),
            *([("95 of 100 answers are within", f"± {far}")] if far else []),
        ],
        [
            promised(certificate.requirement, certificate.bound, "the answer", whose=whose(certificate)),
            Section(
                errors.heading, [paragraphs(*errors.paragraphs), points(list(errors.points)), laws([(kind, mechanism)])]
            ),
            proof_of(certified, kind),
            Section(caution.heading, [points(list(caution.points))]),
            Section(limits.heading, [paragraphs(*limits.paragraphs)]),
            verification(saved, name, "a mechanism"),
        ],
        saved,
    )


def whose(certificate: Any) -> str:
    """What an attacker wavers about, as the neighbours of a certificate say."""
    if certificate.neighbours == _ADD_REMOVE:
        return "that you are in it"
    return "between two possibilities about you"


def proof_of(certified: Certified, name: str) -> Section:
    """Which mechanism it is and what was proven of it, by which rule."""
    certificate = certified.certificate
    return Section(
        "The mechanism and its proof",
        [
            facts(
                [
                    ("Mechanism", name),
                    ("Proven", str(certificate.requirement)),
                    ("Bound", f"at most {above(certificate.bound)}, by exact arithmetic"),
                    ("Rule", certificate.rule),
                    ("Compared", f"{certificate.neighbours}: {WORDS[certificate.neighbours]}"),
                    ("Mechanism’s digest", certificate.mechanism),
                ]
            ),
            paragraphs(
                "The proof is about the very law that is drawn: whole numbers or balls of numbers that are sure to hold"
                " the truth, never rounded ones. The verifier is small and does not know how the mechanism was found."
            ),
        ],
    )


def verification(saved: Mapping[str, Any], name: str, what: str) -> Section:
    """How anybody can prove the content of the page again."""
    return Section(
        "How to verify this page",
        [
            paragraphs(f"This file holds {what} as it was saved. Whoever has noisewright can prove it again:"),
            command(f"noisewright verify {quoted(name)}"),
            paragraphs("It must end with this digest, and say what this page says:"),
            command(str(saved["digest"])),
            paragraphs(
                "What is proven is the saved content, which the command lists; the sentences and pictures are made from"
                " it, but are not part of the proof.",
                look="note",
            ),
        ],
    )


def quoted(name: str) -> str:
    """A file's name as it is typed in a shell."""
    from shlex import quote

    return quote(name)
