"""What forgers begin with: true files of every kind that anything here reads, made anew."""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import noisewright as nw
from noisewright.app.reports.embedded import embedded
from noisewright.ledger.chain import Row
from tests.ledger import menu
from tests.saved import CORPUS
from tests.tree import tracked

Data = dict[str, Any]
_NEAR = nw.AbsoluteError()


@cache
def mechanisms() -> list[Data]:
    """Every saved mechanism."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in tracked(CORPUS, ".json")]


def named(name: str) -> Data:
    """The saved mechanism of this name."""
    return mechanisms()[[path.stem for path in tracked(CORPUS, ".json")].index(name)]


@cache
def plans() -> list[Data]:
    """Plans of equal and of different releases, of plans, and of groups."""
    laplace, gaussian = menu.laplace("1/10"), menu.gaussian("7")
    inner = nw.compose([(laplace, 3), "gaussian(sigma=11)"])
    made = (
        inner,
        nw.compose([(gaussian, 40)]),
        nw.compose([inner, (laplace, 2), "laplace(epsilon=0.3) x 5"]),
        nw.compose([laplace, gaussian, "gaussian(sigma=3)"], groups=2),
        nw.compose(["pair(epsilon=0.2, delta=1e-7) x 4", "randomized_response(epsilon=0.5)"]),
    )
    return [plan.to_dict() for plan in made]


@cache
def reports() -> list[Data]:
    """Reports on one number, several, a workload, a choice, answers in bounds and a plan."""
    squared, asked = nw.SquaredError(), nw.Vector(nw.Groups([nw.Box([1, 3]), nw.L2Ball(2, 3)], 1))
    made = (
        nw.design(nw.Scalar(2), privacy=nw.PureDP(1), utility=_NEAR),
        nw.design(nw.Scalar(3, integer=True), privacy=nw.ApproxDP(1, "1e-6"), utility=squared),
        nw.design(nw.Scalar(2), privacy=nw.RenyiDP(3, 1), utility=squared),
        nw.design(nw.Scalar(2), privacy=nw.PureDP(1), utility=_NEAR, compose=3),
        nw.design(nw.Vector(nw.Box([1, 7])), privacy=nw.PureDP(2), utility=squared),
        nw.design(asked, privacy=nw.ZeroConcentratedDP(1), utility=squared),
        nw.design(nw.Workload.ranges(9), privacy=nw.ZeroConcentratedDP(1), utility=squared),
        nw.design(nw.Workload.marginals([2, 3], [(0,), (1,)]), privacy=nw.PureDP(1), utility=squared),
        nw.design(nw.Scalar(1, inputs=(0, 4), outputs=(-1, 5)), privacy=nw.PureDP(1), utility=squared),
    )
    return [report.to_dict() for report in made]


@cache
def releases(folder: Path) -> list[Data]:
    """Plans of releases over a table."""
    table = pa.table({"id": [1, 1, 2, 3], "ward": ["A", "B", "A", "C"], "age": [20.5, 30.0, 7.25, 80.0]})
    wards = nw.keys("ward", ["A", "B", "C"])
    made = []
    for i, privacy in enumerate((nw.PureDP(1), nw.ApproxDP(1, "1e-6"), nw.ZeroConcentratedDP("0.5"))):
        data = nw.Dataset(
            table, "id", name="t", budget=privacy, ledger=folder / f"{i}.ledger", rows_per_group=2, groups_per_person=2
        )
        asked = (nw.count(by=wards), nw.mean("age", bounds=(0, 90)))
        made.append(data.plan(*asked, privacy=privacy).to_dict())
    return made


@cache
def streams() -> list[Data]:
    """The state of a stream of counts."""
    query = nw.Workload.prefixes(16)
    report = nw.design(query, privacy=nw.ZeroConcentratedDP(1), utility=nw.SquaredError())
    made = []
    for certified in (c.certified for c in report.candidates if c.name.startswith(("optimal", "identity"))):
        stream = certified.stream()
        for count in (3, 0, 8):
            stream.push(count)
        made.append(stream.to_dict())
    return made


@cache
def bodies(folder: Path) -> list[Data]:
    """What the rows of a ledger say."""
    path = folder / "seed.ledger"
    ledger = nw.Ledger.create(path, budget=nw.ApproxDP(2, "1e-5"), neighbours="add-remove")
    ledger.charge(menu.laplace("1/10"), reason="a").answered([1, 2])
    ledger.sub("ann", budget=nw.ApproxDP(1, "1e-6")).charge(menu.laplace("1/7"), reason="b")
    ledger.raise_budget(nw.ApproxDP(3, "1e-5"), reason="more")
    with sqlite3.connect(path) as connection:
        rows = [Row(*row) for row in connection.execute("SELECT place, account, body, digest FROM rows ORDER BY place")]
    connection.close()
    return [row.read() for row in rows]


def page(raw: bytes) -> bytes:
    """A page that holds what was forged as its content."""
    shell = embedded({"here": 1})
    return shell.encode().replace(b'{"here": 1}', raw.replace(b"<", b"&lt;"))
