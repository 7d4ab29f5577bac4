"""Figures and tables are found by number: in the names of files, and in the places of claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from noisewright.lab.page import CAPTIONS, numbers_in, numbers_of
from noisewright.lab.reproductions import REPRODUCTIONS


@pytest.mark.parametrize(
    ("where", "figures", "tables"),
    [
        ("Figure 7", {7}, set()),
        ("Section V-A, Figures 2 and 3", {2, 3}, set()),
        ("Figures 8 to 10 and 12", {8, 9, 10, 12}, set()),
        ("Tables 1 and 4, Figure 3", {3}, {1, 4}),
        ("Fig. 11, section 5.5", {11}, set()),
        ("Figures 5, 6 and 7 (page 12)", {5, 6, 7}, set()),
        ("Section 5.2.3, Figures 5–6", {5, 6}, set()),
        ("Theorem 7", set(), set()),
    ],
)
def test_the_place_of_a_claim(where: str, figures: set[int], tables: set[int]):
    assert numbers_of(where, "figure") == figures
    assert numbers_of(where, "table") == tables


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("figure-07.png", (7,)),
        ("figure-07-absolute.png", (7,)),
        ("figure-04-and-05.csv", (4, 5)),
        ("figure-07-l1.png", (7,)),
        ("errors.csv", ()),
    ],
)
def test_the_name_of_a_file(name: str, figures: tuple[int, ...]):
    assert numbers_in(Path(name), "figure") == figures


def test_every_paper_has_captions():
    assert list(CAPTIONS) == list(REPRODUCTIONS)
    for captions in CAPTIONS.values():
        assert all(text.endswith(".") and len(text) > 40 for text in captions.values())
