"""The reference lists every public name, once."""

from __future__ import annotations

import re

import noisewright
from tests.docs.pages import ROOT


def test_the_reference_lists_every_public_name_once():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: noisewright\.(\w+)$", page, re.M)
    public = [name for name in noisewright.__all__ if not name.startswith("__")]
    assert sorted(listed) == sorted(public)
