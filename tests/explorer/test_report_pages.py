"""The pages to hand over in a real browser: on a phone, by day and by night, without asking anybody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import noisewright as nw
from tests.explorer.test_looks import CONTRAST, LEAST_CONTRAST
from tests.unit.app.test_reports import plan_of, table

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pages")
    report = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.AbsoluteError(), progress=False)
    report.html(folder / "design.html")
    report.best.report(folder / "mechanism.html")
    data = table(folder)
    plan = plan_of(data)
    plan.report(folder / "plan.html")
    plan.release()
    assert data.ledger is not None
    data.ledger.report(folder / "ledger.html")
    return sorted(folder.glob("*.html"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_horizontal_scrolling_and_texts_stand_out(browser: Browser, pages: list[Path], scheme: str):
    assert len(pages) == 4
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for place in pages:
        page.goto(place.as_uri(), wait_until="load")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 360, place.name
        found = page.evaluate(CONTRAST)
        assert len(found) > 20
        assert [each for each in found if each[0] < LEAST_CONTRAST] == [], place.name
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
