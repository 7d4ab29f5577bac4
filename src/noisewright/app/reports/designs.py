"""The page of a design: what was asked, what is guaranteed, how good the answer is and who came how near."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

from noisewright.app.reports.blocks import NONE, Page, Section, command, facts, figure, image, paragraphs, points, table
from noisewright.app.reports.charts import bars
from noisewright.app.reports.sections import amount_card, guarantee, laws, within
from noisewright.explain.odds import together
from noisewright.explain.summary import asked, errors_of, sections_of
from noisewright.problem.numbers import above
from noisewright.problem.privacy import adjacency
from noisewright.problem.queries import Choice
from noisewright.problem.utilities import UTILITIES
from noisewright.problem.workload import Workload
from noisewright.sample.certified import Certified
from noisewright.search.report.render import gap_text, number

if TYPE_CHECKING:
    from markupsafe import Markup

    from noisewright.search.report.report import Report


_MOST_BARS = 8
_MOST_CURVES = 3
_USUAL = ("Laplace", "Gaussian")


def design_page(report: Report, name: str) -> Page:
    """The page of a report that will be in a file of this name."""
    best, certificate = report.candidates[0], report.best.certificate
    far = within(report.best)
    better = "larger is better" if report.utility.larger_is_better else "smaller is better"
    cards = [
        ("Best mechanism", best.name),
        (f"{report.title} ({better})", number(best.value)),
        ("Distance to the best possible", "not bounded" if best.gap is None else gap_text(best.gap)),
        *([("95 of 100 answers are within", f"± {far}")] if far else []),
    ]
    keepable = report.utility in UTILITIES
    saved = report.to_dict() if keepable else report.best.to_dict()
    return Page(
        "Report of a design",
        f"A private answer to: {report.query}",
        f"{report.why[:1].upper()}{report.why[1:]} Everything below is proven for exactly the noise that is drawn.",
        cards,
        [
            Section("What was asked", [paragraphs(asked(report.query)), _terms(report)]),
            guarantee(certificate.requirement, certificate.bound, "the answer", whose=whose(certificate)),
            Section("How good the answer is", [*_told(report), _pictures(report)]),
            Section("Everything that was tried", [_ranking(report), points(report.notes)]),
            Section("Compared with the usual noise", [paragraphs(*_usual(report))]),
            proof_of(report.best, best.name),
            Section("What it costs", [paragraphs(*_cost(report))]),
            verification(saved, name, "a report" if keepable else "the best mechanism of a report"),
        ],
        saved,
    )


def _terms(report: Report) -> Markup:
    return facts([("Privacy", report.promise), ("What counts as good", report.title)])


def _told(report: Report) -> list[Markup]:
    sentences, listed = errors_of(report.best.mechanism)
    return [paragraphs(*sentences), points(listed)]


def _pictures(report: Report) -> Markup:
    own = laws(_told_apart(report)) if type(report.query) is not Choice else NONE
    if own or type(report.query) is Choice:
        return own
    parts = report.candidates[0].parts
    if parts and len(parts) <= _MOST_BARS and not isinstance(report.query, Workload):
        names = getattr(report.query, "names", None) or [f"number {i}" for i in range(1, len(parts) + 1)]
        items = [(str(name), value, number(value)) for name, value in zip(names, parts, strict=True)]
        measure = report.utility.measure
        return figure(bars("Each number", items, measure), f"The {measure} of each number.")
    return _drawn(report)


def _told_apart(report: Report) -> list[tuple[str, Any]]:
    """The winner and the usual noise, or what follows it: few enough to tell apart, none twice."""
    first, *rest = report.kept
    usual = [c for c in rest if any(word in c.name for word in _USUAL)]
    chosen = [first, *[c for c in usual or rest if c.value != first.value]]
    return [(c.name, c.certified.mechanism) for c in chosen[:_MOST_CURVES]]


def _drawn(report: Report) -> Markup:
    """The picture that `report.plot` draws, inside the page."""
    import matplotlib as mpl

    held = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "noisewright"}):
        report.plot().savefig(held, format="svg", metadata={"Date": None, "Creator": None})
    data = b64encode(held.getvalue()).decode("ascii")
    drawn = image("Picture of the design", "Errors of the questions, and how good each mechanism is", data)
    return figure(drawn, "The errors of the questions, what is measured, and how good each mechanism is.")


def _ranking(report: Report) -> Markup:
    shown = [c for c in report.kept if math.isfinite(c.value)][:_MOST_BARS]
    items = [(c.name, c.value, number(c.value)) for c in shown]
    limit = None if report.bound is None else ("best possible", report.bound, number(report.bound))
    header, rows = report._table()
    drawn = bars("Mechanisms, best first", items, report.title, limit)
    picture = figure(drawn, f"{report.title[:1].upper()}{report.title[1:]} of each mechanism.")
    return picture + "\n" + table(f"Mechanisms, best first: {report.title}", header, rows, first=True)


def _usual(report: Report) -> list[str]:
    """The winner against Laplace and Gaussian noise, as far as they were tried."""
    best, found = report.candidates[0], []
    for word in _USUAL:
        rival = next((c for c in report.candidates if word in c.name), None)
        if rival is best and rival is not None:
            found.append(f"{best.name} noise is a usual one, and the best here.")
        elif rival is not None and math.isfinite(rival.value) and best.value and rival.value:
            found.append(_against(report, best, rival))
    return found or [
        "Neither Laplace nor Gaussian noise keeps this guarantee for this question, so there is nothing to compare."
    ]


def _against(report: Report, best: Any, rival: Any) -> str:
    high, low = max(best.value, rival.value), min(best.value, rival.value)
    said = f"{rival.name}: {number(rival.value)} against {number(best.value)} of {best.name}"
    if rival not in report.kept:
        return f"{said}; but it is {rival.bias:+.4g} off on average, so that it does not answer what was asked."
    return f"{said}, {'the same' if high == low else f'a factor of {high / low:.4g}'}. The privacy is the same."


def _cost(report: Report) -> list[str]:
    certificate = report.best.certificate
    return [
        f"Every release costs what is guaranteed: {certificate.requirement}. Releases add up:"
        f" {together(certificate.requirement, certificate.bound)}.",
        f"The requirement is the total over {report.releases} equal releases." if report.releases > 1 else "",
        "A design spends nothing. Keep the sum in a ledger, ledger.release(certified, answer, reason=…), which refuses"
        " what would pass the budget.",
    ]


# The page of a certified mechanism, and what every page says of proofs and of how to verify them.


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
            guarantee(certificate.requirement, certificate.bound, "the answer", whose=whose(certificate)),
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
    """What an attacker wavers about, as the adjacency of a certificate says."""
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
                    ("Adjacency", adjacency(certificate.neighbours)),
                    ("Mechanism’s digest", certificate.mechanism),
                ]
            ),
            paragraphs(
                "The proof is about the very law that is drawn: integers or intervals that are sure to hold"
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
