"""The reproduction of the composite paper, in a small size."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from noisewright.lab.composite import (
    data as composite_data,
    errors as composite_errors,
    figures as composite_figures,
    parameters as composite_tables,
    reproduction as composite,
)
from noisewright.lab.composite.errors import designed
from noisewright.lab.reproductions import REPRODUCTIONS


def _only_whole_ranges(ratio: int, epsilon: Fraction):
    """As if no wide range could be answered: the verdict must say so."""
    return designed(ratio, epsilon) if ratio == 1 else f"a range of {ratio} is refused"


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(composite, "EPSILONS", (Fraction(1),))
        patch.setattr(composite, "columns", lambda: composite_data.columns()[:1])
        patch.setattr(composite_figures, "_FIGURES", {7: ("Maximum",), 11: ("Mean",)})
        for module in (composite, composite_errors):
            patch.setattr(module, "designed", _only_whole_ranges)
        patch.setattr(composite, "DRAWS", 200)
        patch.setattr(composite_tables, "TABLE_2", {1.0: 0.921})
        patch.setenv("NOISEWRIGHT_DATA", str(tmp_path_factory.mktemp("none")))
        out = tmp_path_factory.mktemp("composite")
        steps: list[str] = []
        yield REPRODUCTIONS["composite"].run(out, steps.append), steps


def test_every_figure_and_table_is_written(quick):
    result, steps = quick
    assert len(steps) == REPRODUCTIONS["composite"].steps
    names = {path.name for path in result.files}
    numbers = {int(name.split("-")[1].split(".")[0]) for name in names if name.startswith("figure-")}
    assert numbers == {*range(1, 9), 11, 12}, "one column has one box plot, not three"
    assert {"table-01-and-04.csv", "table-02.csv", "table-03.csv", "errors.csv"} <= names
    assert all(path.stat().st_size > 100 for path in result.files)


def test_data_that_the_package_made_are_named(quick):
    result, _ = quick
    assert len(result.data) == 1
    assert all("made by the package" in line for line in result.data)


def test_the_claims_are_judged(quick):
    result, _ = quick
    assert [(claim.where, claim.verdict) for claim in result.claims] == [
        ("Section 5.3", "fails"),
        ("Section 5.3", "differs"),
        ("Section 5.3", "differs"),
        ("Section 5.3", "fails"),
        ("Section 5.3, Figures 8 to 10", "fails"),
        ("Ours, for Section 5.3", "differs"),
        ("Abstract", "fails"),
        ("Corollary 3.1", "fails"),
        ("Tables 1 and 4", "erratum"),
        ("Table 2", "fails"),
        ("Table 3", "holds"),
        ("Remark 3.2", "fails"),
        ("Section 3.2", "fails"),
        ("Contributions", "fails"),
    ]
    formulas = next(c for c in result.claims if c.where == "Tables 1 and 4")
    assert "0.30586" in formulas.found
    assert "0.36346" in formulas.found


def test_the_rates_of_table_2(quick):
    result, _ = quick
    path = next(p for p in result.files if p.name == "table-02.csv")
    with path.open(encoding="utf-8") as file:
        rows = {row["function"]: row for row in csv.DictReader(file)}
    # Printed: H1 1.466, 2.093, 2.588 and H2 0.333 for base B1 at epsilon 1.
    assert float(rows["A1B1"]["H1"]) == pytest.approx(1.466, rel=0.05)
    assert float(rows["A2B1"]["H1"]) == pytest.approx(2.093, rel=0.05)
    assert float(rows["A3B1"]["H1"]) == pytest.approx(2.588, rel=0.05)
    assert float(rows["A1B1"]["variance"]) == pytest.approx(0.9175, abs=1e-3)


def test_the_queries_and_their_sensitivities():
    column = composite_data.Column("test", "x", (1.0, 1.0, 2.0, 6.0), (0.0, 10.0))
    answers = {name: query(column.values) for name, query in composite_data.QUERIES.items()}
    assert answers == {"Mode": 1.0, "Variance": 4.25, "Maximum": 6.0, "Minimum": 1.0, "Mean": 2.5, "Count": 4.0}
    assert composite_data.sensitivity("Mean", column) == 2.5
    assert composite_data.sensitivity("Count", column) == 1.0
    assert composite_data.sensitivity("Maximum", column) == 10.0
    low, high = [0.0] * 4, [0.0] * 3 + [10.0]
    change = composite_data.variance(tuple(high)) - composite_data.variance(tuple(low))
    assert composite_data.sensitivity("Variance", column) == pytest.approx(change)


def test_the_datasets_where_they_are_to_be_had(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NOISEWRIGHT_DATA", raising=False)
    from noisewright.lab.tables import dataset

    if dataset("pima_diabetes/diabetes.csv") is None:
        pytest.skip("the datasets are not beside the repository")
    found = composite_data.columns()
    assert len(found[0].values) == 768
    assert Path(found[0].source).name
