"""Every page of the site in a real browser: on a phone and on a desk, by day and by night."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.conftest import Built
from tests.docs.pages import ROOT
from tests.explorer.test_looks import CONTRAST, LEAST_CONTRAST
from tests.tree import tracked

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = sorted(
    str(page.relative_to(ROOT / "docs").with_suffix("")).removesuffix("index") for page in tracked(ROOT / "docs", ".md")
)
_DECISIONS = [place for place in PAGES if place.startswith("decisions/2")]
VISITED = [place for place in PAGES if place not in _DECISIONS[1:]]
"""One decision stands for all, which are a title and a few paragraphs."""
_JSON = "application/json"
_SHOWN_ON_FOCUS = "Skip to content"
_LOOKED_AT_BY_NIGHT = ("", "howto/means-by-group", "how-we-know", "peers")


def _visit(page: Page, address: str, place: str) -> None:
    page.goto(f"{address}{place}{'/' if place and not place.endswith('/') else ''}", wait_until="load")


def _without_words(site: Built) -> str:
    """The index of the search with no page in it: a browser would read all words again with every page."""
    found = json.loads((site.folder / "search" / "search_index.json").read_text(encoding="utf-8"))
    return json.dumps({**found, "docs": []})


def test_every_page_is_read_on_a_phone_and_asks_nobody_else(browser: Browser, address: str, site: Built):
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    told: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: told.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    wide = []
    empty = _without_words(site)
    for place in VISITED:
        _visit(page, address, place)
        if page.evaluate("() => document.documentElement.scrollWidth") > 360:
            wide.append(place)
        if place == VISITED[0]:  # the index itself is read once
            page.wait_for_load_state("networkidle")
            context.route("**/search_index.json", lambda route: route.fulfill(body=empty, content_type=_JSON))
    context.close()
    assert wide == []
    assert told == []
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(browser: Browser, address: str, scheme: str):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    faint = []
    for place in _LOOKED_AT_BY_NIGHT:
        _visit(page, address, place)
        page.wait_for_timeout(300)
        found = page.evaluate(CONTRAST)
        assert len(found) > 50
        faint += [(place, *each) for each in found if each[0] < LEAST_CONTRAST and each[1] != _SHOWN_ON_FOCUS]
    context.close()
    assert faint == []


def test_pictures_have_words(browser: Browser, address: str):
    context = browser.new_context()
    page = context.new_page()
    for place in ("", "papers", "explorer", "reports"):
        _visit(page, address, place)
        words = page.evaluate("() => [...document.querySelectorAll('article img')].map((image) => image.alt)")
        assert words
        assert all(len(word) > 10 for word in words), place
    context.close()


def test_every_page_was_built(site: Built):
    assert site.status == 0, site.told
    for place in PAGES:
        assert (site.folder / Path(place) / "index.html").is_file(), place
