"""Whatever a page, an example or an error recommends as `nw.…` exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.queries import QUERIES
from noisewright.search.design import DESIGNERS
from tests.docs.pages import pages
from tests.examples import EXAMPLES
from tests.tree import PACKAGE, ROOT, tracked

_NAME = re.compile(r"(?<![\w.{])nw((?:\.[A-Za-z]\w*)+)")
READ = [*pages(), *tracked(PACKAGE, ".py", ".pyi"), *tracked(ROOT / "docs", ".py"), *tracked(ROOT / "examples", ".py")]
READ += tracked(ROOT / "benchmarks", ".py")


def missing(text: str) -> list[str]:
    """The names in a text that the package does not have."""
    found = []
    for name in dict.fromkeys(_NAME.findall(text)):
        thing: Any = nw
        try:
            for part in name.split(".")[1:]:
                thing = getattr(thing, part)
        except AttributeError:
            found.append(f"nw{name}")
    return found


def test_a_name_that_is_not_there_is_found():
    assert missing("give one of nw.Bounded(...), nw.ask.sum(...), nw.ask.total(...)") == ["nw.Bounded", "nw.ask.total"]


@pytest.mark.parametrize("path", READ, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_name_that_is_recommended_exists(path: Path):
    assert missing(path.read_text(encoding="utf-8")) == []


def _refusal(*asked: Any) -> str:
    query, privacy, utility = asked
    with pytest.raises(NoisewrightError) as refused:
        nw.design(query, privacy=privacy, utility=utility)
    return str(refused.value)


def test_a_query_that_is_none_is_told_of_questions_that_exist():
    told = _refusal(3, nw.PureDP(1), nw.AbsoluteError())
    assert missing(told) == []
    assert "nw.Scalar(...)" in told


@pytest.mark.parametrize("kind", sorted({kind for kind, _ in DESIGNERS} & set(QUERIES.kinds.values()), key=str))
def test_a_requirement_or_utility_that_is_none_is_told_of_some_that_exist(kind: type):
    query = kind(**EXAMPLES[kind])
    own = next(privacy for asked, privacy in DESIGNERS if asked is kind)
    for privacy, utility in (("pure", nw.AbsoluteError()), (own(**EXAMPLES[own]), "small")):
        told = _refusal(query, privacy, utility)
        assert missing(told) == [], told
