"""The composite paper: Figures 1 to 12, Tables 1 to 4, and its claims."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from noisewright.lab.composite.claims import claims
from noisewright.lab.composite.data import QUERIES, Asked, asked, columns
from noisewright.lab.composite.errors import Table, designed, draws
from noisewright.lab.composite.figures import drawings, error_figures, loss_figures, shown_for
from noisewright.lab.composite.parameters import bias_table, formula_table, rate_table
from noisewright.lab.reproductions import Reproduction
from noisewright.lab.sheets import write_table
from noisewright.search.report.progress import Advance

EPSILONS = tuple(Fraction(e) for e in ("1/5", "1/2", "1", "2", "3", "5"))
DRAWS = 1000
STEPS = 5


def reproduce(out: Path, step: Advance) -> Reproduction:
    """Write the figures and tables into a folder, and say which claims hold."""
    out.mkdir(parents=True, exist_ok=True)
    result = Reproduction("Bounded and unbiased composite differential privacy")
    step("drawings")
    result.files += drawings(out)
    step("certifying and drawing errors")
    data = columns()
    result.data = [f"{c.source}: {c.name}, {len(c.values):,} rows" for c in data]
    questions = [asked(query, column) for query in QUERIES for column in data]
    errors = all_errors(questions)
    step("drawing the figures")
    result.files += error_figures(out, errors, questions, EPSILONS)
    result.files += loss_figures(out, errors, questions, EPSILONS)
    step("computing the tables")
    result.files.append(_table(out / "table-01-and-04.csv", formula_table()))
    rates = rate_table()
    result.files.append(_table(out / "table-02.csv", rates))
    result.files.append(_table(out / "table-03.csv", bias_table(EPSILONS)))
    step("checking the claims")
    refused = {q.key: why for q in questions if isinstance(why := designed(q.ratio, Fraction(1)), str)}
    result.claims = claims(errors, questions, EPSILONS, rates, refused)
    return result


def all_errors(questions: list[Asked]) -> Table:
    """Every mechanism that is shown at every epsilon for every question; what is not certified has no entry."""
    found: Table = {}
    for question in questions:
        for epsilon in EPSILONS:
            for name in shown_for(question.query):
                drawn = draws(name, epsilon, question, DRAWS)
                if drawn is not None:
                    found[name, question.key, epsilon] = drawn
    return found


def _table(path: Path, rows: list[list[object]]) -> Path:
    return write_table(path, [str(cell) for cell in rows[0]], rows[1:])
