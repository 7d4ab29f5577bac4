"""One page of HTML with every figure, claim, verdict and number of the reproduced papers; it needs nothing else."""

from __future__ import annotations

import csv
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from noisewright.drawing.pages import rendered
from noisewright.lab.reproductions import VERDICTS

if TYPE_CHECKING:
    from noisewright.lab.reproductions import Claim, Reproduction


MOST_ROWS = 40
"""Rows of a table that are shown; the file beside the page has all."""
_TITLE = "The papers, reproduced"


def page(results: Mapping[str, Reproduction], folder: Path) -> str:
    """The page, to be written into `folder`: what is linked, the tables of numbers, is named relative to it."""
    title = _TITLE if len(results) > 1 else next(iter(results.values())).title
    found = {claim.verdict for result in results.values() for claim in result.claims}
    papers = [_Paper(name, result, folder) for name, result in results.items()]
    verdicts = [verdict for verdict in VERDICTS if verdict in found]
    return rendered("noisewright.lab", "papers.html.j2", title=title, papers=papers, verdicts=verdicts, anchor=_anchor)


def counts(claims: Iterable[Claim]) -> Counter[str]:
    """How many claims have each verdict."""
    found = Counter(claim.verdict for claim in claims)
    return Counter({verdict: found[verdict] for verdict in VERDICTS if found[verdict]})


@dataclass(frozen=True)
class _Numbers:
    """A table's first rows as text, and where the file with all of them is."""

    path: Path
    place: str
    header: list[str]
    rows: list[list[str]]
    count: int

    @property
    def told(self) -> str:
        """How many rows there are, and how many of them are shown."""
        return f"the first {MOST_ROWS} of {self.count} rows" if self.count > MOST_ROWS else f"{self.count} rows"


@dataclass(frozen=True)
class _Figure:
    """A picture with what is said about it: its caption, the claims about it by their numbers, the tables behind it."""

    path: Path
    title: str
    caption: str
    description: str
    image: str
    claims: list[tuple[int, Claim]]
    behind: list[_Numbers]


@dataclass(frozen=True)
class _Paper:
    """What the page shows of one reproduction."""

    name: str
    result: Reproduction
    folder: Path

    @cached_property
    def verdicts(self) -> Counter[str]:
        return counts(self.result.claims)

    @cached_property
    def figures(self) -> list[_Figure]:
        return [self._figure(path) for path in _pictures(self.result)]

    @cached_property
    def tables(self) -> list[tuple[str, list[tuple[int, Claim]], _Numbers]]:
        """The tables that stand behind no figure: title, the claims about each, its numbers."""
        shown = {number for path in _pictures(self.result) for number in numbers_in(path, "figure")}
        loose = [p for p in _tables(self.result) if not set(numbers_in(p, "figure")) & shown and p.stem != "claims"]
        return [(_words(p), self._about(set(numbers_in(p, "table")), "table"), self._numbers(p)) for p in loose]

    def _figure(self, path: Path) -> _Figure:
        title, description = told(path)
        numbers, captions = numbers_in(path, "figure"), CAPTIONS.get(self.name, {})
        caption = next((captions[n] for n in numbers if n in captions), title)
        tables = _tables(self.result)
        behind = [t for t in tables if t.stem == path.stem] or [
            t for t in tables if set(numbers_in(t, "figure")) & set(numbers)
        ]
        return _Figure(
            path,
            _figure_title(path),
            caption,
            description,
            b64encode(path.read_bytes()).decode("ascii"),
            self._about(set(numbers), "figure"),
            [self._numbers(t) for t in behind],
        )

    def _about(self, numbers: set[int], kind: str) -> list[tuple[int, Claim]]:
        """The claims about a figure or a table, each with its place among all."""
        every = enumerate(self.result.claims, 1)
        return [(i, claim) for i, claim in every if numbers_of(claim.where, kind) & numbers]

    def _numbers(self, path: Path) -> _Numbers:
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = [*csv.reader(file)] or [[]]
        place = path.relative_to(self.folder) if path.is_relative_to(self.folder) else path
        shown = [[_short(cell) for cell in row] for row in rows[:MOST_ROWS]]
        return _Numbers(path, place.as_posix(), header, shown, len(rows))


def _pictures(result: Reproduction) -> list[Path]:
    return sorted(path for path in result.files if path.suffix == ".png")


def _tables(result: Reproduction) -> list[Path]:
    return sorted(path for path in result.files if path.suffix == ".csv")


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


def _anchor(*parts: str) -> str:
    """The name of a place on the page."""
    return "-".join("".join(c if c.isalnum() else "-" for c in part.lower()) for part in parts)


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
