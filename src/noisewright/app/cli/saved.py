"""Commands on a saved mechanism: `noisewright verify`, `describe`, `explain` and `answer`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from noisewright.app.cli.options import MechanismFile, SavedFile, Seconds, option
from noisewright.app.cli.output import check_places, remark, say, writing
from noisewright.app.cli.true_answers import read_truth, shown, truth_of
from noisewright.app.reports.embedded import PAGES, read_page
from noisewright.problem.fields import exact_text
from noisewright.problem.numbers import parameter, show
from noisewright.problem.privacy import adjacency
from noisewright.problem.untrusted import READING_SECONDS, within


def verify(file: SavedFile, seconds: Seconds = str(READING_SECONDS)) -> None:
    """Prove again what a saved mechanism, report or plan claims; one that was edited or claims too much is refused."""
    from noisewright.accounting.composition import FORMAT as PLAN
    from noisewright.release.plan.plan import FORMAT as RELEASE
    from noisewright.sample.certified import read_file
    from noisewright.search.report.report import FORMAT as REPORT

    known = {REPORT: _verified_report, PLAN: _verified_plan, RELEASE: _verified_release}
    with within(parameter(seconds, "--seconds")):
        data = read_file(file) if file.suffix.lower() not in PAGES else read_page(file)
        lines = known.get(str(data.get("format")), _verified_mechanism)(data)
    width = max(len(name) for name, _ in lines) + 2
    say("\n".join(f"{name + ':':<{width}}{text}" for name, text in lines))


def _verified_mechanism(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    from noisewright.sample.certified import verified

    certified = verified(data)
    certificate = certified.certificate
    return [
        ("Proven", str(certificate.requirement)),
        ("Bound", _exact(certificate.bound)),
        ("Rule", certificate.rule),
        ("Query", str(certified.mechanism.query)),
        ("Adjacency", adjacency(certificate.neighbours)),
        ("Digest", certified.to_dict()["digest"]),
    ]


def _verified_report(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    from noisewright.search.report.render import gap_text, number
    from noisewright.search.saved import report_from_dict

    report = report_from_dict(data)
    return [
        ("Proven", report.promise),
        ("Query", str(report.query)),
        ("Utility", report.title),
        ("Best", "no bound proven" if report.bound is None else f"no better than {number(report.bound)} is possible"),
        *((f"{i}", f"{c.name}, {number(c.value)}, gap {gap_text(c.gap)}") for i, c in enumerate(report.candidates, 1)),
        ("Digest", data["digest"]),
    ]


def _verified_plan(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    from noisewright.accounting.composition import plan_from_dict

    plan = plan_from_dict(data)
    certificate = plan.certificate
    return [
        ("Proven", f"for {plan.neighbours} adjacency, rule {certificate.rule}"),
        *((f"{part.times} x", f"{part.label} (rule {part.rule})") for part in certificate.parts),
        *([] if plan.groups is None else [("Groups", f"a person is in at most {plan.groups} of them")]),
        *(
            (f"delta {show(exact_text(delta))}", f"epsilon {show(exact_text(epsilon))}")
            for delta, epsilon in data["claims"]
        ),
        ("Digest", data["digest"]),
    ]


def _verified_release(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    from noisewright.release.plan.plan import Plan

    plan = Plan.from_dict(data)
    limits = plan.limits
    one = "one row, declared by the owner"
    return [
        ("Proven", f"{plan.privacy} for all answers together"),
        ("Table", f"{plan.about['name']}, all rows with one value of {plan.about['unit']} are one person"),
        (
            "Limits",
            one
            if limits.one_row_per_person
            else f"{limits.rows_per_group} rows in a group, {limits.groups_per_person} groups of a table",
        ),
        *(("Answers", str(question)) for question in plan.questions),
        *(("Noise", f"{block.name} (rule {block.certified.certificate.rule})") for block in plan.blocks),
        ("Digest", data["digest"]),
    ]


def describe(file: MechanismFile) -> None:
    """Say in words what a saved mechanism guarantees and how large its error is."""
    from noisewright.sample.certified import Certified

    say(Certified.load(file).describe())


def explain(
    file: MechanismFile,
    html: Annotated[Path | None, option("FILE", "Write the explanation as a page for a browser instead.")] = None,
) -> None:
    """Explain a saved mechanism to a person who has never heard of epsilon: what is given away, how far off it is."""
    check_places(html=html)
    from noisewright.sample.certified import Certified

    certified = Certified.load(file)
    if html is None:
        say(certified.explain())
        return
    from noisewright.app.reports.blocks import explanation

    with writing(html):
        html.write_text(explanation(certified.explain(html=True)), encoding="utf-8")
    remark(f"The explanation is in {html}.")


def answer(
    file: MechanismFile,
    value: Annotated[
        str | None,
        option(
            "NUMBER",
            "The true answer: a number; several numbers or a histogram with commas between; or the scores of a"
            " choice, as name=score or in the order of the candidates. - reads it from standard input.",
        ),
    ] = None,
    value_file: Annotated[Path | None, option("FILE", "The same from a file, where line breaks may be commas.")] = None,
) -> None:
    """Print one private answer. Every call spends the mechanism's epsilon; keeping the sum is up to you.

    The file is proven again first.

    What you type can be seen by other users and stays in the shell's history; "--value -" avoids both.
    """
    truth = truth_of(value, value_file)
    from noisewright.sample.certified import Certified

    certified = Certified.load(file)
    say(shown(certified.release(read_truth(truth, certified.mechanism))))


def _exact(value: Fraction) -> str:
    shown = show(value)
    return shown if Fraction(shown) == value else f"{value} (about {shown})"
