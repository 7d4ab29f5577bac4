"""Every text of every page and panel is escaped, every field counts, and the server asks who asks, and where it is."""

from __future__ import annotations

import inspect
from collections import Counter
from fractions import Fraction
from html.parser import HTMLParser
from itertools import product
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

import noisewright as nw
from noisewright.app.explorer import fragments, pictures
from noisewright.app.explorer.form import PRIVACY, QUESTIONS, TABLE, UTILITY, EntryError, read, served
from noisewright.app.explorer.server import listening
from noisewright.app.reports import blocks, charts
from noisewright.app.reports.embedded import embedded
from noisewright.drawing.pages import rendered
from tests.explorer.asgi import PORT, app, post

HOSTILE = "</title></p></style></script><script>alert('&amp;')</script>\"'><img src=x onerror=alert(1)><b>"
LOOK = {"state": {}, "widths": [400, 800]}


class _Tags(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.texts: list[str] = []
        self.named: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag] += 1
        self.named += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def harmless(page: str, *, shown: int = 1) -> None:
    """Nothing of the text became a tag or an attribute, and all of it is shown as it is."""
    tags = _Tags(page)
    assert not tags.found.keys() & {"script", "img", "b"}
    assert not [name for name in tags.named if name.startswith("on")]
    assert "".join(tags.texts).count(HOSTILE) >= shown


BLOCKS: dict[str, Any] = {
    "paragraphs": lambda: blocks.paragraphs(HOSTILE, look="note"),
    "points": lambda: blocks.points([HOSTILE]),
    "facts": lambda: blocks.facts([(HOSTILE, HOSTILE)]),
    "table": lambda: blocks.table(HOSTILE, [HOSTILE] * 3, [[HOSTILE] * 3] * 2, words=2, first=True),
    "figure": lambda: blocks.figure(Markup("<svg></svg>"), HOSTILE),
    "subheading": lambda: blocks.subheading(HOSTILE),
    "command": lambda: blocks.command(HOSTILE),
    "guarantee_box": lambda: blocks.guarantee_box(HOSTILE),
}
NO_TEXT = {"shortened", "short", "embedded", "explanation", "image", "fragment", "rendered", "dataclass"}


def test_every_block_is_tried():
    assert {name for name, _ in inspect.getmembers(blocks, inspect.isfunction)} - NO_TEXT == set(BLOCKS)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_escapes_what_it_is_given(name: str):
    harmless(BLOCKS[name](), shown=9 if name == "table" else 1)


def test_a_picture_escapes_what_is_said_of_it():
    harmless(charts.picture(HOSTILE, HOSTILE, 10, ""), shown=2)
    harmless(pictures.picture("name", HOSTILE, 10, 10, []), shown=1)


def test_a_picture_of_another_library_is_one_picture_whatever_is_said_of_it():
    tags = _Tags(blocks.image(HOSTILE, HOSTILE, HOSTILE))
    assert tags.found == {"section": 1, "img": 1}
    assert sorted(tags.named) == ["alt", "aria-label", "class", "src", "tabindex"]


def test_a_part_that_no_template_made_is_text():
    harmless(blocks.Page("kind", "title", "lead", [], [blocks.Section("heading", [HOSTILE])], {}).html())


def test_a_name_that_a_template_was_not_given_is_an_error():
    page = blocks.Page("kind", "title", "lead", [], [], {})
    with pytest.raises(UndefinedError, match="saved"):
        rendered(blocks.PACKAGE, "report.html.j2", page=page, title="plain")


@pytest.mark.parametrize("field", ["kind", "title", "lead", "cards", "heading", "saved"])
def test_each_field_of_a_report_page_is_escaped(field: str):
    text = {name: HOSTILE if name == field else "plain" for name in ("kind", "title", "lead", "heading", "cards")}
    saved = {"name": HOSTILE} if field == "saved" else {"name": "plain"}
    section = blocks.Section(text["heading"], [blocks.paragraphs("plain")])
    cards = [(text["cards"], text["cards"])]
    made = blocks.Page(text["kind"], text["title"], text["lead"], cards, [section], saved)
    if field == "saved":
        found = made.html().replace(embedded(saved), "")
        assert HOSTILE not in found
        assert "</script><script>" not in embedded(saved)
        return
    harmless(made.html().replace(embedded(saved), ""))


