"""Pages to hand over: valid, self-contained, readable by everybody, and true to what can be verified."""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import html5lib
import pandas as pd
import pytest

import noisewright as nw
from noisewright.app.cli.ledger import verify as verify_ledger
from noisewright.app.cli.saved import verify
from noisewright.app.reports.charts import ticks
from noisewright.app.reports.embedded import read_page
from noisewright.app.reports.plans import release_page
from noisewright.app.reports.sections import odds_of
from noisewright.app.reports.style import CSS

HOSTILE = '<script>alert("x")</script>&\'"'
_NAMESPACE = "{http://www.w3.org/1999/xhtml}"
_SVG = "{http://www.w3.org/2000/svg}"


def faults(text: str) -> list[str]:
    """What is wrong with a page: by the standard's parser, and for those who do not see it."""
    try:
        tree: Any = html5lib.HTMLParser(strict=True).parse(text)
    except html5lib.html5parser.ParseError as error:
        return [f"no HTML: {error}"]
    found = []
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    kinds = Counter(element.tag for element in elements)
    ids = Counter(element.get("id") for element in elements if element.get("id"))
    found += [f"the id {name} is there twice" for name, times in ids.items() if times > 1]
    found += [
        f"{tag} is not allowed" for tag in ("script", "link", "iframe", "object", "form") if kinds[_NAMESPACE + tag]
    ]
    if kinds[_NAMESPACE + "h1"] != 1 or kinds[_NAMESPACE + "main"] != 1 or not tree.get("lang"):
        found.append("one h1, one main and a language are needed")
    for element in elements:
        found += [f"{name} is set in place" for name in element.attrib if name.startswith("on") or name == "style"]
        if element.tag == _NAMESPACE + "img" and not element.get("alt"):
            found.append("a picture has no text")
        if element.tag == _SVG + "svg":
            told = [child for child in element if child.tag in (_SVG + "title", _SVG + "desc") and child.text]
            if element.get("role") != "img" or len(told) != 2:
                found.append("a drawing has no text")
        for name in str(element.get("aria-labelledby", "")).split():
            found += [] if name in ids else [f"the label {name} is not there"]
        for name in ("src", "href"):
            if not str(element.get(name, "data:")).startswith(("data:", "#")):
                found.append(f"{element.get(name)} is elsewhere")
    if re.search(r"url\((?!data:)|@import|https?://", CSS):
        found.append("the style comes from elsewhere")
    levels = [int(e.tag[-1]) for e in elements if re.fullmatch(r"h[1-6]", e.tag.removeprefix(_NAMESPACE))]
    found += ["a heading is skipped" for a, b in pairwise(levels) if b > a + 1]
    return found


def designs() -> dict[str, Any]:
    one, squared = nw.PureDP(1), nw.SquaredError()
    asked = {
        "number": (nw.Scalar(1), one, nw.AbsoluteError()),
        "bounded": (nw.Scalar(1, integer=True, inputs=(0, 10_000), outputs=(-50, 10_050), unbiased=True), one, squared),
        "several": (nw.Vector(nw.Box([1, 3, 5])), one, squared),
        "histogram": (nw.Histogram(4), nw.ZeroConcentratedDP("0.1"), squared),
        "choice": (nw.Choice(["x", HOSTILE], 1), one, nw.ErrorQuantile("0.9")),
        "workload": (nw.Workload.ranges(8), one, squared),
    }
    return {
        name: nw.design(query, privacy=privacy, utility=utility, progress=False)
        for name, (query, privacy, utility) in asked.items()
    }


def table(folder: Path, budget: Any = None) -> nw.Dataset:
    frame = pd.DataFrame({"id": range(40), "ward": ["A", HOSTILE] * 20, "age": range(40)})
    return nw.Dataset(frame, "id", name=f"visits {HOSTILE}", budget=budget or nw.PureDP(3), ledger=folder / "x.ledger")


def plan_of(data: nw.Dataset, privacy: Any = None) -> nw.Plan:
    wards = nw.keys("ward", ["A", HOSTILE])
    return data.plan(nw.count(by=wards, name=HOSTILE), nw.mean("age", bounds=(0, 50)), privacy=privacy or nw.PureDP(1))


