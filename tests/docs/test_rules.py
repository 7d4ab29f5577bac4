"""Every `Rule:` says where its argument is from: a work of the bibliography, or a section of the theory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import markdown
import pytest

from tests.architecture.source import modules
from tests.docs.pages import ROOT
from tests.tree import PACKAGE, tracked

DOCS = ROOT / "docs"
_WORKS = DOCS / "references.md"
_OWN = re.compile(r"\bRule:(?=\s)")
_NEXT = re.compile(r"\n\s*\n|\n\s*(?:Guarantees|Valid for|Raises|Proof):|\n\s*>>>")
_SOURCE = re.compile(r"\[([\w#-]+(?:, [\w#-]+)*)\]$")
_LINKED = re.compile(r"references\.md#([\w-]+)")


def _texts(code: str) -> Iterator[str]:
    """Docstrings, other strings that stand by themselves, and comments, several lines of which are one text."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    for comment, lines in groupby(code.splitlines(), lambda line: line.lstrip().startswith("#")):
        if comment:
            yield "\n".join(line.lstrip().lstrip("# ") for line in lines)


def rules(code: str) -> list[str]:
    """What follows each `Rule:`, to the end of its paragraph."""
    starts = [part for text in _texts(code) for part in _OWN.split(text)[1:]]
    return [" ".join(_NEXT.split(part)[0].split()) for part in starts]


def sources(rule: str) -> list[str]:
    """The keys that a rule ends with."""
    found = _SOURCE.search(rule)
    return found[1].split(", ") if found else []


@cache
def _headings(page: Path) -> frozenset[str]:
    """The anchors of a page's headings."""
    made = markdown.markdown(page.read_text(encoding="utf-8"), extensions=["toc", "fenced_code"])
    return frozenset(re.findall(r'<h[2-6] id="([^"]+)">', made))


def works() -> set[str]:
    """The keys of the bibliography."""
    return set(re.findall(r"^### (\w+)$", _WORKS.read_text(encoding="utf-8"), re.M))


def unknown(key: str) -> bool:
    """Whether a key is none of the bibliography, and no section of the theory."""
    page, _, anchor = key.partition("#")
    return anchor not in _headings(DOCS / "theory.md") if page == "theory" else key not in works()


FOUND = [(path, rule) for path in modules() for rule in rules(path.read_text(encoding="utf-8"))]


def test_a_rule_without_a_source_is_found():
    code = '"""A.\n\n    Rule: b\n    c. [Key16, theory#d]\n    Valid for: e.\n\n    Rule: f."""\n'
    code += "# Rule: g\n# h [Key16]\nx = 1"
    assert [sources(rule) for rule in rules(code)] == [["Key16", "theory#d"], [], ["Key16"]]
    assert rules("def f(rule: Rule) -> Rule:\n    return rule") == []
    assert unknown("Nobody99")
    assert unknown("theory#nowhere")
    assert not unknown("theory#exact-draws")


@pytest.mark.parametrize("path", sorted({path for path, _ in FOUND}), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_rule_ends_with_a_source_that_exists(path: Path):
    own = [rule for place, rule in FOUND if place == path]
    assert [rule for rule in own if not sources(rule)] == []
    assert [key for rule in own for key in sources(rule) if unknown(key)] == []


def test_every_work_is_used():
    keys = {key for _, rule in FOUND for key in sources(rule)}
    linked = {anchor for page in tracked(DOCS, ".md") for anchor in _LINKED.findall(page.read_text(encoding="utf-8"))}
    assert sorted(key for key in works() if key not in keys and key.lower() not in linked) == []
    assert sorted(linked - {key.lower() for key in works()}) == []


def test_no_work_is_there_twice():
    listed = re.findall(r"^### (\w+)$", _WORKS.read_text(encoding="utf-8"), re.M)
    assert len(listed) > 40
    assert len({key.lower() for key in listed}) == len(listed)
