"""Plans in files: every release, every grid and every number in the file is proven again, and nothing is believed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from noisewright.accounting.compose import made, require_bearable
from noisewright.accounting.composition import Composition
from noisewright.accounting.grids import DEPTHS, Grid, chosen
from noisewright.accounting.releases import release_from_dict
from noisewright.accounting.structure import DEEPEST, MOST_PARTS, MOST_TIMES
from noisewright.problem.errors import MechanismFileError, UncertifiedError
from noisewright.problem.fields import exact_text
from noisewright.problem.numbers import Number, show
from noisewright.problem.records import digest
from noisewright.problem.untrusted import READING_SECONDS, within
from noisewright.sample.certified import check_seal, read_file, reading

FORMAT = "noisewright plan, version 1"
CLAIMED = tuple(Fraction(1, 10**n) for n in (3, 6, 9, 12, 15))
_FIELDS = {"parts", "groups", "neighbours", "grids", "claims"}
_FACTOR = 16


def plan_to_dict(plan: Composition) -> dict[str, Any]:
    """Plain data with a digest of the whole content."""
    # Claims are what is proven when the plan is composed at once, as whoever reads the file will.
    afresh = made(plan.parts, plan.groups, plan.neighbours, plan.certificate.grids)
    content = {
        "format": FORMAT,
        "parts": [{"times": times, **_plain(thing)} for thing, times in plan.parts],
        "groups": plan.groups,
        "neighbours": plan.neighbours,
        "grids": [_plain_grid(grid) for grid in plan.certificate.grids],
        "claims": [[str(delta), str(epsilon)] for delta, epsilon in _claims(afresh)],
    }
    return {**content, "digest": digest(content)}


def _plain(thing: Any) -> dict[str, Any]:
    return {"plan" if isinstance(thing, Composition) else "release": thing.to_dict()}


def _plain_grid(grid: Grid) -> dict[str, Any]:
    return {
        "unit": str(grid.unit),
        "fineness": str(grid.fineness),
        "tail_bits": grid.tail_bits,
        "mass_bits": grid.mass_bits,
    }


def _claims(plan: Composition) -> list[tuple[Fraction, Fraction]]:
    """The deltas at which an epsilon is proven, and that epsilon."""
    found = []
    for delta in CLAIMED:
        try:
            found.append((delta, plan.epsilon(delta)))
        except UncertifiedError:
            continue
    return found


def plan_from_dict(data: Mapping[str, Any], depth: int = 0, *, seconds: Number = READING_SECONDS) -> Composition:
    """Read back what `to_dict` wrote, and prove it again.

    Guarantees: returns only if the digest fits, every release is certified anew, and every claimed epsilon is proven,
    all within so many seconds.
    """
    check_seal(data, "plan", FORMAT, _FIELDS)
    if depth > DEEPEST:
        raise MechanismFileError(f"the plan holds plans in plans more than {DEEPEST} deep; refused.")
    with within(seconds), reading("plan"):
        if len(data["parts"]) > MOST_PARTS:
            raise MechanismFileError(f"the plan has more than {MOST_PARTS} parts; refused.")
        parts = tuple((_thing(one, depth), _count(one["times"])) for one in data["parts"])
        groups = None if data["groups"] is None else _count(data["groups"])
        grids = tuple(_grid(one) for one in data["grids"])
        plan = made(parts, groups, data["neighbours"], grids)
        _check_grids(plan)
        known = _claims(plan)
        claims = [(exact_text(delta), exact_text(epsilon)) for delta, epsilon in data["claims"]]
        if [delta for delta, _ in claims] != [delta for delta, _ in known]:
            raise MechanismFileError(
                "the claims of the plan are not at the deltas at which it has an epsilon; refused."
            )
        for (delta, epsilon), (_, proven) in zip(claims, known, strict=True):
            if proven > epsilon:
                raise MechanismFileError(
                    f"epsilon is {show(epsilon)} at delta = {show(delta)} in the file, but {show(proven)} is what can"
                    " be proven; refused."
                )
    return plan


def _thing(data: Mapping[str, Any], depth: int) -> Any:
    if set(data) == {"times", "plan"}:
        return plan_from_dict(data["plan"], depth + 1)
    if set(data) != {"times", "release"}:
        raise MechanismFileError("a part of the plan is neither a release nor a plan; refused.")
    release = release_from_dict(data["release"])
    require_bearable(release)
    return release


def _count(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MOST_TIMES:
        raise MechanismFileError(f"the plan says {value!r:.20} where a number of times from 1 to a million belongs.")
    return value


def _grid(data: Mapping[str, Any]) -> Grid:
    bits = [data["tail_bits"], data["mass_bits"]]
    if any(type(value) is not int for value in bits):
        raise MechanismFileError("a grid of the plan has no whole number of bits; refused.")
    return Grid(exact_text(data["unit"]), exact_text(data["fineness"]), *bits)


def _check_grids(plan: Composition) -> None:
    """Keep a forged file from costing hours: its grids are about those that are chosen here."""
    grids, leaves = plan.certificate.grids, plan.leaves()
    own = [chosen(leaves, depth) for depth in DEPTHS]
    near = len(grids) == len(own) and all(
        a.unit > 0
        and b.unit <= _FACTOR * a.unit
        and a.unit <= _FACTOR * b.unit
        and (b.fineness <= _FACTOR * a.fineness and a.fineness <= _FACTOR * b.fineness)
        and (abs(a.tail_bits - b.tail_bits) <= 64 and abs(a.mass_bits - b.mass_bits) <= 64)
        for a, b in zip(grids, own, strict=True)
    )
    if not near:
        raise MechanismFileError("the grids of the plan are far from those that it needs; compose it again.")


def load_plan(path: str | Path, *, seconds: Number = READING_SECONDS) -> Composition:
    """The plan in a file that `save` wrote, proven again within so many seconds."""
    with within(seconds):
        return plan_from_dict(read_file(path))