def test_pages_of_designs_are_valid_and_verify_with_what_they_print(tmp_path: Path, capsys):
    for name, report in designs().items():
        report.html(tmp_path / f"{name}.html")
        report.best.report(tmp_path / f"{name}-best.html")
        for place in (tmp_path / f"{name}.html", tmp_path / f"{name}-best.html"):
            page = place.read_text(encoding="utf-8")
            assert faults(page) == [], place
            assert "<script" not in page
            assert f"noisewright verify {place.name}" in page
            held = read_page(place)
            assert held == (report.best if "best" in place.name else report).to_dict()
            assert f'<code class="command">{held["digest"]}</code>' in page
            if name == "number":
                verify(place)
                assert capsys.readouterr().out.split()[-1] == held["digest"]


def test_pages_of_plans_and_ledgers_are_valid_and_verify(tmp_path: Path, capsys):
    data = table(tmp_path)
    plan = plan_of(data)
    plan.report(tmp_path / "before.html")
    plan.release(reason=HOSTILE)
    plan.report(tmp_path / "after.html")
    assert data.ledger is not None
    data.ledger.report(tmp_path / "ledger.html")
    for name in ("before", "after", "ledger"):
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert faults(page) == []
        assert HOSTILE not in page
        assert "<script" not in page
    assert "epsilon 0 of 3" in (tmp_path / "before.html").read_text(encoding="utf-8")
    assert "epsilon 1 of 3" in (tmp_path / "after.html").read_text(encoding="utf-8")
    verify(tmp_path / "after.html")
    digest = capsys.readouterr().out.split()[-1]
    assert f'<code class="command">{digest}</code>' in (tmp_path / "after.html").read_text(encoding="utf-8")
    assert nw.Plan.from_dict(plan.to_dict()).to_dict()["digest"] == digest
    verify_ledger(str(tmp_path / "x.ledger"), tmp_path / "ledger.html")
    assert f"head {data.ledger.head.digest}" in capsys.readouterr().out
    plan_of(data, nw.PureDP("1/2")).release()
    verify_ledger(str(tmp_path / "x.ledger"), tmp_path / "ledger.html")
    assert "Verified: 7 rows, 2 charges" in capsys.readouterr().out


def test_a_ledger_that_was_put_back_does_not_fit_the_page(tmp_path: Path):
    data = table(tmp_path)
    kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
    plan_of(data).release()
    assert data.ledger is not None
    data.ledger.report(tmp_path / "ledger.html")
    for path, content in kept.items():
        path.write_bytes(content)
    with pytest.raises(nw.errors.LedgerDamagedError):
        verify_ledger(str(tmp_path / "x.ledger"), tmp_path / "ledger.html")


@pytest.mark.parametrize(
    "privacy", [nw.ApproxDP(1, "1e-6"), nw.ZeroConcentratedDP("0.1"), nw.RenyiDP(4, 1)], ids=lambda p: type(p).__name__
)
def test_every_requirement_is_told(tmp_path: Path, privacy: Any):
    data = table(tmp_path, budget=privacy)
    plan_of(data, privacy).report(tmp_path / "plan.html")
    assert data.ledger is not None
    data.ledger.report(tmp_path / "ledger.html")
    for name in ("plan", "ledger"):
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert faults(page) == []
        assert "held odds of 1:1" in page
        assert "except with a chance of at most 1 in 1,000,000" in page


def test_every_kind_of_plan_has_a_page(tmp_path: Path):
    wards, chosen = nw.keys("ward", ["A", "B"]), nw.keys("ward", private=True)
    data = table(tmp_path, budget=nw.ApproxDP(5, "1e-2"))
    pure, approximate = nw.PureDP(1), nw.ApproxDP(1, "1e-3")
    for questions, privacy in (
        ([nw.ask.quantiles("age", ["0.5"], edges=[0, 10, 20, 40]), nw.ask.top(wards, 1)], pure),
        ([nw.ask.workload("ranges", column="age", edges=[0, 10, 20, 40])], pure),
        ([nw.ask.persons(by=chosen)], approximate),
        ([nw.count(by=wards, outputs=(-60, 560), inputs=(0, 500))], pure),
    ):
        plan = data.plan(*questions, privacy=privacy)
        plan.report(tmp_path / "plan.html")
        assert faults((tmp_path / "plan.html").read_text(encoding="utf-8")) == []
        columns = plan.release(frame="pyarrow").to_pydict()
        assert faults(release_page(plan, columns, "Spent.", "release.html").html()) == []


