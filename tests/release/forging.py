"""Saved plans of several kinds, and what somebody can write into them who knows how every seal is made."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache, partial
from typing import Any

import pyarrow as pa

import noisewright as nw
from noisewright.mechanisms.renewed import mechanism_from_dict
from noisewright.problem.errors import NoisewrightError
from noisewright.problem.privacy import REQUIREMENTS
from noisewright.problem.records import digest
from noisewright.proof.certify import certify
from noisewright.release.plan.plan import bound
from tests.forgery import Path, at, leaves, put

TABLE = pa.table(
    {
        "id": [i // 3 for i in range(90)],
        "ward": ["A", "B", "C"] * 30,
        "cost": [float(i % 50) for i in range(90)],
        "age": [i % 100 for i in range(90)],
        "day": [date(2025, 1 + i % 3, 5) for i in range(90)],
    }
)
Edit = tuple[Path, Callable[[], Any]]
"""Where something is changed, and what makes the changed copy."""
WARDS = nw.keys("ward", ["A", "B", "C"])
PRIVATE = nw.keys("ward", private=True)


def groups_of(kind: str) -> int:
    """In how many groups a person may be, in the dataset of a kind of plan."""
    return {"weighted": 1, "joint": 10}.get(kind, 2)


def dataset(kind: str, **more: Any) -> nw.Dataset:
    """The dataset of a kind of plan, in which two rows of a person count in a group."""
    return nw.Dataset(TABLE, "id", name="visits", rows_per_group=2, groups_per_person=groups_of(kind), **more)


QUESTIONS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "pure": (
        [nw.count(by=WARDS), nw.ask.sum("cost", bounds=(0, 49), step=1), nw.ask.persons(name="people")],
        {"privacy": nw.PureDP(1), "weights": {"count": "1/2", "people": 3}},
    ),
    "several": (
        [nw.mean("age", bounds=(0, 120), step=1, by=WARDS), nw.count()],
        {"privacy": nw.ZeroConcentratedDP("0.5")},
    ),
    "renyi": (
        [nw.ask.sum("cost", bounds=(0, 49), step=1, person_bounds=(0, 60)), nw.ask.top(WARDS, 2)],
        {"privacy": nw.RenyiDP(4, 1)},
    ),
    "joint": ([nw.count(by=nw.keys("age", range(12)))], {"privacy": nw.ApproxDP(1, "1e-3")}),
    "bins": (
        [
            nw.ask.histogram("age", edges=[0, 10, 30, 100]),
            nw.ask.histogram("day", every="month", start=date(2025, 1, 1), end=date(2025, 4, 1), name="months"),
        ],
        {"privacy": nw.PureDP(2), "utility": nw.AbsoluteError()},
    ),
    "private": (
        [nw.ask.persons(by=PRIVATE), nw.ask.sum("cost", bounds=(0, 49), step=1, by=PRIVATE)],
        {"privacy": nw.ApproxDP(4, "1e-3")},
    ),
    "within": (
        [nw.count(outputs=(-10, 30), inputs=(0, 20))],
        {"privacy": nw.PureDP(1)},
    ),
    "cells": (
        [
            nw.ask.quantiles("age", [0.25, 0.5], bounds=(0, 10), step=2),
            nw.ask.workload("prefixes", column="cost", edges=[0, 10, 20, 30], by=nw.keys("ward", ["A", "B"])),
        ],
        {"privacy": nw.ZeroConcentratedDP("0.5")},
    ),
    "targets": (
        [nw.count(), nw.ask.sum("cost", bounds=(0, 49), step=1)],
        {"targets": {"count": 12, "sum of cost": 900}},
    ),
    "budgets": (
        [nw.count(by=WARDS), nw.ask.persons()],
        {"budgets": {"count": nw.PureDP("1/2"), "persons": nw.PureDP("1/4")}},
    ),
    "weighted": (
        [nw.ask.weighted([1, 2, 5], by=WARDS, name="height")],
        {"privacy": nw.MetricPrivacy(nw.metrics.WithAbsent(nw.metrics.Hamming(3, 1), 2))},
    ),
}


@cache
def _saved(kind: str) -> str:
    questions, asked = QUESTIONS[kind]
    return json.dumps(dataset(kind).plan(*questions, **asked).to_dict())


def saved(kind: str) -> dict[str, Any]:
    """What `Plan.save` writes."""
    found: dict[str, Any] = json.loads(_saved(kind))
    return found


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """With the digest of what is there now."""
    bare = {name: value for name, value in content.items() if name != "digest"}
    return {**bare, "digest": digest(bare)}


def forged(plan: dict[str, Any], *, proven: bool = True) -> dict[str, Any]:
    """A plan with every seal renewed from the inside out; `proven`: each mechanism with the certificate it deserves."""
    found = copy.deepcopy(plan)
    for block in found["blocks"] if isinstance(found.get("blocks"), list) else []:
        try:
            own = block["certified"]
            own["certificate"] = (
                _deserved(own) if proven else {**own["certificate"], "mechanism": digest(own["mechanism"])}
            )
            block["certified"] = sealed(own)
        except (TypeError, KeyError, ValueError, AttributeError, ArithmeticError, LookupError, NoisewrightError):
            continue  # nothing is proven of it, whoever asks
    return sealed(found)


def _deserved(own: dict[str, Any]) -> dict[str, Any]:
    requirement = REQUIREMENTS.from_dict(own["certificate"]["requirement"])
    found: dict[str, Any] = certify(mechanism_from_dict(own["mechanism"]), requirement).to_dict()
    return found


def attacked(plan: dict[str, Any], data: nw.Dataset) -> nw.Plan | None:
    """The plan that a dataset takes a forged file for; None where it is refused as one."""
    try:
        found = bound(nw.Plan.from_dict(json.loads(json.dumps(plan))), data)
    except (nw.errors.MechanismFileError, nw.errors.InvalidTableError):
        return None
    return found


def inner(data: Any, path: Path = ()) -> Iterator[Path]:
    """Where every mapping and list stands."""
    if isinstance(data, dict | list):
        if path:
            yield path
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from inner(value, (*path, key))


_WORDS = ["", "0", "1", "2", "1/2", "-1", "1e-30", "1e400", "1/0", "nan", "inf", "32", "A", "\u0660", "1" * 5000]
_NUMBERS: list[Any] = [0, 1, 2, -1, 3, 10**6, 10**40, 0.5, 1e308, True, False, None]


def values_for(value: Any) -> list[Any]:
    """What may be written in the place of a single value."""
    found: list[Any] = [*_WORDS, *_NUMBERS, [], {}, [value], {"kind": value}]
    if isinstance(value, int) and not isinstance(value, bool):
        found += [value + 1, value - 1, 2 * value, float(value), str(value)]
    if isinstance(value, str):
        found += [value + " ", value.upper(), f"{value}0", f"-{value}", [value, value]]
        found += [text for text in (f"{value}/1", f"{value}.0") if value.isdecimal()]
    return [one for one in found if type(one) is not type(value) or one != value]


def edits_of_leaves(plan: dict[str, Any]) -> Iterator[Edit]:
    """Every single value replaced by each of others."""
    for path in leaves(plan):
        for value in values_for(at(plan, path)):
            yield path, partial(put, plan, path, value)


def edits_of_lists(plan: dict[str, Any]) -> Iterator[Edit]:
    """Every mapping and list without each of its parts, with one twice, backwards, empty, with something more."""
    for path in inner(plan):
        own = at(plan, path)
        changed: list[Any] = [None, [], {}, {"kind": own}]
        if isinstance(own, dict):
            changed += [{key: value for key, value in own.items() if key != name} for name in own]
            changed += [{**own, "more": 1}, [list(item) for item in own.items()]]
        else:
            changed += [own[1:], own[:-1], [*own, *own[-1:]], own[::-1], [*own, *own]]
        for value in changed:
            if value != own:
                yield path, partial(put, plan, path, value)


def swaps(plan: dict[str, Any], other: dict[str, Any]) -> Iterator[Edit]:
    """Every part replaced by each part of the other plan that is called the same, or has the same place in a list."""
    theirs = [(path, at(other, path)) for path in inner(other)]
    for path in inner(plan):
        for where, value in theirs:
            if where[-1] == path[-1] and value != at(plan, path):
                yield path, partial(put, plan, path, value)
