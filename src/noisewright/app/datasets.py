"""The dataset that a spec file describes: its table, joined, with derived columns, and filtered, in this order."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from noisewright.problem.warnings import EphemeralBudgetWarning
from noisewright.release.dataset import Dataset

if TYPE_CHECKING:
    from noisewright.app.spec import ReleaseSpec


def dataset_of(asked: ReleaseSpec, given: dict[str, Any]) -> Dataset:
    """The dataset of a spec, with what `nw.Dataset` is given; nothing is read but names and types."""
    with warnings.catch_warnings():
        # A plan that is only looked at spends nothing that would have to be kept.
        warnings.simplefilter("ignore", EphemeralBudgetWarning)
        found = Dataset(**given)
    for private in asked.private_joins:
        found = found.join(Dataset(**private.dataset, ledger=found.ledger), **private.how)
    for join in asked.joins:
        found = found.join_public(**join)
    for name, derived in asked.derived.items():
        found = found.mutate(**{name: _callable(derived)})
    return found.filter(*map(_callable, asked.conditions)) if asked.conditions else found


def _callable(made: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda table: made(table)
