"""A field too many, at any depth of any file, is refused for that reason; so are rows that are no probabilities.

Every seal around the change is renewed, or the outermost alone, so that the certificate names the mechanism that would
be read: no digest is what refuses it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.mechanisms.bounded.conditional import Grid
from noisewright.mechanisms.renewed import mechanism_from_dict
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.records import digest
from tests.audit.forging import resealed
from tests.examples import CORPUS
from tests.tree import tracked

FILES = sorted(tracked(CORPUS, ".json"), key=lambda path: path.stat().st_size)
SMALL = [path for path in FILES if path.stat().st_size < 20_000]
FIELD = "unknown"


def _places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where each mapping stands; of lists the first, the last and one between."""
    if isinstance(data, dict):
        yield path
        for key, value in data.items():
            yield from _places(value, (*path, key))
    elif isinstance(data, list):
        for place in sorted({0, len(data) // 2, len(data) - 1} & set(range(len(data)))):
            yield from _places(data[place], (*path, place))


def _with_more(data: Any, path: tuple[Any, ...], *, inner: bool) -> Any:
    changed = copy.deepcopy(data)
    holder = changed
    for key in path:
        holder = holder[key]
    holder[FIELD] = "more"
    if inner:
        return resealed(changed)
    return {**changed, "digest": digest({key: value for key, value in changed.items() if key != "digest"})}


def _shapes() -> list[tuple[Path, tuple[Any, ...]]]:
    """Each kind of mapping once, in the smallest file that holds it."""
    found: dict[Any, tuple[Path, tuple[Any, ...]]] = {}
    for path in SMALL:
        data = json.loads(path.read_text(encoding="utf-8"))
        if "mechanism" not in data or "certificate" not in data:
            continue
        for place in _places(data):
            holder = data
            for key in place:
                holder = holder[key]
            names = tuple(str(key) for key in place if isinstance(key, str))
            found.setdefault((names, holder.get("kind"), tuple(sorted(holder))), (path, place))
    return list(found.values())


SHAPES = _shapes()


@pytest.mark.parametrize(("path", "place"), SHAPES, ids=[f"{p.stem}:{'.'.join(map(str, w))}" for p, w in SHAPES])
def test_a_field_that_nobody_knows_is_refused_wherever_it_stands(path: Path, place: tuple[Any, ...]):
    data = json.loads(path.read_text(encoding="utf-8"))
    for inner in (True, False):
        with pytest.raises(NoisewrightError) as told:
            nw.Certified.from_dict(_with_more(data, place, inner=inner))
        said = str(told.value)
        assert "digest" not in said
        assert FIELD in said or "is not what the verifier proves" in said
    assert resealed(data) == data
    nw.Certified.from_dict(data)


def test_many_shapes_are_tried():
    assert len(SHAPES) > 60
    assert {place[0] for _, place in SHAPES if place} == {"mechanism", "certificate"}


QUERY = nw.Scalar(1, inputs=(0, 1), outputs=(-1, 2)).bounded
ROWS = {
    "more in the last": [[3, 1], [2, 2], [1, 4]],
    "less in the first": [[3, 0], [2, 2], [1, 3]],
    "more between": [[3, 1], [2, 3], [1, 3]],
    "twice": [[3, 1], [4, 4], [1, 3]],
    "nothing in one": [[3, 1], [0, 0], [1, 3]],
    "a weight too few": [[3, 1], [4], [1, 3]],
    "a row too few": [[3, 1], [1, 3]],
    "below nothing": [[3, 1], [5, -1], [1, 3]],
}


@pytest.mark.parametrize("weights", ROWS.values(), ids=ROWS)
def test_rows_that_are_no_probabilities_of_one_kind_are_refused(weights: Any):
    """In memory and from a file; ratios of weights are ratios of chances only where all rows have one total."""
    grid = Grid([0, Fraction(1, 2), 1])
    with pytest.raises(NoisewrightError):
        nw.mechanisms.Rows(QUERY, grid, [-1, 2], weights)
    made = nw.mechanisms.Rows(QUERY, grid, [-1, 2], [[3, 1], [2, 2], [1, 3]])
    data = made.to_dict()
    assert mechanism_from_dict(data) == made
    with pytest.raises(NoisewrightError):
        mechanism_from_dict({**data, "weights": [[str(v) for v in row] for row in weights]})
    assert digest(data) == made.digest
