"""Links and pictures between the repository's own pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, pages

_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)|<img[^>]*\bsrc=\"(?P<source>[^\"]+)\"")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_local_links_lead_somewhere(page: Path):
    broken = []
    for match in _LINK.finditer(page.read_text(encoding="utf-8")):
        target = (match["target"] or match["source"]).partition("#")[0]
        if target and "://" not in target and not (page.parent / target).exists():
            broken.append(target)
    assert broken == []
