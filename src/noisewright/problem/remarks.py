"""Warnings: what was asked can be answered, but is probably not what was meant.

UserWarning
└── UnevenNumbersWarning    errors of numbers that move very differently are added up without weights
"""

from __future__ import annotations


class UnevenNumbersWarning(UserWarning):
    """Errors of numbers that one person moves very differently are added up without weights."""
