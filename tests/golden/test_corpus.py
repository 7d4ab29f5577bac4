"""Saved mechanisms of version 1 of the format, kept as they were written: each must load, verify and draw for ever.

The files in `tests/fixtures/corpus` are never written again; what is new gets a new file, written by
`Certified.save`. They are the promise that a saved mechanism outlives the code that saved it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.laws import bumps
from noisewright.laws.base import LAWS
from noisewright.laws.two_fold import FOLDS
from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.bounded.truncated import ENDS
from noisewright.mechanisms.renewed import renewed
from noisewright.problem.metrics import METRICS
from noisewright.problem.privacy import REQUIREMENTS
from noisewright.problem.records import digest
from noisewright.problem.sensitivity import SETS
from noisewright.proof.provers import PROVERS
from tests.tree import tracked

CORPUS = Path(__file__).resolve().parents[1] / "fixtures" / "corpus"
FILES = tracked(CORPUS, ".json")
ADVICE = "save one with Certified.save into tests/fixtures/corpus"

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@cache
def _read(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


@cache
def _load(path: Path) -> nw.Certified:
    return nw.Certified.load(path)


@cache
def _loadable() -> list[nw.Certified]:
    """What loads; each file that does not is reported by name, by the tests of every file."""
    found = []
    for path in FILES:
        with suppress(nw.NoisewrightError):
            found.append(_load(path))
    return found


# ---- every file


RENEWED = {"ranged"}
"""Kinds that nothing writes any more: a file that has one is read as the kind that took its place."""


RENAMED = {
    "levels-within-reach": "levels-within-sensitivity",
    "rows-within-reach": "rows-within-sensitivity",
}
"""Parts of the names of rules that are called otherwise now."""


def _rule_now(name: str) -> str:
    for first, now in RENAMED.items():
        name = name.replace(first, now)
    return name


def _is_renewed(path: Path) -> bool:
    return _read(path)["mechanism"]["kind"] in RENEWED


@each_file
def test_a_saved_mechanism_is_read_and_written_again_without_any_change(path: Path):
    written, read = _load(path).to_dict(), _read(path)
    if not _is_renewed(path):
        if "neighbours" not in read["certificate"]:
            # What files of older versions leave unsaid, and nothing else, is said when they are written again.
            read = _resealed(read, "certificate", neighbours=written["certificate"]["neighbours"])
        if (rule := _rule_now(read["certificate"]["rule"])) != read["certificate"]["rule"]:
            read = _resealed(read, "certificate", rule=rule)
        assert written == read
        return
    assert written["mechanism"] == renewed(_read(path)["mechanism"])
    assert nw.Certified.from_dict(written).to_dict() == written


@each_file
def test_a_saved_mechanism_is_proven_again_for_exactly_what_was_claimed(path: Path):
    certified, claimed = _load(path), _read(path)["certificate"]
    assert certified.mechanism.digest == certified.certificate.mechanism
    proven = nw.certify(certified.mechanism, certified.certificate.requirement).to_dict()
    if not _is_renewed(path):
        assert proven == {"neighbours": proven["neighbours"], **claimed, "rule": _rule_now(claimed["rule"])}
        return
    assert proven["requirement"] == claimed["requirement"]
    # The same number, written with 80 binary places.
    assert abs(Fraction(proven["bound"]) - Fraction(claimed["bound"])) <= Fraction(1, 2**80)


@pytest.mark.parametrize("path", [path for path in FILES if _is_renewed(path)], ids=lambda path: path.stem)
def test_what_took_the_place_of_an_older_kind_has_its_density_and_its_grid(path: Path):
    old, new = _read(path)["mechanism"], _load(path).mechanism
    low, high, step = (Fraction(x) for x in (old["query"]["low"], old["query"]["high"], old["step"]))
    assert new.query.inputs == new.query.outputs == (low, high)
    assert (new.query.sensitivity, new.query.bias) == (Fraction(old["query"]["sensitivity"]), None)
    assert new.query.exact is old["query"].get("exact", True)
    assert (new.power, new.scale) == (Fraction(old["law"]["power"]), Fraction(old["law"]["scale"]))
    assert [new.centre(i) for i in (0, 1, new.cells)] == [low, low + step, high]
    assert new.value(1) - new.value(0) == step
    assert (new.ends == "inflated") is (old["shape"] == "boundary-inflated")


@pytest.mark.parametrize(("cells", "points"), [(1, 2), (2, 2), (3, 3), (400, 400)])
def test_an_older_kind_of_any_number_of_cells_is_read(cells: int, points: int):
    """Also one of a single cell, whose rounded answers are the two ends of the range."""
    data = next(_read(path) for path in FILES if path.stem == "ranged-boundary-inflated")["mechanism"]
    width = Fraction(data["query"]["high"]) - Fraction(data["query"]["low"])
    made = MECHANISMS.from_dict(renewed({**data, "step": str(width / cells)}))
    assert (made.cells, made.points) == (cells, points)


def _resealed(data: dict[str, Any], where: str, **changed: Any) -> dict[str, Any]:
    content = {**data, where: {**data[where], **changed}}
    del content["digest"]
    return {**content, "digest": digest(content)}


def test_an_older_kind_with_another_claim_is_refused():
    data = next(_read(path) for path in FILES if path.stem == "ranged-boundary-inflated")
    bound = Fraction(data["certificate"]["bound"])
    assert nw.Certified.from_dict(_resealed(data, "certificate", bound=str(bound))).certificate.bound <= bound + 1
    for where, changed in (
        ("certificate", {"bound": str(bound - Fraction(1, 2**78))}),
        ("certificate", {"bound": 1}),
        ("certificate", {"mechanism": "0" * 64}),
        ("certificate", {"more": 1}),
        ("certificate", {"neighbours": "replace"}),
        ("mechanism", {"step": "1/13"}),
        ("mechanism", {"step": "1/24"}),
        ("mechanism", {"shape": "cut"}),
        ("mechanism", {"law": {"kind": "laplace", "power": "1", "scale": "2"}}),
        ("mechanism", {"query": {**data["mechanism"]["query"], "exact": True}}),
    ):
        with pytest.raises(nw.errors.MechanismFileError):
            nw.Certified.from_dict(_resealed(data, where, **changed))


@each_file
def test_a_saved_mechanism_still_releases_answers_of_its_kind(path: Path):
    mechanism = _read(path)["mechanism"]
    answer = _answer(mechanism)
    released = _load(path).release(answer)
    assert _fits(mechanism, answer, released), released


@each_file
def test_a_saved_mechanism_still_draws_its_noise_or_says_that_it_has_none(path: Path):
    certified, mechanism = _load(path), _read(path)["mechanism"]
    if mechanism["kind"] in WITHOUT_NOISE:
        with pytest.raises(nw.errors.InvalidInputError):
            certified.draw(3)
        return
    noise = np.asarray(certified.draw(3))
    kind = mechanism["query"]["kind"]
    assert noise.shape == ((3,) if kind == "scalar" else (3, certified.mechanism.query.dimension))
    assert np.isfinite(noise.astype(float)).all()


WITHOUT_NOISE = {
    *("rows", "composite", "blend", "truncated", "clamped"),
    *("ranged", "minkowski-exponential", "random-exponential", "permute-and-flip", "randomised-response"),
    *("metric-exponential", "metric-smalldb", "metric-mwem", "metric-choice"),
}
"""Kinds of mechanism whose law depends on the answer, so that nothing can be drawn without one."""

ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "scalar": lambda query: 7,
    "bounded": lambda query: sum(map(Fraction, query["inputs"])) / 2,
    "ranged-scalar": lambda query: Fraction(query["low"]),
    "choice": lambda query: {name: i for i, name in enumerate(query["candidates"])},
    "vector": lambda query: _numbers(query),
    "histogram": lambda query: list(range(query["bins"])),
    "workload": lambda query: [2 + i for i in range(nw.Workload.from_dict(query).size)],
    "linear": lambda query: [2 + i for i in range(len(query["numerators"][0].split()))],
}
"""A true answer to each kind of question."""


def _numbers(query: dict[str, Any]) -> list[Any]:
    count, whole = _dimension(query["sensitivity"]), query.get("integer", False)
    flags = whole if isinstance(whole, list) else [whole] * count
    return [i if flag else Fraction(i, 3) for i, flag in enumerate(flags)]


def _dimension(chosen: dict[str, Any]) -> int:
    if "sets" in chosen:
        return sum(map(_dimension, chosen["sets"]))
    if "dimension" in chosen:
        return int(chosen["dimension"])
    return len(chosen["each"] if "each" in chosen else chosen["rows"][0])


def _query(mechanism: dict[str, Any]) -> dict[str, Any]:
    query: dict[str, Any] = mechanism["first"]["query"] if mechanism["kind"] == "blend" else mechanism["query"]
    return query


def _answer(mechanism: dict[str, Any]) -> Any:
    if mechanism["kind"] == "minkowski-exponential":
        return [Fraction(x) for x in mechanism["answers"][0]]
    if mechanism["kind"] == "randomised-response":
        return mechanism["values"][1]
    query = _query(mechanism)
    return ANSWERS[query["kind"]](query)


def _fits(mechanism: dict[str, Any], answer: Any, released: Any) -> bool:
    """Whether a released value is one that this mechanism can release."""
    if mechanism["kind"] == "randomised-response":
        return released in mechanism["values"]
    if mechanism["kind"] == "minkowski-exponential":
        point = released if isinstance(released, tuple) else (released,)
        return point in [tuple(float(Fraction(x)) for x in candidate) for candidate in mechanism["candidates"]]
    query = _query(mechanism)
    if query["kind"] == "workload":
        answers = released.answers
        return answers.shape == (nw.Workload.from_dict(query).dimension,) and bool(np.isfinite(answers).all())
    if query["kind"] == "choice":
        return released in query["candidates"]
    if query["kind"] in {"bounded", "ranged-scalar"}:
        low, high = query["outputs"] if query["kind"] == "bounded" else (query["low"], query["high"])
        # Rounding to floats keeps the order, so a release at an end equals the rounded end.
        return float(Fraction(low)) <= released <= float(Fraction(high))
    if query["kind"] == "scalar":
        return isinstance(released, int) is query["integer"] and bool(np.isfinite(float(released)))
    if mechanism["kind"] == "metric-exponential":
        return released in range(len(query["numerators"]))
    synthetic = mechanism["kind"] in {"metric-smalldb", "metric-mwem"}
    size = len(answer) if synthetic or query["kind"] in {"vector", "histogram"} else len(query["numerators"])
    return np.shape(released) == (size,) and bool(np.isfinite(released).all())


# ---- nothing is missing


OF_THE_SAME_ROLE = {"parts", "first", "second"}
"""Keys under which a thing holds others like itself."""


def _things(data: Any, role: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object with what it stands for: the key that leads to it."""
    if isinstance(data, list):
        for item in data:
            yield from _things(item, role)
    elif isinstance(data, dict):
        yield role, data
        for key, value in data.items():
            yield from _things(value, role if key in OF_THE_SAME_ROLE else key)


