"""A cache file is a suggestion: whatever somebody writes into it, what a report calls the best possible is true."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.bounded.conditional import profile_of
from noisewright.problem.queries import Bounded
from noisewright.search import cache
from noisewright.search.bounds.bounded import certified_lower
from noisewright.search.families.bounded_optimum import Solved, solved, variance_floor
from noisewright.search.programmes.bounded import solve
from noisewright.search.programmes.layout import Size, bound_programme, design_programme
from tests.bounded import question
from tests.cache_files import content_of, write

Data = dict[str, Any]
QUERY, SIZE = question("1/4", "2"), Size(8, 40)


def _solved(folder: Path, query: Bounded = QUERY) -> Solved:
    """The programme's answer, from the folder where it holds one; nothing is remembered in this process."""
    return solved(query, Fraction(1), nw.WorstVariance(), SIZE, lambda _: None, cache.Cache(folder))


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Solved, Path]:
    """What is true, and the file that an honest run leaves behind."""
    folder = tmp_path_factory.mktemp("honest")
    found = _solved(folder)
    (file,) = folder.iterdir()
    return found, file


def _edited(file: Path, folder: Path, change: Callable[[Data], None]) -> None:
    """A changed copy, as somebody would make it who knows how its digest is made."""
    content = content_of(file)
    change(content)
    write(folder / file.name, content)


def _scaled(factor: float, *names: str) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        for name in names:
            data["multipliers"][name] = (factor * np.array(data["multipliers"][name])).tolist()

    return change


def _pairs(change: Callable[[list[Any]], None]) -> Callable[[Data], None]:
    return lambda data: change(data["multipliers"]["pairs"])


def _out_of_reach(data: Data) -> None:
    """What would prove more if everybody could turn an answer into one two sensitivities away."""
    asked, _ = bound_programme(design_programme(QUERY, Fraction(1), nw.WorstVariance(), SIZE), nw.WorstVariance())
    wider = replace(asked, reach=tuple(min(i + 4, 8) for i in range(9)))
    found = solve(wider, wider.distances**2).multipliers
    assert certified_lower(wider, found) > 1.1 * certified_lower(asked, found)
    first, second, values = found.pairs
    data["multipliers"] = {
        "counts": found.counts.tolist(),
        "mass": found.mass.tolist(),
        "mean": found.mean.tolist(),
        "pairs": [first.tolist(), second.tolist(), values.tolist()],
    }


def _twice(pairs: list[Any]) -> None:
    pairs[:] = [part * 2 for part in copy.deepcopy(pairs)]


def _negative_places(pairs: list[Any]) -> None:
    pairs[0] = [i - 9 for i in pairs[0]]


def _steeper(pairs: list[Any]) -> None:
    pairs[2] = (np.array(pairs[2]) * 1000).tolist()


def _longer(pairs: list[Any]) -> None:
    pairs[2] = [[*row, 5.0] for row in pairs[2]]


def _put(name: str, value: Any) -> Callable[[Data], None]:
    return lambda data: data["multipliers"].update({name: value})


EDITS: dict[str, Callable[[Data], None]] = {
    "a bound beside the multipliers": lambda data: data.update(bound="100"),
    "larger masses": _scaled(1.5, "mass"),
    "larger means": _scaled(-3.0, "mean"),
    "larger everything": _scaled(1000.0, "mass", "mean", "counts"),
    "negative counts": _scaled(-1.0, "counts"),
    "pairs out of reach": _out_of_reach,
    "pairs twice": _pairs(_twice),
    "pairs counted from the end": _pairs(_negative_places),
    "steeper pairs": _pairs(_steeper),
    "longer rows": _pairs(_longer),
    "not a number": _put("mass", [float("nan")] * 9),
    "infinite": _put("mass", [float("inf")] * 9),
    "huge": _put("mass", [1e300] * 9),
    "too few": _put("mean", [0.0]),
    "text": _put("counts", "many"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_an_edited_cache_file_cannot_claim_a_false_bound(honest, tmp_path: Path, edit):
    true, file = honest
    _edited(file, tmp_path, edit)
    again = _solved(tmp_path)
    # No bound is true that the mechanism of the honest run beats; the closed form is left where multipliers are weak.
    assert again.bound is not None
    assert variance_floor(QUERY, Fraction(1), nw.WorstVariance()) <= again.bound
    assert again.bound <= profile_of(true.mechanism).worst(1)
    assert again.mechanism == true.mechanism


def test_what_a_report_prints_is_proven_again_and_not_read_from_the_file(
    honest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    true, file = honest
    monkeypatch.setenv("NOISEWRIGHT_CACHE", str(tmp_path))
    cache.forget()
    _edited(file, tmp_path, EDITS["a bound beside the multipliers"])
    monkeypatch.setattr("noisewright.search.families.bounded_optimum.solve", lambda *_: pytest.fail("solved again"))
    report = nw.mechanisms.design_bounded(QUERY, privacy=nw.PureDP(1), utility=nw.WorstVariance(), inputs=8, outputs=40)
    cache.forget()
    assert report.bound == pytest.approx(float(true.bound), rel=1e-9)
    assert report.bound is not None
    assert report.bound <= report.candidates[0].value


def test_a_mechanism_for_another_question_or_without_privacy_is_solved_again(honest, tmp_path: Path):
    true, file = honest
    _solved(tmp_path, question("1/8", "2"))
    (other,) = tmp_path.iterdir()
    foreign = content_of(other)["mechanism"]
    _edited(file, tmp_path, lambda data: data.update(mechanism=foreign))
    assert _solved(tmp_path).mechanism == true.mechanism
    # The same noise under the name of the wider question is not private there.
    _edited(file, tmp_path, lambda data: data.update(mechanism={**foreign, "query": QUERY.to_dict()}))
    assert _solved(tmp_path).mechanism == true.mechanism


@pytest.mark.parametrize("place", [12, 200, -9, -3])
def test_a_flipped_byte_costs_only_the_time_to_solve_again(honest, tmp_path: Path, place: int):
    true, file = honest
    content = bytearray(file.read_bytes())
    content[place] ^= 0x55
    (tmp_path / file.name).write_bytes(bytes(content))
    assert _solved(tmp_path) == true
