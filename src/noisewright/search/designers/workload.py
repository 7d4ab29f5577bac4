"""Workloads: strategies with Gaussian and with Laplace noise, ranked, with what no strategy and no method can beat."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from noisewright.mechanisms.strategies.filters import LARGEST_FILTER, line_forms
from noisewright.mechanisms.strategies.rows import EndlessRows
from noisewright.mechanisms.strategies.strategy import prefix_sums
from noisewright.mechanisms.strategies.values import LARGEST_DENSE
from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.utilities import SquaredError, Utility, WorstVariance
from noisewright.problem.workload import Workload
from noisewright.search.bounds.line import least_line
from noisewright.search.bounds.unbiased import least_unbiased
from noisewright.search.designer import Designer, Proposal
from noisewright.search.families.strategies import (
    LARGEST_EXTRA,
    best_contrasts,
    best_residuals,
    best_tree,
    extra_rows,
    filter_rows,
    gaussian_levels,
    gaussian_strategy,
    haar_laplace,
    identity_rows,
    laplace_strategy,
    marginal_scales,
    optimum_of,
    seconds_for_extra,
    squared_budget,
    worst_residuals,
)
from noisewright.search.report.progress import Advance
from noisewright.search.report.render import limit_text, times
from noisewright.search.report.report import Candidate, Report

_LARGEST_LINE = 1 << 24
_LAST_DIGITS = Fraction(1, 2**50)
_OVER = "unbiased method"


def propose(query: Workload, privacy: Any, utility: Utility, step: Advance) -> Iterator[Proposal]:
    """Every family of strategies that this question has, with every kind of noise that this requirement allows."""
    if not privacy.pure:
        step("Gaussian strategies")
        yield from _gaussian(query, privacy, worst=utility.worst)
    if privacy.pure or privacy.approximate:
        step("Laplace strategies")
        yield from _laplace(query, privacy)


def _gaussian(query: Workload, privacy: Any, *, worst: bool) -> Iterator[Proposal]:
    if query.size > _LARGEST_LINE and prefix_sums(query) is not None:
        yield Proposal("endless blocks, Gaussian", gaussian_strategy(query, privacy, EndlessRows(query.size), [1.0]))
        return
    sizes = query.attributes
    if sizes is not None:
        rows, levels, _ = (worst_residuals if worst else best_residuals)(query, sizes)
        yield Proposal("residuals, Gaussian", gaussian_strategy(query, privacy, rows, levels), 1)
        if query.size > LARGEST_DENSE:
            return
    yield Proposal("identity, Gaussian", gaussian_strategy(query, privacy, identity_rows(query), [1.0]), 0)
    if sizes is not None:
        return
    if query.size <= LARGEST_DENSE:
        best = optimum_of(query, worst=worst)
        yield Proposal("optimal, Gaussian", gaussian_strategy(query, privacy, best.rows, [1.0]), 4)
    elif query.size <= LARGEST_FILTER:
        for form in sorted({"prefixes", "ranges"}.intersection(line_forms(query) or ())):
            found = gaussian_strategy(query, privacy, filter_rows(query.size, form), [1.0])
            yield Proposal(f"filter for {form}, Gaussian", found, 4)
    if query.size > 2:
        haar, levels, _ = gaussian_levels(query, 2)
        yield Proposal("Haar wavelet, Gaussian", gaussian_strategy(query, privacy, haar, levels), 2)
        tree, levels = best_contrasts(query)
        if tree.branching > 2:
            name = f"tree of {tree.branching} branches, Gaussian"
            yield Proposal(name, gaussian_strategy(query, privacy, tree, levels), 3)


def _laplace(query: Workload, privacy: Any) -> Iterator[Proposal]:
    if query.size > _LARGEST_LINE and prefix_sums(query) is not None:
        yield Proposal("endless blocks, Laplace", laplace_strategy(query, privacy, EndlessRows(query.size), [1.0]))
        return
    sizes = query.attributes
    if sizes is not None:
        rows, scales = marginal_scales(query, sizes)
        yield Proposal("marginals, Laplace", laplace_strategy(query, privacy, rows, scales), 1)
        if query.size > LARGEST_DENSE:
            return
    yield Proposal("identity, Laplace", laplace_strategy(query, privacy, identity_rows(query), [1.0]), 0)
    if query.size > 2 and sizes is None:
        haar, scales = haar_laplace(query)
        yield Proposal("Haar wavelet, Laplace", laplace_strategy(query, privacy, haar, scales), 2)
        tree, scales = best_tree(query)
        if tree.groups > 1:
            name = f"tree of {tree.branching} branches, Laplace"
            yield Proposal(name, laplace_strategy(query, privacy, tree, scales), 3)
    if query.size <= LARGEST_EXTRA:
        yield Proposal("searched rows, Laplace", laplace_strategy(query, privacy, extra_rows(query), [1.0]), 4)


def least_strategy(query: Workload, utility: Utility) -> Fraction | None:
    """What no Gaussian strategy of mu = 1 can beat, proven; None where it is not known."""
    if not query.single or utility.weights is not None:
        return None
    worst, sizes = utility.worst, query.attributes
    if sizes is not None:
        return (worst_residuals if worst else best_residuals)(query, sizes)[2]
    return optimum_of(query, worst=worst).bound if query.size <= LARGEST_DENSE else _line(query)


def _line(query: Workload) -> Fraction | None:
    return least_line(query) if query.size <= _LARGEST_LINE else None


def bound(query: Workload, privacy: Any, utility: Utility) -> Fraction | None:
    """What no unbiased method can beat at any table."""
    least = least_strategy(query, utility)
    return None if least is None else least_unbiased(least, privacy)


def check(query: Workload, privacy: Any, utility: Utility) -> None:
    """Refuse questions whose answers nobody changes, or whose table is too large for what is known about them."""
    if query.still:
        raise InvalidQueryError(
            "nobody changes any answer: with replace=True the number of people is public, and every question counts"
            " all of them alike, so no noise is needed. Leave out replace=True if people come and go, or release"
            " the answers as they are."
        )
    if query.size <= LARGEST_DENSE or query.attributes is not None:
        return
    line = all(len(part.factors) == 1 and part.factors[0].form for part in query.parts)
    if line and utility.weights is None and not utility.worst:
        if query.size <= _LARGEST_LINE or prefix_sums(query) is not None:
            return
        raise InvalidQueryError(f"the table has {query.size} cells; at most {_LARGEST_LINE} are designed for.")
    raise InvalidQueryError(
        f"the table has {query.size} cells; at most {LARGEST_DENSE} are designed for, and more only for ranges,"
        " prefixes, identity and total under SquaredError(), and for marginals. Ask about fewer cells.",
        size=query.size,
        largest=LARGEST_DENSE,
    )


def why(report: Report) -> str:
    """Which noise won, by how much, and how far from what any unbiased method could do."""
    winner = report.candidates[0]
    other = next((c for c in report.candidates if _noise(c) != _noise(winner)), None)
    sentence = f"{winner.name} wins"
    if other is not None:
        ratio = times(other.value / winner.value)
        sentence += f": the best strategy with {_noise(other)} noise, {other.name}, has {ratio} times its error"
    return f"{sentence}; {limit_text(report)}."


def notes(report: Report) -> Iterator[str]:
    """The error per question, and the distance of each Gaussian strategy to the best one, proven."""
    if report.utility.weights is None and not report.utility.worst:
        asked = sum(float(part.weight) * part.questions for part in report.query.parts)
        roots = (f"{c.name} {(c.value / asked) ** 0.5:.6g}" for c in report.candidates)
        yield f"Root mean square error per question: {'; '.join(roots)}."
    gaussian = [c for c in report.candidates if _noise(c) == "Gaussian"]
    least = least_strategy(report.query, report.utility) if gaussian else None
    if least is not None:
        # The largest mu^2 is within the last digits of the end that was checked.
        limit = float(least / squared_budget(report.privacy) * (1 - _LAST_DIGITS))
        distances = [max(0.0, c.value / limit - 1) for c in gaussian]
        names = [c.name.removesuffix(", Gaussian") for c in gaussian]
        shown = [f"{name} {distance:.2g}" for name, distance in zip(names, distances, strict=True)]
        yield f"Relative distance to the best Gaussian strategy, proven, at most: {'; '.join(shown)}."
    elif gaussian:
        yield "The distance to the best Gaussian strategy is not known here."
    if report.bound is not None:
        yield "The best possible value is proven for every unbiased method; biased ones may do better."


def _noise(candidate: Candidate) -> str:
    return str(candidate.certified.mechanism.shape)


def seconds(query: Workload, privacy: Any, utility: Utility) -> float:
    """About how long a design takes: that of the rows that are searched beside each cell, for Laplace noise."""
    return seconds_for_extra(query) if privacy.pure or privacy.approximate else 0.0


WORKLOAD = Designer(
    (SquaredError, WorstVariance), propose, bound, check, why, notes, over=_OVER, steps=2, seconds=seconds
)