def test_a_metric_is_told_without_odds_of_being_there(tmp_path: Path):
    metric = nw.MetricPrivacy(nw.metrics.Hamming(3, 1))
    nw.Ledger.create(tmp_path / "m.ledger", budget=metric).report(tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert faults(page) == []
    assert "e^d(i, j)" in page


def test_a_page_that_was_edited_is_refused(tmp_path: Path):
    nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.AbsoluteError()).best.report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    pre = re.search(r"<pre id=.*?</pre>", page, re.S)
    assert pre is not None
    place = tmp_path / "b.html"
    for wrong, words in (
        (page.replace(pre[0], ""), "holds no saved content"),
        (page.replace(pre[0], pre[0] * 2), "holds no saved content"),
        (page.replace(pre[0], pre[0].replace('{"format"', '{format"')), "edited or damaged"),
        (page.replace(pre[0], pre[0].replace('"epsilon": "1"', '"epsilon": "2"')), "does not match its digest"),
        ("", "holds no saved content"),
    ):
        place.write_text(wrong, encoding="utf-8")
        with pytest.raises(nw.errors.MechanismFileError, match=words):
            verify(place)
    with pytest.raises(nw.errors.MechanismFileError, match="cannot read"):
        verify(tmp_path / "none.html")


def test_names_that_no_browser_opens_are_refused(tmp_path: Path):
    report = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.AbsoluteError())
    for wrong, words in ((tmp_path / "a.pdf", "ends in .html"), (tmp_path / "none" / "a.html", "no folder")):
        with pytest.raises(nw.errors.InvalidInputError, match=words):
            report.html(wrong)
        with pytest.raises(nw.errors.InvalidInputError, match=words):
            report.best.report(wrong)


def test_a_loss_that_no_file_holds_leaves_the_mechanism_to_verify(tmp_path: Path):
    report = nw.design(
        nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.Expected(lambda x: abs(x) ** 1.5, growth=2), progress=False
    )
    report.html(tmp_path / "own.html")
    verify(tmp_path / "own.html")
    assert "the best mechanism of a report" in (tmp_path / "own.html").read_text(encoding="utf-8")


def test_the_checker_finds_what_is_wrong():
    right = '<!DOCTYPE html><html lang="en"><head><title>x</title></head><body><main><h1>x</h1>{}</main></body></html>'
    assert faults(right.format("<p>x</p>")) == []
    for wrong in (
        "<p>x</div>",
        "<p id='a' id='b'>x</p>",
        "<table><p>x</p></table>",
        "<p>&nosuch;</p>",
        "<script>1</script>",
        "<img src='data:,'>",
        "<img alt='x' src='https://example.org/x.png'>",
        "<svg></svg>",
        "<p id='a'>x</p><p id='a'>x</p>",
        "<h3>x</h3>",
        "<p onclick='x'>x</p>",
        "<section aria-labelledby='b'>x</section>",
    ):
        assert faults(right.format(wrong)), wrong


def test_odds_are_rounded_against_us():
    sentence, _ = odds_of(nw.PureDP(1), Fraction(1), "the answer", "that you are in it")
    assert sentence == "Whoever sees the answer and held odds of 1:1 that you are in it ends with at most 2.72:1."
    sentence, _ = odds_of(nw.PureDP(3), Fraction(3), "the answer", "that you are in it")
    assert "at most 20.1:1" in sentence
    sentence, _ = odds_of(nw.PureDP("0.1"), Fraction(1, 10), "the answer", "that you are in it")
    assert "at most 1.11:1" in sentence, "1.1052 is not rounded down"


@pytest.mark.parametrize("scheme", range(3), ids=["light", "dark", "print"])
def test_text_has_enough_contrast(scheme: int):
    roots = re.findall(r":root \{(.*?)\}", CSS, re.S)
    assert len(roots) == 3
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6})", roots[scheme]))
    for text in ("ink", "faint", "link", "accent"):
        for ground in ("paper", "card", "soft"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for shape in ("c0", "c1", "c2", "c3", "c4", "c5"):
        assert contrast(colours[shape], colours["paper"]) >= 3, shape


def contrast(first: str, second: str) -> float:
    """The ratio of the guidelines for accessible pages (WCAG 2)."""

    def light(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(first), light(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_ticks_are_round_and_inside():
    assert ticks(0, 1) == [0, 0.25, 0.5, 0.75, 1]
    assert ticks(-3, 3) == [-2, 0, 2]
    assert ticks(5, 5) == [5]
    assert json.dumps(ticks(0, 0)) == "[0.0]"