@cache
def _all_things() -> list[tuple[str, dict[str, Any]]]:
    return [thing for path in FILES for thing in _things(_read(path), "file")]


REGISTERED = [
    *(("mechanism", kind) for kind in MECHANISMS.kinds),
    *(("law", kind) for kind in LAWS.kinds),
    *(("fold", kind) for kind in FOLDS.kinds),
    *(("sensitivity", kind) for kind in SETS.kinds),
    *(("metric", kind) for kind in METRICS.kinds),
    *(("requirement", kind) for kind in REQUIREMENTS.kinds),
]


@pytest.mark.parametrize(("role", "kind"), REGISTERED)
def test_everything_that_files_can_name_has_a_saved_mechanism(role: str, kind: str):
    saved = {data.get("kind") for found, data in _all_things() if found == role}
    assert kind in saved, f"no saved mechanism has the {role} {kind!r}; {ADVICE}"


def test_every_half_of_a_composite_density_has_a_saved_mechanism():
    kinds = {kind for _, kind in inspect.getmembers(bumps, inspect.isclass) if kind.__module__ == bumps.__name__}
    parts = {kind for kind in kinds - {bumps.Part} if hasattr(kind, "spread")}
    composites = [c.mechanism for c in _loadable() if isinstance(c.mechanism, nw.mechanisms.Composite)]
    saved = {type(part) for composite in composites for part in (composite.activation, composite.base)}
    missing = sorted(kind.__name__ for kind in parts - saved)
    assert len(parts) >= 5
    assert not missing, f"no saved composite mechanism is made of {', '.join(missing)}; {ADVICE}"


