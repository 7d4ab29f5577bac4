"""The documentation prints the table that `design` looks into."""

from __future__ import annotations

import runpy

from noisewright.problem.queries import Scalar, Vector
from noisewright.search.design import DESIGNERS
from tests.docs.pages import ROOT

WRITER = runpy.run_path(str(ROOT / "docs" / "make_table.py"))
PAGE = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")


def test_the_table_of_the_documentation_is_the_one_that_is_looked_into():
    assert WRITER["table"]() in PAGE, "run: python docs/make_table.py"
    assert WRITER["with_table"](PAGE) == PAGE


def test_every_cell_is_in_the_table():
    rows = [line for line in WRITER["table"]().splitlines() if line.startswith("| `")]
    for (question, privacy), designer in DESIGNERS.items():
        name = WRITER["WRITTEN"].get(question.__name__, f"`{question.__name__}`")
        (row,) = [row for row in rows if row.startswith(f"| {name} |") and f"`{privacy.__name__}`" in row]
        printed = row.split("|")[3].replace("`", "").split(",")
        assert [utility.__name__ for utility in designer.utilities] == [name.strip() for name in printed]


def test_every_hole_that_several_numbers_have_is_named_with_its_reason():
    one, several = ({p: d.utilities for (q, p), d in DESIGNERS.items() if q is kind} for kind in (Scalar, Vector))
    holes = {utility.__name__ for privacy in one for utility in set(one[privacy]) - set(several[privacy])}
    section = PAGE.partition("## What one number has and several have not")[2].partition("\n## ")[0]
    named = {line.split("`")[1] for line in section.splitlines() if line.startswith("| `")}
    assert named == holes
