"""Small tables for people."""

from __future__ import annotations

import pytest

from noisewright.search.report.render import html_table, number, percent, text_table


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
    assert lines == ["name       x", "──────  ────", "a          1", "longer  22.5"]


def test_html_is_escaped():
    page = html_table("P(|x| <= 1)", ["<b>"], [["a & b"]], "5 < 6")
    for shown in ("P(|x| &lt;= 1)", "&lt;b&gt;", "a &amp; b", "5 &lt; 6"):
        assert shown in page
    assert "<b>" not in page
