"""The panels of the page as fragments of HTML, from a template that escapes every text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from markupsafe import Markup

from noisewright.app.explorer import pictures, recipes as written_out
from noisewright.app.explorer.finding import PICTURED, Known
from noisewright.app.explorer.form import Asked
from noisewright.app.explorer.noise import Noise
from noisewright.app.explorer.pictures import Line, written
from noisewright.drawing.pages import fragment
from noisewright.explain.odds import STATED_DELTA, learnt as told_of, odds, posterior, told
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.numbers import show
from noisewright.search.report.render import gap_text, number
from noisewright.search.report.report import Report

_LINES = 3
_made = partial(fragment, "noisewright.app.explorer", "fragments.html.j2")
_SYMBOLS = {"epsilon": "ε", "rho": "ρ"}
_PRIORS = (("a guess that was 50:50", Fraction(1, 2)), ("a guess that was 1:99", Fraction(1, 100)))


def remark(text: str) -> Markup:
    """A sentence beside the rest."""
    return _made("remark", text)


def summary(asked: Asked, report: Report, amount: Fraction, target: Fraction, noise: Noise) -> Markup:
    """One large line: what it costs, what it reaches, with which noise; and why."""
    symbol, winner = _SYMBOLS[asked.amount_name], report.candidates[0]
    value = _value(report, winner.value)
    if asked.move == "accuracy":
        wanted = "at least" if asked.utility.larger_is_better else "at most"
        lead = f"{symbol} = {show(amount)} is enough"
        rest = f"for a {report.title} of {wanted} {show(target)} (reached: {value})."
    else:
        lead, rest = f"{symbol} = {show(amount)}", f"buys a {report.title} of {value}."
    usual = (
        f" In 95 of 100 releases the answer is within {written(noise.half_width)} of the truth."
        if noise.half_width
        else ""
    )
    proven = f"proven for {report.privacy}.{usual}"
    return _made("summary", lead, rest, winner.name, proven, report.why, report.notes)


def _value(report: Report, value: float) -> str:
    return f"{100 * value:.4g} %" if report.utility.larger_is_better else written(value)


def density(noise: Noise, report: Report, width: int) -> Markup:
    """How errors are spread, with its words."""
    wide, centre = noise.half_width, noise.centre
    name = noise.lines[0].name
    band = (centre - wide, centre + wide) if wide else (-math.inf, math.inf)
    inside = f" In 95 of 100 releases the error is at most {written(wide)}, the darker part." if wide else ""
    beside = f" The thinner line is {noise.lines[1].name} noise at the same privacy." if len(noise.lines) > 1 else ""
    source = (
        f" Counted from {noise.drawn:,} exact draws of the certified mechanism."
        if noise.drawn
        else " The curve is the law of the certified mechanism itself."
    )
    text = f"How the error of {name} noise is spread around the truth.{inside}{beside}{source}"
    drawn = pictures.density(text, width, noise.lines, band, noise.label, centre)
    return _figure(drawn, text, _legend([line.name for line in noise.lines]))


def answers(noise: Noise, width: int) -> Markup:
    """Twenty answers that might be released."""
    values = [value for _, _, row in noise.rows for value in row]
    text = (
        f"Twenty possible answers around an invented true value of {written(noise.rows[0][1])}. They lie between"
        f" {written(min(values))} and {written(max(values))}. Drawn just now by the certified mechanism itself;"
        " each would spend the whole guarantee once."
    )
    return _figure(pictures.answers(text, width, noise.rows, noise.ends), text)


def ranking(report: Report) -> Markup:
    """Every candidate with its value and its distance to the best possible."""
    kept, rows = report.kept, []
    finite = [c.value for c in report.candidates if math.isfinite(c.value)] or [1.0]
    for candidate in report.candidates:
        gap = gap_text(candidate.gap) if candidate in kept else "for comparison"
        share = candidate.value / max(finite) if math.isfinite(candidate.value) else 1.0
        rows.append([candidate.name, pictures.bar(share), number(candidate.value), gap])
    limit = "no bound proven" if report.bound is None else number(report.bound)
    share = 0.0 if report.bound is None else report.bound / max(finite)
    rows.append(["best possible", pictures.bar(share) if share else "", limit, ""])
    better = "larger" if report.utility.larger_is_better else "smaller"
    caption = f"{report.title}, {better} is better; the limit is for {report.bound_over}"
    return _table(caption, ["mechanism", "", "value", "gap to the best possible"], rows, bars=1)


def curve(asked: Asked, known: Known, here: Fraction, value: float, width: int) -> Markup:
    """Error against privacy, as far as it was looked at."""
    low, high = PICTURED[asked.amount_name]
    amounts = [a for a in sorted(known.points) if low <= a <= high * 1.01]
    names = _leading(known, here)
    lines = [
        Line(n, [(float(a), known.points[a]["values"][n]) for a in amounts if n in known.points[a]["values"]])
        for n in names
    ]
    lines = [line for line in lines if line.points]
    limit = [(float(a), known.points[a]["bound"]) for a in amounts if known.points[a]["bound"]]
    larger = asked.utility.larger_is_better
    shown = {
        "lines": lines,
        "limit": limit if len(limit) > 1 else [],
        "larger": larger,
        "ends": (min(low, float(here)), max(high * 1.01, float(here))),
        "here": (float(here), value),
        "label": f"{asked.amount_name} (more privacy to the left)",
    }
    side = "above" if larger else "below"
    text = (
        f"{str(asked.utility)[:1].upper()}{str(asked.utility)[1:]} against {asked.amount_name}. The ring marks"
        f" {asked.amount_name} = {show(here)} with {written(value)}; what lies in the shaded part, {side} the proven"
        f" limit, no mechanism reaches. {_ends_told(lines)}"
    )
    return _figure(
        pictures.curve(text, width, shown), text, _legend([x.name for x in lines], limit=bool(shown["limit"]))
    )


def _ends_told(lines: Sequence[Line]) -> str:
    if not lines or len(lines[0].points) < 2:
        return "More amounts are being looked at."
    (first, at_first), (last, at_last) = lines[0].points[0], lines[0].points[-1]
    return f"{lines[0].name}: {written(at_first)} at {written(first)}, {written(at_last)} at {written(last)}."


def _leading(known: Known, here: Fraction) -> list[str]:
    """The mechanisms that are drawn: the best here, and the usual one."""
    names = list(known.points[here]["values"])
    usual = [name for name in names if "Laplace" in name or "Gaussian" in name]
    found: dict[float, str] = {}
    for name in dict.fromkeys([*names[:1], *usual[:2], *names[1:]]):
        # Of lines that lie on each other one is enough.
        found.setdefault(float(f"{known.points[here]['values'][name]:.5g}"), name)
    return list(found.values())[:_LINES]


def learnt(report: Report, width: int) -> Markup:
    """What an attacker could learn, in odds."""
    certificate = report.best.certificate
    return _odds(certificate.requirement, certificate.bound, width)


def _odds(requirement: Any, bound: Fraction, width: int) -> Markup:
    epsilon, _ = told(requirement, bound)
    shares = [
        (
            f"{name} can become {odds(prior, epsilon).split(' (')[0]}",
            100 * float(prior),
            100 * float(posterior(prior, epsilon)),
        )
        for name, prior in _PRIORS
    ]
    words = " ".join(told_of(requirement, bound))
    text = f"What an attacker could learn about one person. {'; '.join(name for name, _, _ in shares)}."
    marks = "Blue: what was believed before. Orange: what it can become at most."
    return _figure(pictures.guesses(text, width, shares), marks, below=words)


def hundred(report: Report, count: int) -> Markup:
    """What many such releases add up to."""
    from noisewright.accounting.composition import compose

    try:
        epsilon = compose([(report.best, count)]).epsilon(STATED_DELTA)
    except NoisewrightError as error:
        return remark(f"A hundred such releases are not added up: {error}")
    requirement: Any = report.best.certificate.requirement
    if requirement.pure:
        alone = f" Adding up alone would say ε = {show(count * report.best.certificate.bound)}, for any δ."
    else:
        alone = ""
    return _made(
        "lead",
        f"ε = {float(epsilon):.4g}",
        f"with δ = 1e-6, proven, for {count} such releases about the same people.",
        [f"After all of them a guess that was 50:50 can become {odds(Fraction(1, 2), epsilon)}.{alone}"],
    )


def recipes(asked: Asked, amount: Fraction, target: Fraction) -> Markup:
    """The same in Python, at the command line and as TOML."""
    return copied(
        [
            ("python", "Python", written_out.python(asked, amount, target)),
            ("command", "Command line", written_out.command(asked, amount, target)),
            ("toml", "TOML, for a table", written_out.spec(asked, amount)),
        ]
    )


def copied(parts: Sequence[tuple[str, str, str]]) -> Markup:
    """Texts with a button to copy each."""
    return _made("copied", parts)


def budget(found: Any) -> Markup:
    """What the accuracy costs with each mechanism."""
    header, rows = (
        ["mechanism", f"smallest {_amount_word(found)}"],
        [[r.name, number(float(r.amount))] for r in found.rows],
    )
    return _table("The accuracy wanted, and what each mechanism needs for it", header, rows) + remark(found.conclusion)


def _amount_word(found: Any) -> str:
    return "rho" if hasattr(found.requirement, "rho") else "epsilon"


def planned(plan: Any) -> Markup:
    """What a plan is about."""
    said = "Only the plan is shown: no value of the table is looked at, nothing is spent, and nothing can be released"
    return _made("lead", plan.privacy, f"for all outputs of {plan.about['name']}.", [f"{said} from this page."])


def plan_table(plan: Any) -> Markup:
    """The plan as the library shows it, which escapes its texts."""
    return _made("wide", Markup(plan._repr_html_()))


def plan_odds(plan: Any, width: int) -> Markup:
    """What all outputs together could tell about one person."""
    given: Any = plan.privacy
    bound = given.delta if hasattr(given, "delta") else given.rho if hasattr(given, "rho") else given.epsilon
    return _odds(given, bound, width)


def plan_recipes(plan: Any, path: str, amount: Fraction) -> Markup:
    """How to plan and release the same at the command line."""
    name = written_out.shell_word(path)
    parts = ", ".join(f"{k} = {written_out.literal(getattr(plan.privacy, k))}" for k in type(plan.privacy).CARD.given)
    return copied(
        [
            ("toml", "TOML: the privacy of the spec", f"privacy = {{ {parts} }}"),
            (
                "command",
                "Command line",
                f"noisewright plan {name}\nnoisewright release {name}  # this spends the budget",
            ),
            (
                "python",
                "Python",
                'import noisewright as nw\n\nplan = nw.Plan.load("plan.json")  # downloaded here\nprint(plan)',
            ),
        ]
    )


def _figure(drawn: Markup, caption: str, above: Markup | str = "", below: str = "") -> Markup:
    return _made("figure", drawn, caption, above, below)


def _table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], bars: int = -1) -> Markup:
    """A table; the column `bars` has pictures."""
    return _made("table", caption, header, rows, bars)


def _legend(names: Sequence[str], *, limit: bool = False) -> Markup:
    """The names of lines beside their colours, as a list that wraps."""
    return _made("legend", pictures.marks(names, limit=limit))
