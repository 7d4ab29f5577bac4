"""The layers are drawn once, as the import contract has them."""

from __future__ import annotations

import re
import runpy

from tests.docs.pages import ROOT, pages

WRITER = runpy.run_path(str(ROOT / "docs" / "make_layers.py"))
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_layers_are_those_of_the_import_contract():
    assert WRITER["BEGIN"] + WRITER["drawing"]() + WRITER["END"] in PAGE, "run: python docs/make_layers.py"
    assert WRITER["with_layers"](PAGE) == PAGE


def test_each_layer_has_its_row_below_the_drawing():
    table = PAGE.partition(WRITER["END"] + "\n| package |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.M) == WRITER["layers"]()


def test_no_other_page_draws_them():
    drawn = re.compile(r"\bproblem\W+(→|►|->)|\bnumerics\s+(→|►|->)\s+laws")
    found = [page.name for page in pages() if drawn.search(page.read_text(encoding="utf-8"))]
    assert found == ["CONTRIBUTING.md"]
