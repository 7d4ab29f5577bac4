"""Each decision is one file with its date and its status, and the page of decisions lists them all."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.tree import tracked

FOLDER = ROOT / "docs" / "decisions"
INDEX = FOLDER / "index.md"
DECISIONS = [path for path in tracked(FOLDER, ".md") if path != INDEX]
_HEAD = re.compile(r"# (?P<title>.+)\n\nStatus: (?P<status>.+), (?P<date>\d{4}-\d\d-\d\d)\n\n\S")
_NEWER = re.compile(r"superseded by \[(?P<title>.+)\]\((?P<file>.+)\)")
_ROW = re.compile(r"^\| (\S+) \| \[(.+?)\]\((\S+?\.md)\) \| (.+) \|$", re.M)


def faults(path: Path, text: str) -> list[str]:
    """What is wrong with a decision: its name, its head, or what takes its place."""
    head = _HEAD.match(text)
    if head is None:
        return ["it begins with '# Title', an empty line and 'Status: accepted, YYYY-MM-DD'"]
    found = []
    if not re.fullmatch(rf"{head['date']}-[a-z0-9]+(-[a-z0-9]+)*\.md", path.name):
        found.append(f"its name is not {head['date']}-short-title.md")
    try:
        date.fromisoformat(head["date"])
    except ValueError:
        found.append(f"{head['date']} is no day")
    newer = _NEWER.fullmatch(head["status"])
    if newer is None:
        return found if head["status"] == "accepted" else [*found, f"{head['status']!r} is no status"]
    place = path.parent / newer["file"]
    other = place.read_text(encoding="utf-8") if place.is_file() and place != path else ""
    if not other.startswith(f"# {newer['title']}\n"):
        found.append(f"{newer['file']} is not the decision {newer['title']!r}")
    return found


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_its_date_and_its_status(path: Path):
    assert faults(path, path.read_text(encoding="utf-8")) == []


def test_a_decision_without_them_is_found():
    path = FOLDER / "2026-11-15-levels-instead-of-heights.md"
    good = "# Levels\n\nStatus: accepted, 2026-11-15\n\nWhy.\n"
    assert faults(path, good) == []
    assert faults(path, good.replace("accepted", "agreed")) == ["'agreed' is no status"]
    assert len(faults(path, good.replace("-15", "-16"))) == 1
    assert len(faults(path, good.replace("Status: accepted, 2026-11-15\n\n", ""))) == 1
    assert len(faults(path, good.replace("accepted", "superseded by [Levels](2026-11-18-scan-barrier.md)"))) == 1


def test_the_page_of_decisions_lists_each_with_its_date_and_status():
    listed = _ROW.findall(INDEX.read_text(encoding="utf-8"))
    heads = {path.name: _HEAD.match(path.read_text(encoding="utf-8")) for path in DECISIONS}
    written = [(head["date"], head["title"], name, head["status"]) for name, head in heads.items() if head]
    assert sorted(listed) == sorted(written)
