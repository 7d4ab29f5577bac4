"""The ledger of a dataset: given, opened, made, or kept for as long as the process lasts."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
import weakref
from pathlib import Path
from typing import Any

from noisewright.ledger.ledger import Ledger
from noisewright.problem.errors import InvalidInputError, LedgerDamagedError, LedgerError
from noisewright.problem.privacy import MetricPrivacy
from noisewright.problem.warnings import EphemeralBudgetWarning


def ledger_for(budget: Any, ledger: Any) -> Ledger | None:
    """The ledger that was given, opened or made."""
    if isinstance(ledger, Ledger):
        return _matching(ledger, budget)
    if ledger is not None:
        try:
            return _matching(Ledger.open(ledger), budget)
        except LedgerDamagedError:
            raise
        except LedgerError:
            if budget is None:
                raise
        return Ledger.create(ledger, budget=budget, neighbours=_neighbours(budget))
    if budget is None:
        return None
    warnings.warn(
        "this budget is kept until the process ends, and the next process begins anew; give ledger=path to keep it.",
        EphemeralBudgetWarning,
        stacklevel=3,
    )
    folder = tempfile.mkdtemp(prefix="noisewright-")
    made = Ledger.create(Path(folder) / "budget.ledger", budget=budget, neighbours=_neighbours(budget))
    weakref.finalize(made, _remove, folder, os.getpid())
    return made


def _remove(folder: str, process: int) -> None:
    """Remove what was kept for a process that has no use for it any more; a fork of the process removes nothing."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _neighbours(budget: Any) -> str:
    return "metric" if isinstance(budget, MetricPrivacy) else "add-remove"


def _matching(ledger: Ledger, budget: Any) -> Ledger:
    if budget is not None and ledger.budget != budget:
        raise InvalidInputError(
            f"the ledger {ledger.url} keeps {ledger.budget}, and budget= says {budget}; leave budget= out, or raise the"
            " ledger's with raise_budget.",
            budget=budget,
        )
    return ledger
