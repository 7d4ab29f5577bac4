"""The generalized-Gaussian paper: its figures, its three experiments and its claims, beside ours."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from noisewright.lab.generalized_gaussian import adult as adult_part, counts as counts_part, figures
from noisewright.lab.generalized_gaussian.claims import experiment_claims, figure_claims, rule_claims
from noisewright.lab.generalized_gaussian.counts import Outcome, cell_tables
from noisewright.lab.generalized_gaussian.figures import write_accuracies, write_counts
from noisewright.lab.reproductions import Reproduction
from noisewright.search.report.progress import Advance

REPEATS = 500
_SEED = 2018


def reproduce(
    out: Path, step: Advance, *, repeats: int = REPEATS, people: int | None = None, quick: bool = False
) -> Reproduction:
    """Write every figure and table into `out`; `people` limits the rows of people, `quick` the settings."""
    epsilons = (Fraction(1),) if quick else counts_part.EPSILONS
    deltas = counts_part.DELTAS[2:3] if quick else counts_part.DELTAS
    out.mkdir(parents=True, exist_ok=True)
    result = Reproduction("Generalized Gaussian Mechanism for Differential Privacy (Liu 2019)")
    step("figures 1 to 5")
    result.files += figures.densities(out)
    files, scales = figures.scale_bounds(out, (2, 3) if quick else figures.POWERS)
    result.files += files
    files, stds = figures.gaussian_bounds(out)
    result.files += files + figures.tail_ratios(out) + figures.privacy_costs(out)
    outcomes: list[Outcome] = []
    for place, (name, table) in enumerate(cell_tables()):
        step(f"counts of {name}")
        # The paper tries GG-3 on its first and sparser table only.
        found, examples = counts_part.experiment(
            name, table, repeats, cubic=not place, epsilons=epsilons, deltas=deltas
        )
        result.files += write_counts(out, (6 + 2 * place, 7 + 2 * place), table, found, examples)
        result.data.append(f"{name}: {len(table):,} cells, {int(table.sum()):,} people")
        outcomes += found
    step("people")
    rows = adult_part.people(seed=_SEED, most=people)
    found, examples = counts_part.experiment(
        "people", rows.counts, repeats, cubic=False, epsilons=epsilons, deltas=deltas
    )
    result.files += write_counts(out, (10, 11), rows.counts, found, examples)
    result.data.append(f"people: {rows.source}; {len(rows.rows):,} cells that are not empty")
    outcomes += found
    step("support vector machines")
    scores = adult_part.accuracies(rows, repeats, epsilons, deltas)
    result.files += write_accuracies(out, scores, repeats)
    step("claims")
    result.claims += rule_claims() + figure_claims(scales, stds) + experiment_claims(outcomes, scores, repeats)
    return result
