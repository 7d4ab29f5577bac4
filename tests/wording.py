"""What a reader of a report would stumble over."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

BAD = {
    "a percentage in scientific notation": r"\d[eE][+-]?\d+ ?%",
    "a factor in scientific notation": r"\d[eE][+-]?\d+ times",
    "a percentage that should be a factor": r"(?<![\d.])\d[\d,]{3,}(?:\.\d+)? ?%",
    "no number": r"\bnan\b|\bNaN\b",
    "an infinity of floats": r"(?<![a-z])-?inf\b",
    "an answer that says nothing": r"not known|none known|unknown",
    "a None": r"\bNone\b",
    "once smaller": r"(?<![\d.,])1 times\b",
    "one of many": r"(?<![\d.,])1 (?:equal )?(?:releases|numbers|candidates|times)\b",
    "a verb in the wrong number": r"blocks wins|blocks is the",
    "noise behind a comma": r", losses composed noise|noise noise",
    "an empty place": r"  ;|: ;|\(\)",
}


def stumbles(text: str) -> dict[str, str]:
    """What a reader would stumble over, and where."""
    found = {name: re.search(pattern, text) for name, pattern in BAD.items()}
    return {name: text[max(0, match.start() - 40) : match.end() + 10] for name, match in found.items() if match}


def assert_reads_well(report: Any) -> None:
    page = unescape(re.sub(r"<[^>]+>", " ", report._repr_html_()))
    for text in (str(report), page):
        assert stumbles(text) == {}
    sentences = [report.why, *report.notes]
    assert all(sentence.endswith(".") for sentence in sentences)
    if report.bound is None:
        assert re.search(r"bound .*is proven|composed", report.why)
