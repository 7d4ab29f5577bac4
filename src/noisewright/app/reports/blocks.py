"""A page and what it is made of; the templates beside this module escape whatever is given as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from noisewright.app.reports.embedded import embedded
from noisewright.drawing.pages import fragment, rendered

PACKAGE = "noisewright.app.reports"
_block = partial(fragment, PACKAGE, "blocks.html.j2")
NONE = Markup("")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it; a part that is not HTML of a template is text."""

    heading: str
    parts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page: what it is about, in one sentence and in sections, and the saved content it can be verified by."""

    kind: str
    title: str
    lead: str
    cards: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    saved: Mapping[str, Any]

    def html(self) -> str:
        """The file: nothing in it comes from elsewhere, and nothing in it runs."""
        return rendered(PACKAGE, "report.html.j2", page=self, title=shortened(self.title), saved=embedded(self.saved))


def explanation(body: str) -> str:
    """A page around the explanation of a mechanism, which is HTML that the library made and escaped."""
    return rendered(PACKAGE, "explanation.html.j2", title="Explanation of a release", body=Markup(body))


def shortened(title: str, longest: int = 66) -> str:
    """A title for the edge of a window."""
    return title if len(title) <= longest else title[: longest - 1] + "…"


def short(value: float) -> str:
    """Four digits; large numbers with their thousands apart instead of powers of ten."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if 1000 <= abs(rounded) < 10**15 else f"{rounded:.4g}"


def paragraphs(*texts: str, look: str = "") -> Markup:
    """Sentences; empty ones are left out."""
    return _block("paragraphs", texts, look)


def points(texts: Sequence[str]) -> Markup:
    """A list; nothing for none."""
    return _block("points", texts)


def facts(pairs: Sequence[tuple[str, str]]) -> Markup:
    """Names and what they are."""
    return _block("facts", pairs)


def table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1, first: bool = False
) -> Markup:
    """A table that scrolls by itself where it is too wide; the first `words` columns are text, the others numbers.

    `first` shows the first row as the one that matters.
    """
    return _block("table", caption, header, rows, words, first)


def figure(picture: Markup, caption: str) -> Markup:
    """A picture above what it shows; nothing without a picture."""
    return _block("figure", picture, caption)


def image(name: str, told: str, data: str) -> Markup:
    """A picture of another library, SVG in base64, in a region that scrolls."""
    return _block("image", name, told, data)


def subheading(text: str) -> Markup:
    """A heading inside a section."""
    return _block("subheading", text)


def command(text: str) -> Markup:
    """What is typed in a shell."""
    return _block("command", text)


def guarantee_box(*texts: str) -> Markup:
    """What everything else rests on, set apart."""
    return _block("guarantee", texts)
