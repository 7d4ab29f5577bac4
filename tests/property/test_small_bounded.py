"""No value of a small bounded design is better than its law or the bound, and the winner is no worse than the rest."""

from __future__ import annotations

import pytest

import noisewright as nw
from noisewright.search.designer import designed
from noisewright.search.designers import bounded
from noisewright.search.programmes.layout import Size
from noisewright.search.report.progress import quiet
from noisewright.search.report.report import Report
from tests.bounded import few_forms
from tests.small_bounded import Asked, faults, small_designs

_SIZE = Size(8, 60)
_SOAK = 2000


def _report(asked: Asked, patch: pytest.MonkeyPatch) -> Report:
    """A design on a coarse grid with a few closed forms: whole answers have a row each all the same."""
    few_forms(patch, *asked.forms)
    return designed(bounded.bounded_designer(_SIZE), asked.query.bounded, asked.privacy, asked.utility.alone(0), quiet)


def _faults(seed: int, count: int, patch: pytest.MonkeyPatch, *, integer: bool | None = None) -> list[str]:
    found = []
    for asked in small_designs(seed, count, integer=integer):
        with patch.context() as here:
            found += [f"{asked}: {fault}" for fault in faults(asked, _report(asked, here))]
    return found


@pytest.mark.parametrize(("integer", "count"), [(True, 30), (False, 10)], ids=["whole", "real"])
def test_what_is_told_of_small_ranges_is_kept_by_the_laws(integer: bool, count: int, monkeypatch: pytest.MonkeyPatch):
    assert _faults(32, count, monkeypatch, integer=integer) == []


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_what_is_told_of_2000_small_designs_is_kept_by_the_laws(monkeypatch: pytest.MonkeyPatch):
    assert _faults(2000, _SOAK, monkeypatch) == []


def test_a_staircase_clamped_to_ten_numbers_is_told_at_what_it_costs_and_wins_nothing():
    report = nw.design(
        nw.Scalar(1, integer=True, inputs=(-2, -1), outputs=(-6, 3), unbiased=True),
        privacy=nw.PureDP("0.7"),
        utility=nw.AbsoluteError(),
    )
    told = {c.name: c.value for c in report.candidates}
    assert told["clamped staircase"] == pytest.approx(1.38265266679)
    assert report.candidates[0].name == "linear programme"
    assert report.bound is not None
    assert report.bound == pytest.approx(1.318246, rel=1e-5)
    assert min(c.value for c in report.kept) >= report.bound
