"""One page of HTML with every figure, claim, verdict and number of the reproduced papers; it needs nothing else."""

from __future__ import annotations

import csv
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from noisewright.lab.reproductions import VERDICTS

if TYPE_CHECKING:
    from noisewright.lab.reproductions import Claim, Reproduction


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


# How the page of reproduced papers looks: on a phone, in the dark, on paper.


CSS = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --faint: #57606a; --line: #d0d7de; --card: #f6f8fa;
  --link: #0b5394; --holds: #0a6b4b; --fails: #a33a00; --differs: #7a5200; --other: #4a4f57; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --paper: #14171a; --faint: #a3abb3; --line: #3a4148;
  --card: #1d2226; --link: #7cb8f0; --holds: #57c79f; --fails: #ff9a66; --differs: #e6b455; --other: #b8bec5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.9rem; line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 2px solid var(--line); }
h4 { margin: 0 0 .3rem; } a { color: var(--link); } p { margin: .4rem 0; }
nav a { display: inline-block; margin-right: .8rem; } nav summary a { font-weight: 600; }
summary { cursor: pointer; padding: .3rem 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .875rem; }
caption { text-align: left; color: var(--faint); padding-bottom: .3rem; }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left; }
td { font-variant-numeric: tabular-nums; } .summary td { text-align: right; }
.claim, figure, .loose { border: 1px solid var(--line); border-radius: 8px; background: var(--card); margin: 1rem 0;
  padding: .8rem 1rem; } .says, .how { color: var(--faint); }
figure img { width: 100%; height: auto; display: block; background: #fff; border-radius: 4px; }
figcaption { margin: .6rem 0; } .judged { padding-left: 1.1rem; }
.badge { border: 1px solid currentColor; border-radius: 1rem; padding: 0 .55rem; font-size: .8rem; font-weight: 600;
  white-space: nowrap; color: var(--other); }
.badge.holds { color: var(--holds); } .badge.fails { color: var(--fails); }
.badge.differs, .badge.erratum { color: var(--differs); }
@media (max-width: 40rem) { body { font-size: 15px; } main, .claim, figure, .loose { padding: .6rem; } }
@media print { :root { --ink: #000; --paper: #fff; --faint: #333; --card: #fff; --link: #000; --line: #999; }
  body { font-size: 10pt; } main { max-width: none; } .claim, figure { break-inside: avoid; }
  figure details { display: none; }
  h2 { break-before: page; } nav a { text-decoration: none; } }
"""


# What the figures of the papers show, in our words: the captions of the page of reproductions.


_COUNTED = re.compile(r"\b(Figure|Fig\.|Table)s?\s+((?:\d+(?:\s*(?:,|and|to|–|-)\s*(?=\d))?)+)", re.IGNORECASE)

CAPTIONS: dict[str, dict[int, str]] = {
    "composite": {
        1: "Two neighbouring answers under bounded additive noise, Laplace noise and a composite function: with bounded"
        " noise that moves with the answer some releases tell the answers apart, with the composite none does.",
        2: "The three activation functions A1, A2 and A3, which move with the answer.",
        3: "The two base functions B1 and B2, which stay where they are.",
        4: "The six composite densities, certified at epsilon 1, for the lowest, middle and highest answer.",
        5: "The way of an answer through the mechanism: mapped, drawn, mapped back.",
        6: "Algorithm 1, the search for the parameters, and what a finer step of it gains.",
        7: "Error of the maximum, the variance and the mode of each column against epsilon, for every mechanism.",
        8: "Relative error of a count of rows, first dataset of the paper: boxes over the releases, by epsilon.",
        9: "Relative error of a count of rows, second dataset of the paper: boxes over the releases, by epsilon.",
        10: "Relative error of a count of rows, third dataset of the paper: boxes over the releases, by epsilon.",
        11: "Error of the minimum and the mean of each column against epsilon, for every mechanism.",
        12: "Relative error of a count of rows for the integer mechanisms: boxes over the releases, by epsilon.",
    },
    "dx": {
        1: "A universe of elements with a distance for each pair, and the budget that each pair gets.",
        2: "Random points: how many times less noise metric privacy needs than ordinary Laplace noise, for one query"
        " and, by strategy, for several.",
        3: "Places on a map: the same factor for random queries, on all places and with close ones left out.",
        4: "Error under a hard and a smooth threshold (Blowfish policies), averaged over random queries.",
        5: "How many times less noise the two policies need than ordinary Laplace noise, query by query.",
    },
    "generalized-gaussian": {
        1: "Densities of generalized Gaussian noise at the same scale and at the same variance.",
        2: "The scale that Proposition 8 asks for against the power, beside the least that is enough for one number.",
        3: "The deviation of Gaussian noise by Equation 17, relative to that by Equation 18.",
        4: "How much heavier the tail of Laplace noise is than that of Gaussian noise by Equation 17.",
        5: "The epsilon of Gaussian noise (Equation 17) whose tail is that of Laplace noise, relative to Laplace's.",
        6: "Mildew data: released against true counts, one release of each mechanism.",
        7: "Mildew data: distance of the released table from the true one, by mechanism.",
        8: "Czech data: released against true counts, one release of each mechanism.",
        9: "Czech data: distance of the released table from the true one, by mechanism.",
        10: "Adult data: released against true counts, one release of each mechanism.",
        11: "Adult data: distance of the released table from the true one, by mechanism.",
        12: "Accuracy of a support vector machine that is trained on the released counts.",
    },
    "r2dp": {
        3: "How often the error is within a limit, against epsilon, for Laplace, staircase and two-fold noise.",
        4: "Mean absolute and root mean squared error against epsilon.",
        5: "Kullback-Leibler divergence between a histogram and its release against epsilon.",
        6: "Rényi divergence between a histogram and its release against epsilon.",
        7: "Rényi divergence of the mechanisms at the same pure epsilon, against the order.",
        8: "Mallows distance between the degree sequence of a graph and its release against epsilon.",
        9: "Precision and recall of naive Bayes classifiers with each kind of noise against epsilon.",
        11: "How often the error is within a limit, against the limit, at four values of epsilon.",
    },
    "non-identical-noise": {
        1: "Total squared error of Gaussian noise against epsilon, by sensitivity profile, K = 20 numbers.",
        2: "Total squared error of Gaussian noise against the number of answers, by sensitivity profile.",
        3: "Gini coefficient of the sensitivity profiles against the number of answers.",
        4: "Total squared error of Laplace noise against epsilon, by sensitivity profile, K = 20 numbers.",
        5: "Total squared error of Laplace noise against the number of answers, by sensitivity profile.",
        6: "Where Gaussian noise is better than Laplace noise: total squared error against the number of answers.",
    },
}
"""Reproduction -> number of the figure -> caption."""


def numbers_in(path: Path, kind: str) -> tuple[int, ...]:
    """The numbers of the figures ("figure") or tables ("table") that a file is about, by its name; () if of none."""
    if not path.stem.startswith(kind):
        return ()
    return tuple(int(word) for word in path.stem.split("-") if word.isdigit())


def numbers_of(where: str, kind: str) -> set[int]:
    """The figures or tables that the place of a claim names: "Figures 5 to 7 and 9" names 5, 6, 7 and 9."""
    found: set[int] = set()
    for match in _COUNTED.finditer(where):
        if not match[1].lower().startswith(kind[:3]):
            continue
        before = ""
        last = 0
        for word in re.findall(r"\d+|to|–|-", match[2]):
            if not word.isdigit():
                before = word
                continue
            found |= set(range(last, int(word) + 1)) if before else {int(word)}
            before, last = "", int(word)
    return found
