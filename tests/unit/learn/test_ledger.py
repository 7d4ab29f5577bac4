"""A fit with a ledger: one charge of exactly its releases, before anything is read."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import noisewright as nw

ROWS = np.array([[0, 1.0, 5.0], [1, 2.0, 6.0], [2, 3.0, 7.0], [0, 4.0, 8.0]] * 10)
LABELS = np.array([0, 1, 1, 0] * 10)


def _model(ledger: nw.Ledger | None, **more: object) -> nw.learn.NaiveBayes:
    given = {"bounds": {1: (0, 10), 2: "estimate"}, "categorical": {0: 3}, "noise": "Laplace", **more}
    return nw.learn.NaiveBayes(1, ledger=ledger, **given)


def test_a_fit_is_one_charge_of_exactly_its_releases(tmp_path: Path):
    ledger = nw.Ledger.create(tmp_path / "kept.ledger", budget=nw.PureDP(2))
    model = _model(ledger).fit(ROWS, LABELS)
    [charge] = [row for row in ledger.rows() if row["event"] == "charge"]
    assert charge["certificate"] == [certificate.to_dict() for certificate in model.certificates_]
    assert ledger.spent == sum(certificate.bound for certificate in model.certificates_)
    assert Fraction("0.99") < ledger.spent <= 1
    _model(ledger).fit(ROWS, LABELS)
    with pytest.raises(nw.errors.BudgetExceeded):
        _model(ledger).fit(ROWS, LABELS)
    assert ledger.verify().charges == 2


def test_a_refused_fit_releases_nothing(tmp_path: Path):
    ledger = nw.Ledger.create(tmp_path / "kept.ledger", budget=nw.PureDP("0.5"))
    model = _model(ledger)
    with pytest.raises(nw.errors.BudgetExceeded):
        model.fit(ROWS, LABELS)
    assert not hasattr(model, "mechanisms_")
    assert ledger.spent == 0


def test_what_is_wrong_with_a_fit_is_said_before_the_charge(tmp_path: Path):
    ledger = nw.Ledger.create(tmp_path / "kept.ledger", budget=nw.PureDP(2))
    with pytest.raises(nw.errors.InvalidInputError):
        _model(ledger, bounds=None).fit(ROWS, LABELS)
    with pytest.raises(nw.errors.InvalidInputError):
        _model(ledger, noise="loud").fit(ROWS, LABELS)
    assert ledger.head.count == 1


def test_clones_and_copies_charge_the_same_ledger(tmp_path: Path):
    ledger = nw.Ledger.create(tmp_path / "kept.ledger", budget=nw.PureDP(3))
    first = _model(ledger)
    for model in (clone(first), pickle.loads(pickle.dumps(first))):  # noqa: S301 -- our own bytes
        model.fit(ROWS, LABELS)
    assert ledger.verify().charges == 2
