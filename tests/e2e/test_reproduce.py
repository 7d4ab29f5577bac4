"""`noisewright reproduce` writes and says what a reproduction found, for every claim, and puts it on a page."""

from __future__ import annotations

import csv
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from noisewright.drawing.style import new_figure, save
from noisewright.lab.reproductions import REPRODUCTIONS, Claim, Entry, Reproduction
from tests.e2e.command import Cli, assert_failed, assert_succeeded

CLAIMS = [
    Claim("Table 1", "noise is small", "it is 4", "fails"),
    Claim("Figures 1 to 3", "noise is large & <b>loud</b>", "it is 5", "holds"),
    Claim("Table 3", "noise is dear", "who knows", "not reproducible"),
    Claim("Table 4", "noise is loud", "it is 6", "fails"),
]
MODULE = """
from pathlib import Path
from noisewright.lab.reproductions import Claim, Reproduction
def reproduce(out, step):
    step("the only step")
    (out / "table-01.csv").write_text("a,b\\n1,2\\n", encoding="utf-8")
    claims = [Claim("Table 1", "one", "it is 1", "holds")]
    return Reproduction("Paper " + __name__, [out / "table-01.csv"], claims, ["x"])
"""


def _reproduce(out: Path, step: object) -> Reproduction:
    figure = new_figure(10, 4)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1])
    axes.set(xlabel="epsilon", ylabel="error", title='Errors of "noise" <script>')
    save(figure, out / "figure-02.png")
    (out / "figure-02.csv").write_text("epsilon,error\n" + "0.12345678901,1\n" * 60, encoding="utf-8")
    (out / "table-01.csv").write_text("<i>name</i>,value\nA1,0.5\n", encoding="utf-8")
    files = [out / name for name in ("figure-02.png", "figure-02.csv", "table-01.csv")]
    return Reproduction("A short paper", files, CLAIMS, ["made-up people <1>"])


@pytest.fixture(autouse=True)
def paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short paper among the others."""
    monkeypatch.setitem(sys.modules, "a_short_paper", SimpleNamespace(reproduce=_reproduce))
    monkeypatch.setitem(REPRODUCTIONS, "short", Entry("a_short_paper", "A short paper", 1))


def test_every_claim_is_said_with_its_verdict(cli: Cli):
    outcome = cli("reproduce", "short")
    assert_succeeded(outcome)
    assert outcome.out.splitlines() == [
        "A short paper",
        "",
        "Data: made-up people <1>",
        *("", "Table 1: noise is small", "  fails: it is 4"),
        *("", "Figures 1 to 3: noise is large & <b>loud</b>", "  holds: it is 5"),
        *("", "Table 3: noise is dear", "  not reproducible: who knows"),
        *("", "Table 4: noise is loud", "  fails: it is 6"),
        "",
        "Verdicts: holds 1, fails 2, not reproducible 1.",
    ]
    assert outcome.err == "5 files are in short; short/index.html shows them all.\n"


@pytest.mark.parametrize(("words", "folder"), [((), "short"), (("--out", "there/deep"), "there/deep")])
def test_pictures_and_claims_go_where_they_were_asked_to(cli: Cli, tmp_path: Path, words: tuple[str, ...], folder: str):
    assert_succeeded(cli("reproduce", "short", *words))
    names = {path.name for path in (tmp_path / folder).iterdir()}
    assert names == {"figure-02.png", "figure-02.csv", "table-01.csv", "claims.csv", "index.html"}
    with (tmp_path / folder / "claims.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:4] == ["where", "the paper says", "found", "verdict"]
    assert [row[:4] for row in rows] == [[c.where, c.says, c.found, c.verdict] for c in CLAIMS]


class Page(HTMLParser):
    """What a browser would make of a page: elements with their attributes, the text, and whether all is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def page(cli: Cli, tmp_path: Path) -> Page:
    assert_succeeded(cli("reproduce", "short"))
    return Page((tmp_path / "short" / "index.html").read_text(encoding="utf-8"))


def test_the_page_is_whole_and_needs_nothing_from_elsewhere(page: Page):
    assert page.open == []
    assert page.of("script") == []
    assert page.of("link") == []
    assert all(str(image["src"]).startswith("data:image/png;base64,") for image in page.of("img"))
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.of("meta")
    styles = " ".join(page.words)
    assert "prefers-color-scheme: dark" in styles
    assert "@media print" in styles


def test_the_page_shows_figure_claim_verdict_and_numbers(page: Page):
    (image,) = page.of("img")
    assert image["alt"] == 'Errors of "noise" <script>. One panel: error against epsilon.'
    text = " ".join(page.words)
    for claim in CLAIMS:
        assert claim.says in text
        assert claim.found in text
    assert text.count("noise is large & <b>loud</b>") == 2, "with the claims, and below the figure it is about"
    assert "the first 40 of 60 rows" in text
    assert "0.123457" in text
    assert "<i>name</i>" in text
    assert "made-up people <1>" in text


def test_every_link_of_the_page_leads_somewhere(page: Page, tmp_path: Path):
    places = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(places) == len(set(places))
    for link in page.of("a"):
        target = str(link["href"])
        assert target[1:] in places if target.startswith("#") else (tmp_path / "short" / target).is_file()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_all_papers_go_onto_one_page(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: str):
    """Two short papers that a fresh process can find."""
    for name in ("first_paper", "second_paper"):
        (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in list(REPRODUCTIONS):
        monkeypatch.delitem(REPRODUCTIONS, name)
    for name in ("first", "second"):
        monkeypatch.setitem(REPRODUCTIONS, name, Entry(f"{name}_paper", name, 1))
    outcome = cli("reproduce", "all", "--jobs", jobs, "--out", "there")
    assert_succeeded(outcome)
    assert outcome.out.count("Verdicts: holds 1.") == 2
    page = Page((tmp_path / "there" / "index.html").read_text(encoding="utf-8"))
    assert [a["id"] for a in page.of("section")] == ["first", "second"]
    assert {p.relative_to(tmp_path / "there").as_posix() for p in (tmp_path / "there").rglob("*.csv")} == {
        f"{paper}/{name}.csv" for paper in ("first", "second") for name in ("claims", "table-01")
    }


def test_the_list_names_every_paper(cli: Cli):
    lines = cli("reproduce", "--list").out.splitlines()
    assert [line.split()[0] for line in lines] == [*REPRODUCTIONS, "all"]
    assert lines[-2].endswith("A short paper")


def test_an_unknown_paper_is_refused(cli: Cli):
    assert_failed(cli("reproduce"), 2, "give one of", "short")
    assert_failed(cli("reproduce", "long"), 2, "'long'", "short")
    assert_failed(cli("reproduce", "short", "--jobs", "0"), 2, "--jobs is 0")
