"""A page and what it is made of. Everything that is given as text is escaped here, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from noisewright.app.reports.embedded import embedded
from noisewright.app.reports.style import CSS

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it, as HTML."""

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
        body = "\n".join(
            f'<section aria-labelledby="s{i}">\n<h2 id="s{i}">{escape(section.heading)}</h2>\n'
            + "\n".join(part for part in section.parts if part)
            + "\n</section>"
            for i, section in enumerate(self.sections, 1)
        )
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline';"
            ' img-src data:">\n'
            f"<title>{escape(shortened(self.title))}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
            f'<header>\n<p class="kicker">{escape(self.kind)}</p>\n<h1>{escape(self.title)}</h1>\n'
            f'<p class="lead">{escape(self.lead)}</p>\n</header>\n{cards(self.cards)}\n{body}\n'
            f"{embedded(self.saved)}\n"
            "<footer><p>Made by noisewright. The page needs nothing from elsewhere and runs no script.</p></footer>\n"
            "</main>\n</body>\n</html>\n"
        )


def shortened(title: str, longest: int = 66) -> str:
    """A title for the edge of a window."""
    return title if len(title) <= longest else title[: longest - 1] + "…"


def short(value: float) -> str:
    """Four digits; large numbers with their thousands apart instead of powers of ten."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if 1000 <= abs(rounded) < 10**15 else f"{rounded:.4g}"


def paragraphs(*texts: str, look: str = "") -> str:
    """Sentences; empty ones are left out."""
    kind = f' class="{look}"' if look else ""
    return "\n".join(f"<p{kind}>{escape(text)}</p>" for text in texts if text)


def points(texts: Sequence[str]) -> str:
    """A list; nothing for none."""
    return "<ul>\n" + "\n".join(f"<li>{escape(text)}</li>" for text in texts) + "\n</ul>" if texts else ""


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and what they are."""
    body = "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in pairs)
    return f'<dl class="facts">\n{body}\n</dl>'


def cards(pairs: Sequence[tuple[str, str]]) -> str:
    """The few numbers that matter, large."""
    body = "\n".join(f"<div><dl><dt>{escape(name)}</dt><dd>{escape(text)}</dd></dl></div>" for name, text in pairs)
    return f'<div class="cards">\n{body}\n</div>' if pairs else ""


def table(caption: str, header: Sequence[str], rows: Rows, *, words: int = 1, first: bool = False) -> str:
    """A table that scrolls by itself where it is too wide; the first `words` columns are text, the others numbers.

    `first` shows the first row as the one that matters.
    """

    def kind(i: int) -> str:
        return "" if i < words else ' class="number"'

    head = "".join(f'<th scope="col"{kind(i)}>{escape(cell)}</th>' for i, cell in enumerate(header))
    body = "\n".join(
        ('<tr class="first">' if first and place == 0 else "<tr>")
        + "".join(
            f'<th scope="row">{escape(cell)}</th>' if i == 0 else f"<td{kind(i)}>{escape(cell)}</td>"
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for place, row in enumerate(rows)
    )
    return (
        f'<section class="scroll" tabindex="0" aria-label="{escape(caption)}">\n<table>\n'
        f"<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n"
        "</tbody>\n</table>\n</section>"
    )


def figure(picture: str, caption: str) -> str:
    """A picture above what it shows; nothing without a picture."""
    return f"<figure>\n{picture}\n<figcaption>{escape(caption)}</figcaption>\n</figure>" if picture else ""


def subheading(text: str) -> str:
    """A heading inside a section."""
    return f"<h3>{escape(text)}</h3>\n"


def command(text: str) -> str:
    """What is typed in a shell."""
    return f'<code class="command">{escape(text)}</code>'


def promise_box(*texts: str) -> str:
    """What everything else rests on, set apart."""
    return f'<div class="promise">\n{paragraphs(*texts)}\n</div>'
