"""A running explorer with a spec, a browser, and pages whose console must stay silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import cli as cli
from tests.explorer.served import Served, chromium, served
from tests.optional import missing, require_package

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SPEC = """
[dataset]
source = "people.csv"
unit = "person"
budget = { epsilon = 3 }
ledger = "people.ledger"
[dataset.types]
age = "integer"
[privacy]
epsilon = 1
[keys.town]
columns = "town"
values = ["<b>Aston</b>", "Bude"]
[[ask]]
kind = "count"
by = "town"
[[ask]]
kind = "mean"
column = "age"
bounds = [0, 100]
"""
Opened = Callable[..., "Page"]


@pytest.fixture(scope="session")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An explorer with a spec file."""
    folder: Path = tmp_path_factory.mktemp("explorer")
    (folder / "people.csv").write_text("person,town,age\nana,Bude,41\nben,Bude,17\n", encoding="utf-8")
    (folder / "people.toml").write_text(SPEC, encoding="utf-8")
    with served(folder, "--spec", "people.toml") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The Chromium of this machine. While it is there an event loop runs, so that it stays within its module."""
    program = chromium()
    if program is None:
        missing("Chromium", "apt-get install chromium")
    require_package("playwright")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture
def opened(browser: Browser, explorer: Served) -> Iterator[Opened]:
    """Opens a state of the page, and waits until it was drawn; at the end the console must be empty."""
    contexts: list[Any] = []
    told: list[str] = []

    def open_page(query: str = "", *, drawn: bool = True, address: str | None = None, **looks: Any) -> Page:
        given = {
            "viewport": {"width": 1280, "height": 900},
            "permissions": ["clipboard-read", "clipboard-write"],
            **looks,
        }
        context = browser.new_context(**given)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: told.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("requestfailed", lambda request: _note(told, request))
        page.goto(address or explorer.at(query))
        if drawn:
            page.wait_for_selector("body[data-looks]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert told == []


def _note(told: list[str], request: Any) -> None:
    if "ERR_ABORTED" not in (request.failure or ""):  # what the page itself gives up for a newer wish
        told.append(f"{request.url}: {request.failure}")
