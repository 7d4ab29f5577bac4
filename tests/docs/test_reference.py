"""The reference lists every public name, once."""

from __future__ import annotations

import re

from noisewright.door import homes, namespaces
from tests.tree import ROOT, tracked

PAGES = tracked(ROOT / "docs" / "reference", ".md")


def test_the_reference_lists_every_public_name_once():
    listed = [name for page in PAGES for name in re.findall(r"^::: ([\w.]+)$", page.read_text(encoding="utf-8"), re.M)]
    spaces = ["noisewright", *namespaces()]
    public = {f"{space}.{name}" for space in spaces for name in homes(space)} - set(namespaces())
    assert sorted(listed) == sorted(public)


def test_no_page_of_the_reference_is_without_end():
    namespace = max(len(homes(space)) for space in namespaces())
    assert max(page.read_text(encoding="utf-8").count("\n::: ") for page in PAGES) <= namespace


def test_the_overview_leads_to_every_page():
    overview = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    assert {*re.findall(r"\]\((\w+\.md)\)", overview)} == {page.name for page in PAGES} - {"index.md"}