@pytest.mark.parametrize(("mechanism", "requirement"), PROVERS, ids=lambda kind: kind.__name__)
def test_every_rule_of_proof_has_a_saved_mechanism(mechanism: type, requirement: type):
    saved = {(type(c.mechanism), type(c.certificate.requirement)) for c in _loadable()}
    assert (mechanism, requirement) in saved, (
        f"no saved {mechanism.__name__} is certified for {requirement.__name__}; {ADVICE}"
    )


Holds = Callable[[str, dict[str, Any]], bool]


def _has(key: str, value: str) -> Holds:
    return lambda role, data: data.get(key) == value


OPTIONS: dict[str, Holds] = {
    **{f"a block of norm {norm}": _has("norm", norm) for norm in ("max", "l2", "l3/2", "l7/2")},
    **{f"noise of an older kind, {shape}": _has("shape", shape) for shape in ("truncated", "boundary-inflated")},
    "noise gathered at the ends of its bounds": _has("ends", ENDS[1]),
    "noise around answers that are drawn together": lambda role, data: data.get("contracted") is True,
    "a bounded question without a promise": lambda role, data: "bias" in data and data["bias"] is None,
    "an unbiased bounded question": _has("bias", "0"),
    "a bounded question with some bias": lambda role, data: Fraction(data.get("bias") or 0) > 0,
    "a tabulated law for real answers": lambda role, data: role == "law" and data.get("edge") == "0",
    "a tabulated law for integers": lambda role, data: role == "law" and data.get("edge") == "1/2",
    "a question for an integer": lambda role, data: data.get("integer") is True,
    "a question for whole and real numbers": lambda role, data: isinstance(data.get("integer"), list),
    "bins with labels": lambda role, data: data.get("kind") == "histogram" and bool(data.get("labels")),
    "bins without labels": lambda role, data: data.get("kind") == "histogram" and "labels" not in data,
    "a question for a real number": lambda role, data: data.get("integer") is False,
    "a fold without an upper end": lambda role, data: role == "fold" and data.get("high", "") is None,
    "a fold with an upper end": lambda role, data: data.get("kind") == "truncated-normal" and bool(data["high"]),
    "an ensemble of folds": lambda role, data: data.get("kind") == "ensemble" and len(data["parts"]) > 1,
    "a number released without noise": lambda role, data: role == "mechanism" and None in data.get("parts", []),
    "a linear question for an unknown number of people": lambda role, data: data.get("people", 1) is None,
    "a linear question for a known number of people": lambda role, data: bool(data.get("people")),
    "queries in several blocks": lambda role, data: role == "mechanism" and len(data.get("blocks", [])) > 1,
}
"""What one and the same kind can be saved with, and how to tell."""


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_that_files_can_hold_has_a_saved_mechanism(option: str):
    assert any(OPTIONS[option](role, data) for role, data in _all_things()), f"nothing saved holds {option}; {ADVICE}"


def test_the_saved_mechanisms_stay_small():
    sizes = {path.name: path.stat().st_size for path in FILES}
    large = {name: size for name, size in sizes.items() if size > 20_000}
    assert not large, f"keep each file below 20 kB: {large}"
    assert sum(sizes.values()) < 400_000
