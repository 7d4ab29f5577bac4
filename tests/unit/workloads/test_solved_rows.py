"""Rows that come solved with the package: as good as they say, searched anew where a file was touched."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.problem.records import digest
from noisewright.search.cache import forget, read_kept
from noisewright.search.families import strategies as optimal
from noisewright.search.families.strategies import laplace_strategy, merged
from noisewright.search.programmes.strategy import best_extra_rows, extra_total

SHIPPED = Path(optimal.__file__).with_name("solved_rows.json.gz")
SEEN = {("ranges", 64): 5.5525, ("ranges", 1024): 11.02, ("prefixes", 64): 5.3222}
"""Root mean square errors per question at epsilon 1 that must be reached."""


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NOISEWRIGHT_CACHE", "off")
    forget()


def _refuse(gram: Any) -> Any:
    raise AssertionError("nothing is searched")


def _gram(query: nw.Workload) -> Any:
    whole, below, _ = merged(query)
    return whole.astype(float) / below


@pytest.mark.parametrize(("form", "size"), SEEN)
def test_what_ships_is_read_and_as_good_as_it_says(monkeypatch: pytest.MonkeyPatch, form: str, size: int):
    monkeypatch.setattr(optimal, "best_extra_rows", _refuse)
    query = getattr(nw.Workload, form)(size)
    rows = optimal.extra_rows(query).whole() / 2**24
    reach = np.abs(rows).sum(axis=0).max()
    error = 2 * reach**2 * float((_gram(query) * np.linalg.inv(rows.T @ rows)).sum()) / query.dimension
    assert error**0.5 <= SEEN[form, size]


def test_what_ships_is_small_and_every_row_of_it_holds():
    assert SHIPPED.stat().st_size < 200_000
    content = read_kept(SHIPPED)
    for form in ("ranges", "prefixes"):
        for size in (64, 128, 256, 512, 1024):
            query = getattr(nw.Workload, form)(size)
            assert optimal.restored_extra(content[query.digest], _gram(query)) is not None


@pytest.mark.parametrize("touched", ["digest", "error", "sign", "nothing", "cut"])
def test_a_file_that_was_touched_is_not_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, touched: str):
    query = nw.Workload.ranges(64)
    content = {query.digest: read_kept(SHIPPED)[query.digest]}
    mark = digest(content)
    runs = content[query.digest]["runs"]
    if touched in ("digest", "error"):
        runs[0][1][0] += 40_000
    if touched == "sign":
        runs[0][1][0] = -5
        content[query.digest]["total"] *= 1000
    text = json.dumps({"content": content, "digest": mark if touched == "digest" else digest(content)})
    place = tmp_path / "rows.json.gz"
    place.write_bytes(gzip.compress(text.encode("ascii"))[: 100 if touched == "cut" else None])
    monkeypatch.setattr(optimal, "_SHIPPED", place)
    searched: list[int] = []

    def search(gram: Any) -> Any:
        searched.append(len(gram))
        return best_extra_rows(gram)

    monkeypatch.setattr(optimal, "best_extra_rows", search)
    strategy = laplace_strategy(query, nw.PureDP(1), optimal.extra_rows(query), [1.0])
    assert bool(searched) is (touched != "nothing")
    # Whatever the rows are, privacy is proven from them.
    assert nw.certify(strategy, nw.PureDP(1)).bound == 1


def test_rows_are_searched_once_and_read_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("NOISEWRIGHT_CACHE", str(tmp_path))
    query = nw.Workload.ranges(20) | nw.Workload.identity(20)
    first = optimal.extra_rows(query)
    forget()
    monkeypatch.setattr(optimal, "best_extra_rows", _refuse)
    again = optimal.extra_rows(query)
    near = np.abs(first.whole() - again.whole()).max() / 2**24
    assert near < 1e-4


def test_the_error_of_extra_rows_is_that_of_the_matrix():
    gram = _gram(nw.Workload.ranges(12))
    extra = best_extra_rows(gram)
    rows = np.concatenate([np.eye(12), extra])
    rows = rows / rows.sum(axis=0)
    assert extra_total(extra, gram) == pytest.approx(float((gram * np.linalg.inv(rows.T @ rows)).sum()), rel=1e-12)
