"""Warnings: what was asked can be answered, but is probably not what was meant.

UserWarning
├── UnevenNumbersWarning    errors of numbers that move very differently are added up without weights
└── UnkeptBudgetWarning     a budget that no ledger keeps ends with the process
"""

from __future__ import annotations


class UnevenNumbersWarning(UserWarning):
    """Errors of numbers that one person moves very differently are added up without weights."""


class UnkeptBudgetWarning(UserWarning):
    """A budget without the path of a ledger ends with the process, and the next process begins anew."""
