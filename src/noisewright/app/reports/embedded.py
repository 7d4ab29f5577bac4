"""The saved content inside a page: text that is shown on request, never a script; `verify` reads it back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from noisewright.problem.errors import InvalidInputError, MechanismFileError
from noisewright.problem.untrusted import plain_of, text_in

PAGES = (".html", ".htm")
"""How the names of pages end."""
_ID = "noisewright-saved"


def embedded(saved: Mapping[str, Any]) -> str:
    """The content as JSON, folded away; it is not printed."""
    text = escape(json.dumps(saved, ensure_ascii=False, allow_nan=False), quote=False)
    return (
        "<details>\n<summary>The saved content of this report, which the command above reads</summary>\n"
        f'<section class="saved" tabindex="0" aria-label="Saved content"><pre id="{_ID}">{text}</pre></section>\n'
        "</details>"
    )


def read_page(path: Path) -> dict[str, Any]:
    """What a page holds, as plain data that nothing is believed of yet."""
    try:
        text = text_in(path)
    except (OSError, ValueError) as error:
        raise MechanismFileError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}.") from None
    held = saved_in(text)
    try:
        data = plain_of(held)
    except ValueError as error:
        raise MechanismFileError(
            f"the content that {path} holds is not JSON ({error}): the page was edited or damaged."
        ) from None
    if not isinstance(data, dict):
        raise MechanismFileError(f"the content that {path} holds is no JSON object: the page was edited or damaged.")
    return data


def checked(path: str | Path) -> Path:
    """A path that ends in .html, in a folder that is there."""
    if not isinstance(path, str | Path) or Path(path).suffix.lower() not in PAGES:
        raise InvalidInputError(f"the report is {path!s}; give a name that ends in .html.")
    if not Path(path).parent.is_dir():
        raise InvalidInputError(f"the report is {path}, but there is no folder {Path(path).parent}; make it first.")
    return Path(path)


def saved_in(text: str) -> str:
    """The JSON that a page holds. Refuses a page with none, or with more than one."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    if len(reader.found) != 1:
        raise MechanismFileError("the page holds no saved content of noisewright; give a report as it was written.")
    return reader.found[0]


class _Reader(HTMLParser):
    """Collects the text of the one element that holds the content."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "pre" and ("id", _ID) in attrs:
            self._inside = True
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[-1] += data
