"""How the page looks, measured: contrast, width on a phone, words for every picture, nothing from elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from noisewright.app.explorer.form import QUESTIONS
from tests.explorer.conftest import Opened

LEAST_CONTRAST = 4.5
_QUICK = [name for name in QUESTIONS if name not in ("bounded", "workload")]
CONTRAST = """() => {
  const parts = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = (c) => { const v = c / 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const behind = (element) => {
    for (let here = element; here; here = here.parentElement) {
      const found = parts(getComputedStyle(here).backgroundColor);
      if (found.length === 3 || found[3] > 0.99) return found;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const shown = walker.currentNode.textContent.trim() && element.checkVisibility();
    if (!shown || element.closest("title, desc, :disabled, noscript")) continue;
    const style = getComputedStyle(element);
    const ink = parts(element.closest("svg") ? style.fill : style.color);
    const [a, b] = [luminance(ink), luminance(behind(element.closest("svg")?.parentElement || element))];
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), walker.currentNode.textContent.trim().slice(0, 40)]);
  }
  return found;
}"""
_EDGES = """() => [...document.querySelectorAll("svg[data-picture], pre, fieldset, table, button")]
  .filter((element) => element.checkVisibility() && !element.closest(".wide"))
  .map((element) => element.getBoundingClientRect()).map((box) => [box.left, box.right])"""
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_by_day_and_by_night(opened: Opened, scheme: str):
    page = opened("", color_scheme=scheme)
    page.wait_for_selector("body[data-whole]")
    page.locator("#number-sensitivity").fill("wrong")
    page.wait_for_selector("#number-sensitivity-error:not(:empty)")
    page.evaluate("() => document.getElementById('results').classList.remove('stale')")
    page.wait_for_timeout(200)
    found = page.evaluate(CONTRAST)
    assert len(found) > 80
    assert [each for each in found if each[0] < LEAST_CONTRAST] == []


def test_a_phone_needs_no_horizontal_scrolling(opened: Opened):
    page = opened("", **PHONE)
    for question in _QUICK:
        page.locator("#question").select_option(question)
        page.wait_for_selector("body:not([data-busy])")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 360, question
        edges = page.evaluate(_EDGES)
        assert edges
        assert [edge for edge in edges if edge[0] < 0 or edge[1] > 360] == []


def test_every_picture_has_words(opened: Opened):
    page = opened()
    pictures = page.locator("svg[data-picture]").all()
    assert len(pictures) == 4
    for picture in pictures:
        assert picture.get_attribute("role") == "img"
        names = (picture.get_attribute("aria-labelledby") or "").split()
        assert [len(page.locator(f"#{name}").text_content() or "") > 10 for name in names] == [True, True]
    assert page.locator("svg:not([role=img]):not([aria-hidden=true])").count() == 0
    unnamed = "() => [...document.querySelectorAll('input, select, button')].filter((e) => !e.labels?.length &&"
    assert page.evaluate(f"{unnamed} !e.getAttribute('aria-label') && !e.textContent).map((e) => e.id)") == []
    assert page.evaluate("() => document.querySelectorAll('[style], script:not([src]), style').length") == 0


def test_nothing_comes_from_elsewhere(opened: Opened):
    page = opened(drawn=False)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.wait_for_selector("body[data-looks]")
    assert asked
    assert {url.split("/")[2] for url in asked} == {page.url.split("/")[2]}
