"""What a charge would say can be asked for without one."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.problem.errors import NoisewrightError
from tests.ledger import menu


def _said(ask: Callable[[], Any]) -> tuple[type[Exception] | None, str]:
    """What was raised, without what differs between asking and charging."""
    try:
        ask()
    except NoisewrightError as error:
        return type(error), re.sub("; nothing was (spent|charged)", "", str(error))
    return None, ""


BUDGETS: list[tuple[Any, Any]] = [
    (nw.PureDP("0.7"), nw.PureDP("0.7")),
    (nw.PureDP(1), nw.PureDP("0.3")),
    (nw.PureDP("0.3"), nw.PureDP(1)),
    (nw.ZeroConcentratedDP("0.2"), nw.ZeroConcentratedDP("0.05")),
    (nw.ApproxDP("0.7", "1e-6"), nw.ApproxDP("0.7", "1e-7")),
]
COSTED = [
    *(menu.laplace(epsilon) for epsilon in ("0.1", "0.3", "0.7", "1")),
    *(menu.gaussian(std) for std in ("1", "4", "20")),
    menu.truncated("0.5", "1e-7"),
]


@pytest.mark.parametrize(("whole", "part"), BUDGETS)
def test_what_a_charge_would_say_is_said_and_nothing_is_written(tmp_path: Path, whole: Any, part: Any):
    kinds = set()
    for place, costed in enumerate(COSTED):
        ledger = nw.Ledger.create(tmp_path / f"{place}.ledger", budget=whole)
        for account in (ledger.sub("one", budget=part), ledger):
            before = list(ledger.rows())
            asked = _said(partial(account.require_affordable, costed))
            assert list(ledger.rows()) == before
            charged = _said(partial(account.charge, costed, reason="x"))
            assert asked == charged
            kinds.add(asked[0])
    assert {None, nw.errors.BudgetExceeded} <= kinds


def test_a_closed_sub_budget_is_said_although_the_whole_is_spent(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    part = ledger.sub("one", budget=nw.PureDP(1))
    ledger.charge(menu.laplace("1"), reason="everything")
    part.close_budget(reason="the end")
    assert _said(partial(part.require_affordable, menu.laplace("0.1"))) == _said(
        partial(part.charge, menu.laplace("0.1"), reason="x")
    )


def test_a_closed_budget_and_other_neighbours_are_said(path: Path):
    ledger = nw.Ledger.create(path, budget=nw.PureDP(1))
    with pytest.raises(nw.errors.InvalidInputError, match="not a metric"):
        ledger.require_affordable(menu.on_a_metric("1"))
    ledger.close_budget(reason="the end")
    with pytest.raises(nw.errors.LedgerClosedError):
        ledger.require_affordable(menu.laplace("0.1"))