def _plan(name: str) -> Any:
    frame = pa.table({"u": ["a", "b"], name: [1, 2]})
    key = nw.keys(name, [1, 2])
    return nw.Dataset(frame, "u", name=name).plan(nw.count(by=key, name=name), privacy=nw.PureDP(1))


FRAGMENTS: dict[str, Any] = {
    "remark": lambda: fragments.remark(HOSTILE),
    "copied": lambda: fragments.copied([("part", HOSTILE, HOSTILE)]),
    "budget": lambda: fragments.budget(
        SimpleNamespace(
            rows=[SimpleNamespace(name=HOSTILE, amount=Fraction(1))], requirement=nw.PureDP(1), conclusion=HOSTILE
        )
    ),
    "planned": lambda: fragments.planned(_plan(HOSTILE)),
    "plan_table": lambda: fragments.plan_table(_plan(HOSTILE)),
    "ranking": lambda: fragments.ranking(
        SimpleNamespace(
            kept=[],
            candidates=[SimpleNamespace(name=HOSTILE, value=1.0, gap=None)],
            bound=None,
            title=HOSTILE,
            utility=nw.SquaredError(),
            bound_over=HOSTILE,
        )
    ),
}


@pytest.mark.parametrize("name", FRAGMENTS)
def test_a_panel_of_the_explorer_escapes_what_others_named(name: str):
    harmless(FRAGMENTS[name]())


def test_a_recipe_of_a_hostile_path_is_text():
    tags = _Tags(fragments.plan_recipes(_plan("plain"), HOSTILE, Fraction(1)))
    assert not tags.found.keys() & {"script", "img", "b"}


GOOD, FOREIGN = [f"http://127.0.0.1:{PORT}", f"http://localhost:{PORT}"], ["http://evil.example", "null"]


@pytest.mark.parametrize("origins", [pair for pair in product([*GOOD, *FOREIGN], repeat=2) if set(pair) & set(FOREIGN)])
def test_no_good_origin_makes_up_for_a_foreign_one(origins: tuple[str, ...]):
    assert post(app(), "/api/look", LOOK, *[("origin", origin) for origin in origins]).status == 403


def test_pages_of_its_own_are_answered():
    for origin in GOOD:
        assert post(app(), "/api/look", LOOK, ("origin", origin)).status == 200


def test_the_server_listens_on_loopback_alone():
    with listening(0) as found:
        host, port = found.getsockname()
        assert host == "127.0.0.1"
        assert port > 0


def _states() -> list[dict[str, str]]:
    """A state of every question with every promise and utility that it is served for."""
    return [
        {"question": question, "privacy": notion, "utility": utility}
        for question, rows in served().items()
        if question != TABLE
        for notion, utilities in rows.items()
        for utility in utilities
    ]


def _others(name: str, text: str) -> list[str]:
    """What else a field may say."""
    if text.replace(".", "", 1).isdigit():
        return [str(Fraction(text) / 2), str(Fraction(text) + 1)]
    return ["on", "1e-7", "1", "2", "3", "identity", "disjoint", "-1, 11", "0, 9", "1, 2"]


def test_whatever_a_field_says_otherwise_belongs_to_other_points():
    """Two deltas, two sensitivities, two of anything: what was computed for one is not shown again for the other."""
    tried = Counter[str]()
    for state in _states():
        choices = (QUESTIONS[state["question"]], PRIVACY[state["privacy"]], UTILITY[state["utility"]])
        asked = read(state)
        for entry in [entry for choice in choices for entry in choice.entries]:
            for other in _others(entry.name, asked.values[entry.name]):
                try:
                    changed = read({**state, entry.name: other})
                except EntryError:  # not allowed there
                    continue
                same = (changed.query, changed.utility, dict(changed.fixed)) == (
                    asked.query,
                    asked.utility,
                    dict(asked.fixed),
                )
                assert same or changed.key != asked.key, (state, entry.name, other)
                tried[entry.name] += not same
    names = {
        entry.name for kind in (QUESTIONS, PRIVACY, UTILITY) for choice in kind.values() for entry in choice.entries
    }
    assert len(tried) >= len(names) / 2
    assert tried["delta"]
    keys = [read(state).key for state in _states()]
    assert len(set(keys)) == len(keys)
