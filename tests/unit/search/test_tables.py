"""Small tables for people."""

from __future__ import annotations

import pytest

from noisewright.drawing.tables import html_table, text_table
from noisewright.search.report.render import number, percent


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1e-9, "0.0001 %"), (0.00123, "0.13 %"), (0.5, "50 %"), (0.07, "7 %"), (0.9999, "100 %")],
)
def test_percentages_are_rounded_up(value, shown):
    assert percent(value) == shown


def test_a_shown_percentage_is_never_below_a_small_value():
    assert float(percent(3e-8).removesuffix(" %")) / 100 >= 3e-8


def test_numbers_have_six_digits():
    assert number(1.918103531) == "1.9181"
    assert number(123456789.0) == "1.23457e+08"


def test_text_columns_line_up():
    lines = text_table(["name", "x"], [["a", "1"], ["longer", "22.5"]]).splitlines()
    assert lines == ["name       x", "────────────", "a          1", "longer  22.5"]


def test_what_is_too_long_for_a_line_goes_on_in_the_next():
    lines = text_table(["row", "for"], [["1", "ages of ward three"]], left=(0, 1), width=14).splitlines()
    assert lines == ["row  for", "──────────────", "1    ages of", "     ward", "     three"]


def test_what_looks_like_markup_is_text():
    assert "[bold]:smile:[/bold]" in text_table(["name"], [["[bold]:smile:[/bold]"]])


def test_html_is_escaped():
    page = html_table("P(|x| <= 1)", ["<b>"], [["a & b"]], "5 < 6")
    for shown in ("P(|x| &lt;= 1)", "&lt;b&gt;", "a &amp; b", "5 &lt; 6"):
        assert shown in page
    assert "<b>" not in page
