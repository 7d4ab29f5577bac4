"""Warnings: what was asked can be answered, but is probably not what was meant, or takes long.

UserWarning
├── UnevenNumbersWarning    errors of numbers that move very differently are added up without weights
├── EphemeralBudgetWarning  a budget that no ledger keeps ends with the process
├── StaleAnswerWarning      a stored answer is older than the files that it is about
└── LongWorkWarning         what begins now takes minutes
"""

from __future__ import annotations

import math
import warnings

_PATIENCE = 60


class UnevenNumbersWarning(UserWarning):
    """Errors of numbers that one person moves very differently are added up without weights."""


class EphemeralBudgetWarning(UserWarning):
    """A budget without the path of a ledger ends with the process, and the next process begins anew."""


class StaleAnswerWarning(UserWarning):
    """A stored answer is older than the files that it is about."""


class LongWorkWarning(UserWarning):
    """What begins now may take minutes; the message says about how many, and what takes less."""


def tell_if_long(what: str, seconds: float, less: str) -> None:
    """Warn whoever called the caller beforehand if work is expected to take more than a minute."""
    if seconds > _PATIENCE:
        minutes = math.ceil(seconds / 60)
        warnings.warn(f"{what} may take about {minutes} minutes; {less}.", LongWorkWarning, stacklevel=3)
