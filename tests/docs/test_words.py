"""Who searches the site for a word of the field finds the page where it is done, and the glossary."""

from __future__ import annotations

import json
import re
from functools import cache
from html import unescape
from pathlib import Path

import pytest

from tests.docs.conftest import Built

DONE_IN = {
    "contribution bound": "tables/",
    "truncation": "tables/",
    "clamping": "bounded/",
    "privacy unit": "tables/",
    "user-level": "tables/",
    "adjacency": "tables/",
    "neighbouring": "tables/",
    "privacy loss distribution": "accounting/",
    "PLD": "accounting/",
    "hockey-stick": "accounting/",
    "dominating pair": "accounting/",
    "f-DP": "ledger/",
    "trade-off": "ledger/",
    "advanced composition": "accounting/",
    "filter": "ledger/",
    "odometer": "ledger/",
    "partition selection": "howto/private-groups/",
    "zCDP": "approximate/",
    "RDP": "approximate/",
    "matrix mechanism": "workloads/",
    "K-norm": "vectors/",
    "staircase": "theory/",
    "local model": "bounded/",
    "post-processing": "howto/post-processing/",
    "stability": "tables/",
}
"""The page where each word of the field is done."""


@cache
def _index(folder: Path) -> dict[str, str]:
    """What the search reads of each page, headings and texts, without marks."""
    entries = json.loads((folder / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    pages: dict[str, str] = {}
    for entry in entries:
        plain = unescape(re.sub(r"<[^>]+>", " ", f"{entry['title']}\n{entry['text']}"))
        page = entry["location"].partition("#")[0]
        pages[page] = f"{pages.get(page, '')}\n{' '.join(plain.split())}"
    return pages


def found(site: Built, word: str) -> set[str]:
    """The pages on which the search finds a word, whole but for an ending."""
    wanted = re.compile(rf"(?<![\w-]){re.escape(word)}s?(?![\w-])", re.I)
    return {page for page, text in _index(site.folder).items() if wanted.search(text)}


def test_a_word_that_is_nowhere_is_not_found(site: Built):
    assert found(site, "disclosure avoidance officer") == set()
    assert "theory/" in found(site, "staircase")


@pytest.mark.parametrize("word", DONE_IN)
def test_a_word_of_the_field_leads_to_the_page_where_it_is_done(word: str, site: Built):
    assert {DONE_IN[word], "glossary/"} <= found(site, word)


def test_every_link_of_the_glossary_into_the_reference_was_made(site: Built):
    page = (site.folder / "glossary" / "index.html").read_text(encoding="utf-8")
    assert len(re.findall(r'href="\.\./reference/\w+/#noisewright\.', page)) > 30
    assert re.findall(r"\]\[noisewright[\w.]*\]|\[<code>nw\.", page) == []
