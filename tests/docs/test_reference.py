"""The reference lists every public name, once."""

from __future__ import annotations

import re

from noisewright.door import homes, namespaces
from tests.docs.pages import ROOT


def test_the_reference_lists_every_public_name_once():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: ([\w.]+)$", page, re.M)
    spaces = ["noisewright", *namespaces()]
    public = {f"{space}.{name}" for space in spaces for name in homes(space)} - set(namespaces())
    assert sorted(listed) == sorted(public)
