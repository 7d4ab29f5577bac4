"""One page of HTML with every figure, claim, verdict and number of the reproduced papers; it needs nothing else."""

from __future__ import annotations

import csv
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from noisewright.app.paper_style import CSS
from noisewright.lab.captions import CAPTIONS, numbers_in, numbers_of
from noisewright.lab.claims import VERDICTS

if TYPE_CHECKING:
    from noisewright.lab.claims import Claim, Reproduction

MOST_ROWS = 40
"""Rows of a table that are shown; the file beside the page has all."""
_TITLE = "The papers, reproduced"


def page(results: Mapping[str, Reproduction], folder: Path) -> str:
    """The page, to be written into `folder`: what is linked, the tables of numbers, is named relative to it."""
    title = _TITLE if len(results) > 1 else next(iter(results.values())).title
    body = [
        f"<h1>{escape(title)}</h1>",
        "<p>Every figure was drawn and every number computed by this run, on the data named below each title. A claim"
        " is the paper's sentence in our words; its verdict says whether it holds, and on which number that rests.</p>",
        _summary(results),
        f'<nav aria-label="Contents"><h2>Contents</h2>{"".join(_contents(n, r) for n, r in results.items())}</nav>',
        *(_paper(name, result, folder) for name, result in results.items()),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def counts(claims: Iterable[Claim]) -> Counter[str]:
    """How many claims have each verdict."""
    found = Counter(claim.verdict for claim in claims)
    return Counter({verdict: found[verdict] for verdict in VERDICTS if found[verdict]})


def _summary(results: Mapping[str, Reproduction]) -> str:
    given = {claim.verdict for result in results.values() for claim in result.claims}
    verdicts = [verdict for verdict in VERDICTS if verdict in given]
    head = "".join(f"<th>{_badge(verdict)}</th>" for verdict in verdicts)
    rows = ""
    for name, result in results.items():
        found = counts(result.claims)
        cells = "".join(f"<td>{found[verdict] or ''}</td>" for verdict in verdicts)
        rows += f'<tr><th scope="row"><a href="#{_id(name)}">{escape(result.title)}</a></th>{cells}</tr>'
    return (
        '<div class="wide"><table class="summary"><caption>Claims by verdict</caption>'
        f'<thead><tr><th scope="col">Paper</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _contents(name: str, result: Reproduction) -> str:
    pictures = "".join(f'<a href="#{_id(name, p.stem)}">{escape(_figure_title(p))}</a> ' for p in _pictures(result))
    tables = "".join(f'<a href="#{_id(name, p.stem)}">{escape(_words(p))}</a> ' for p in _loose_tables(result))
    return (
        f'<details open><summary><a href="#{_id(name)}">{escape(result.title)}</a></summary>'
        f'<p><a href="#{_id(name, "claims")}">Claims</a> {pictures}{tables}</p></details>'
    )


def _paper(name: str, result: Reproduction, folder: Path) -> str:
    data = "".join(f"<li>{escape(text)}</li>" for text in result.data)
    claims = "".join(_claim(name, i, claim) for i, claim in enumerate(result.claims))
    figures = "".join(_figure(name, path, result, folder) for path in _pictures(result))
    tables = "".join(_loose_table(name, path, result, folder) for path in _loose_tables(result))
    return (
        f'<section id="{_id(name)}"><h2>{escape(result.title)}</h2><h3>Data</h3><ul>{data}</ul>'
        f'<h3 id="{_id(name, "claims")}">Claims and verdicts</h3>{claims}<h3>Figures</h3>{figures}'
        + (f"<h3>Tables</h3>{tables}" if tables else "")
        + "</section>"
    )


def _claim(name: str, i: int, claim: Claim) -> str:
    how = getattr(claim, "how", "")
    method = f'<p class="how">How it was found: {escape(how)}</p>' if how else ""
    head = f"<h4>{escape(claim.where)} {_badge(claim.verdict)}</h4>"
    return (
        f'<article class="claim" id="{_id(name, f"claim-{i + 1}")}">{head}'
        f'<p class="says">The paper: {escape(claim.says)}</p><p>Found: {escape(claim.found)}</p>{method}</article>'
    )


def _figure(name: str, path: Path, result: Reproduction, folder: Path) -> str:
    title, description = told(path)
    numbers = numbers_in(path, "figure")
    caption = next((CAPTIONS.get(name, {}).get(n) for n in numbers if n in CAPTIONS.get(name, {})), None) or title
    behind = [t for t in _tables(result) if t.stem == path.stem] or [
        t for t in _tables(result) if set(numbers_in(t, "figure")) & set(numbers)
    ]
    image = b64encode(path.read_bytes()).decode("ascii")
    return (
        f'<figure id="{_id(name, path.stem)}"><img src="data:image/png;base64,{image}" alt="{escape(description)}"'
        f' loading="lazy"><figcaption><strong>{escape(_figure_title(path))}.</strong> {escape(caption)}</figcaption>'
        f"{_judged(name, result, set(numbers), 'figure')}{''.join(_numbers(t, folder) for t in behind)}</figure>"
    )


def _judged(name: str, result: Reproduction, numbers: set[int], kind: str) -> str:
    """The claims about a figure or a table, with their verdicts, as links."""
    about = [(i, claim) for i, claim in enumerate(result.claims) if numbers_of(claim.where, kind) & numbers]
    lines = "".join(
        f'<li>{_badge(claim.verdict)} <a href="#{_id(name, f"claim-{i + 1}")}">{escape(claim.says)}</a>'
        f" <span>Found: {escape(claim.found)}</span></li>"
        for i, claim in about
    )
    return f'<ul class="judged">{lines}</ul>' if lines else ""


def _numbers(path: Path, folder: Path) -> str:
    """A table of a file's first rows, folded away, with a link to the file."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = [*csv.reader(file)] or [[]]
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_short(cell))}</td>" for cell in row) + "</tr>" for row in rows[:MOST_ROWS]
    )
    place = path.relative_to(folder) if path.is_relative_to(folder) else path
    more = f"the first {MOST_ROWS} of {len(rows)} rows" if len(rows) > MOST_ROWS else f"{len(rows)} rows"
    link = f'<a href="{escape(place.as_posix())}">{escape(path.name)}</a>'
    return (
        f"<details><summary>The numbers behind it: {escape(path.stem)}, {more}</summary>"
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f"<p>All of them: {link}</p></details>"
    )


def _loose_table(name: str, path: Path, result: Reproduction, folder: Path) -> str:
    judged = _judged(name, result, set(numbers_in(path, "table")), "table")
    head = f'<div class="loose" id="{_id(name, path.stem)}"><h4>{escape(_words(path))}</h4>'
    return f"{head}{judged}{_numbers(path, folder)}</div>"


def _pictures(result: Reproduction) -> list[Path]:
    return sorted(path for path in result.files if path.suffix == ".png")


def _tables(result: Reproduction) -> list[Path]:
    return sorted(path for path in result.files if path.suffix == ".csv")


def _loose_tables(result: Reproduction) -> list[Path]:
    """The tables that stand behind no figure."""
    shown = {number for path in _pictures(result) for number in numbers_in(path, "figure")}
    return [path for path in _tables(result) if not set(numbers_in(path, "figure")) & shown and path.stem != "claims"]


def told(path: Path) -> tuple[str, str]:
    """The title and the description that a picture carries; the words of its name where it carries none."""
    from PIL import Image

    with Image.open(path) as picture:
        texts = getattr(picture, "text", {})
    title = texts.get("Title") or _words(path)
    return title, texts.get("Description") or title


def _figure_title(path: Path) -> str:
    numbers = numbers_in(path, "figure")
    rest = "".join(f" {word}" for word in path.stem.split("-")[1:] if not word.isdigit())
    return f"Figure {', '.join(map(str, numbers))}{',' if rest else ''}{rest}" if numbers else _words(path)


def _words(path: Path) -> str:
    words = [str(int(word)) if word.isdigit() else word for word in path.stem.replace("_", "-").split("-")]
    return " ".join(words).capitalize()


def _short(cell: str) -> str:
    """A number in six digits; other text as it is."""
    try:
        return f"{float(cell):.6g}" if not cell.lstrip("-").isdigit() else cell
    except ValueError:
        return cell


def _badge(verdict: str) -> str:
    return f'<span class="badge {_id(verdict)}">{escape(verdict)}</span>'


def _id(*parts: str) -> str:
    return "-".join("".join(c if c.isalnum() else "-" for c in part.lower()) for part in parts)
