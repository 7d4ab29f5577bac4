"""Every kind of mechanism by the name it has in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.problem.fields import exact_text
from noisewright.problem.records import load_package

load_package("noisewright.mechanisms")

_ENDS = {"truncated": {}, "boundary-inflated": {"ends": "inflated"}}
"""What older versions called the ends of noise in a range, as fields of truncated noise."""


def mechanism_from_dict(data: Mapping[str, Any]) -> Mechanism:
    """The mechanism that `to_dict` described; KeyError, TypeError or ValueError if it is none."""
    found: Mechanism = MECHANISMS.from_dict(data)
    return found


_RANGED = {"kind", "query", "law", "shape", "step"}
_RANGED_QUERY = {"kind", "low", "high", "sensitivity", "exact"}
_RANGED_LAW = {"kind", "power", "scale"}
"""What files of noise of the kind "ranged" say."""


def renewed(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Plain data of a kind that only older versions wrote, as the kind that took its place; other data as they are.

    Noise of the kind "ranged" had the density, the grid and the bound of truncated noise; what truncated noise
    rounds at random, up or down, it rounded to the nearest.
    """
    if data["kind"] != "ranged":
        return data
    query, law = data["query"], data["law"]
    if (query["kind"], law["kind"]) != ("ranged-scalar", "generalized-gaussian"):
        raise ValueError("this is no noise in a range")
    for given, names in ((data, _RANGED), (query, _RANGED_QUERY), (law, _RANGED_LAW)):
        if extra := set(given) - names:
            raise ValueError(f"it has unknown fields {', '.join(sorted(map(str, extra)))}")
    bounds = [query["low"], query["high"]]
    cells = (exact_text(bounds[1]) - exact_text(bounds[0])) / exact_text(data["step"])
    if cells.denominator != 1:
        raise ValueError("the step does not divide the range")
    known = {key: query[key] for key in ("sensitivity", "exact") if key in query}
    return {
        "kind": "truncated",
        "query": {"kind": "bounded", "inputs": bounds, "outputs": bounds, "bias": None, **known},
        "power": law["power"],
        "scale": law["scale"],
        "cells": int(cells),
        "points": max(2, int(cells)),
        **_ENDS[data["shape"]],
        "contracted": True,
    }
