"""The explorer in a real browser, as a person uses it: tasks from end to end."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from noisewright.problem.privacy import PureDP
from noisewright.sample.certified import Certified
from tests.e2e.command import Cli, assert_succeeded
from tests.explorer.conftest import Opened
from tests.explorer.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page


def expect(what: Any) -> Any:
    """What Playwright waits for; whoever asks has a page already."""
    from playwright.sync_api import expect as expected

    return expected(what)


def looks(page: Page) -> int:
    return int(page.locator("body").get_attribute("data-looks") or 0)


def settled(page: Page) -> None:
    """Wait until everything that was changed is answered."""
    page.wait_for_selector("body:not([data-busy])")


def amount(page: Page) -> float:
    return float(page.locator("#amount").input_value())


def pixels(page: Page, name: str) -> Any:
    return np.asarray(Image.open(io.BytesIO(page.locator(f'svg[data-picture="{name}"]').screenshot())).convert("L"))


def changed(before: Any, after: Any) -> float:
    """The share of pixels that differ visibly."""
    if before.shape != after.shape:
        return 1.0
    return float(np.mean(np.abs(before.astype(int) - after.astype(int)) > 24))


def test_1_ask_for_less_accuracy_and_pay_less_privacy(opened: Opened):
    page = opened()
    expect(page.locator('[data-panel="summary"]')).to_contain_text("is enough")
    first = amount(page)
    page.locator("#target").fill("6")
    settled(page)
    assert amount(page) == pytest.approx(first / 2, rel=0.05)
    expect(page.locator('[data-panel="ranking"]')).to_contain_text("best possible")
    expect(page.locator('[data-panel="odds"]')).to_contain_text("50:50")
    expect(page.locator('[data-panel="hundred"]')).to_contain_text("100 such releases")
    # Every mechanism's own price follows, with what is impossible.
    expect(page.locator('[data-panel="budget"]')).to_contain_text("no mechanism reaches it at epsilon")


def test_2_pictures_follow_the_slider(opened: Opened):
    page = opened("move=privacy&amount=1")
    page.wait_for_selector("body[data-whole]")
    names = ("density", "answers", "curve", "guesses")
    first = {name: pixels(page, name) for name in names}
    page.locator("#amount-slider").scroll_into_view_if_needed()
    box = page.locator("#amount-slider").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.66, box["y"] + box["height"] / 2)
    page.mouse.down()
    for share in (0.5, 0.4, 0.3):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
    page.mouse.up()
    settled(page)
    assert amount(page) < 0.2
    for name in names:
        assert changed(first[name], pixels(page, name)) > 0.002, name


def test_3_a_reload_keeps_the_state(opened: Opened):
    page = opened()
    page.locator("#question").select_option("histogram")
    settled(page)
    page.locator("#privacy").select_option("zero-concentrated")
    page.locator("#histogram-bins").fill("20")
    page.locator("#histogram-replace").check()
    page.locator("#utility").select_option("squared-error")
    settled(page)
    shown = page.locator('[data-panel="summary"]').inner_text()
    address = page.url
    assert "token" not in address
    page.reload()
    page.wait_for_selector("body[data-looks]")
    assert page.url == address
    assert page.locator("#histogram-bins").input_value() == "20"
    assert page.locator("#histogram-replace").is_checked()
    assert page.locator("#privacy").input_value() == "zero-concentrated"
    assert page.locator('[data-panel="summary"]').inner_text() == shown


def test_4_a_wrong_entry_says_what_is_allowed_beside_the_field(opened: Opened):
    page = opened()
    for field, wrong, allowed, right in (
        ("number-sensitivity", "many", "finite number", "2"),
        ("error-quantile-confidence", "3", "at most 1", "0.9"),
        ("amount", "1000", "from 1e-05 to 32", "0.5"),
    ):
        page.locator(f"#{field}").fill(wrong)
        expect(page.locator(f"#{field}-error")).to_contain_text(allowed)
        assert page.locator(f"#{field}").get_attribute("aria-invalid") == "true"
        page.locator(f"#{field}").fill(right)
        settled(page)
        expect(page.locator(f"#{field}-error")).to_be_empty()


def test_5_the_copied_python_and_command_give_the_same_mechanism(opened: Opened, cli: Cli, tmp_path: Path):
    page = opened("question=several&sensitivities=1,3&utility=squared-error&move=privacy&amount=0.7")
    found = []
    for name in ("python", "command"):
        page.locator(f'button[data-copy="recipe-{name}"]').click()
        expect(page.locator(f'button[data-copy="recipe-{name}"]')).to_have_text("Copied")
        text = page.evaluate("() => navigator.clipboard.readText()")
        if name == "python":
            exec(compile(text, "copied", "exec"), {})
        else:
            assert_succeeded(cli(*text.split()[1:]))
        found.append(json.loads((tmp_path / "mechanism.json").read_text(encoding="utf-8")))
    with page.expect_download() as given:
        page.locator("#download").click()
    kept = json.loads(Path(given.value.path()).read_text(encoding="utf-8"))
    assert found == [kept, kept]


def test_6_the_downloaded_mechanism_is_proven_and_answers(opened: Opened, tmp_path: Path):
    page = opened("integer=on&target=4")
    with page.expect_download() as given:
        page.locator("#download").click()
    path = tmp_path / given.value.suggested_filename
    given.value.save_as(path)
    certified = Certified.load(path)
    assert float(certified.half_width("0.95")) <= 4
    assert isinstance(certified.release(42), int)
    assert certified.certificate.requirement == PureDP(page.locator("#amount").input_value())


def test_7_everything_by_keyboard(opened: Opened):
    """Tab to the accuracy, move it with arrows, choose another question, untick and tick, download."""
    page = opened()
    page.wait_for_selector("body[data-whole]")
    first = amount(page)
    _tab_to(page, "target-slider")
    for _ in range(25):
        page.keyboard.press("ArrowRight")
    settled(page)
    assert amount(page) > first
    _tab_to(page, "question")
    page.keyboard.press("ArrowDown")
    settled(page)
    assert page.locator("#question").input_value() == "histogram"
    expect(page.locator('[data-panel="answers"]')).to_contain_text("one bin")
    _tab_to(page, "histogram-replace")
    page.keyboard.press("Space")
    settled(page)
    page.wait_for_selector("#download:enabled")
    _tab_to(page, "download")
    with page.expect_download() as given:
        page.keyboard.press("Enter")
    assert given.value.suggested_filename == "mechanism.json"


def _tab_to(page: Page, wanted: str) -> None:
    """Press Tab until the element has the focus, which must be visible."""
    for _ in range(60):
        page.keyboard.press("Tab")
        here = page.evaluate("() => document.activeElement.id")
        if here == wanted:
            outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", wanted
            return
    raise AssertionError(f"{wanted} is not reached by Tab")


def test_8_long_work_shows_progress_and_can_be_cancelled(opened: Opened):
    page = opened("privacy=renyi&utility=squared-error", drawn=False)
    expect(page.locator("#progress")).to_be_visible()
    expect(page.locator("#progress-text")).to_contain_text("…")
    page.locator("#cancel").click()
    expect(page.locator("#problem")).to_contain_text("Cancelled")
    expect(page.locator("#progress")).to_be_hidden()
    page.locator("#privacy").select_option("pure")
    page.wait_for_selector("body[data-looks]")
    expect(page.locator('[data-panel="summary"]')).to_contain_text("is enough")


def test_9_a_tables_plan_is_shown_and_never_released(opened: Opened, explorer: Served):
    page = opened("question=table")
    plan = page.locator('[data-panel="ranking"]')
    expect(plan).to_contain_text("nothing is spent yet")
    expect(page.locator('[data-panel="summary"]')).to_contain_text("nothing can be released from this page")
    text = plan.inner_text()
    page.locator("#amount").fill("0.25")
    settled(page)
    assert plan.inner_text() != text
    expect(page.locator("#recipe-toml")).to_contain_text("epsilon = 0.25")
    with page.expect_download() as given:
        page.locator("#download").click()
    assert given.value.suggested_filename == "plan.json"
    assert re.search(r'"epsilon": "1/4"', Path(given.value.path()).read_text(encoding="utf-8"))
    buttons = page.locator("button:visible").all_inner_texts()
    assert not [text for text in buttons if "elease" in text]


def test_10_without_the_token_nothing_is_computed(opened: Opened, explorer: Served):
    page = opened(drawn=False, address=explorer.base)
    expect(page.locator("#gate")).to_be_visible()
    assert looks(page) == 0
    page.locator("#token").fill(explorer.token)
    page.locator("#open").click()
    page.wait_for_selector("body[data-looks]")
    expect(page.locator("#gate")).to_be_hidden()


def test_11_a_whole_curve_of_slow_designs_is_drawn_when_asked_for(opened: Opened):
    page = opened("question=bounded&utility=squared-error&move=privacy&amount=2")
    expect(page.locator('[data-panel="density"]')).to_contain_text("exact draws")
    expect(page.locator("#more")).to_be_visible()
    before = pixels(page, "curve")
    page.locator("#more").click()
    expect(page.locator("#progress")).to_be_visible()
    page.wait_for_function("() => document.querySelector('svg[data-picture=curve] polyline').points.numberOfItems >= 2")
    assert changed(before, pixels(page, "curve")) > 0.002
    page.locator("#cancel").click()
    expect(page.locator("#progress")).to_be_hidden()
