"""Writes the verdicts of `noisewright reproduce all` into the page of papers: python docs/make_papers.py papers."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path

from noisewright.lab.reproductions import REPRODUCTIONS, VERDICTS

PAGE = Path(__file__).resolve().parent / "papers.md"
BEGIN, END = "<!-- verdicts: written by docs/make_papers.py -->", "<!-- end of verdicts -->"
WRONG = ("fails", "erratum")


def claims(folder: Path) -> dict[str, list[dict[str, str]]]:
    """The claims of each paper that has a folder, as `noisewright reproduce all` wrote it."""
    found = {}
    for name in REPRODUCTIONS:
        if not (folder / name / "claims.csv").is_file():
            continue
        with (folder / name / "claims.csv").open(encoding="utf-8", newline="") as file:
            found[name] = list(csv.DictReader(file))
    return found


def section(found: dict[str, list[dict[str, str]]]) -> str:
    """How many claims have which verdict, and every sentence of a paper that is not right as printed."""
    given = {claim["verdict"] for rows in found.values() for claim in rows}
    verdicts = [verdict for verdict in VERDICTS if verdict in given]
    lines = [f"| paper | {' | '.join(verdicts)} |", "|---|" + "---:|" * len(verdicts)]
    for name, rows in found.items():
        counts = Counter(claim["verdict"] for claim in rows)
        lines.append(f"| `{name}` | {' | '.join(str(counts[verdict] or '') for verdict in verdicts)} |")
    lines += ["", "### Errata: what is not right as printed", ""]
    for name, rows in found.items():
        wrong = [claim for claim in rows if claim["verdict"] in WRONG]
        if wrong:
            lines += [f"**{REPRODUCTIONS[name].title}**", ""]
            lines += [f"- {_text(c['where'])}: “{_text(c['the paper says'])}” — {_text(c['found'])}" for c in wrong]
            lines.append("")
    return "\n".join([BEGIN, "", *lines, END])


def _text(words: str) -> str:
    """Words as Markdown shows them."""
    for mark in "\\`*_<>[]|":
        words = words.replace(mark, "\\" + mark)
    return " ".join(words.split())


def with_verdicts(page: str, found: dict[str, list[dict[str, str]]]) -> str:
    """The page with its verdicts written anew."""
    before, _, rest = page.partition(BEGIN)
    return before + section(found) + rest.partition(END)[2]


if __name__ == "__main__":
    made = claims(Path(sys.argv[1] if len(sys.argv) > 1 else "papers"))
    PAGE.write_text(with_verdicts(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
