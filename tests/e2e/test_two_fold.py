"""Two-fold noise as a person meets it on the command line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import noisewright as nw
from noisewright.laws.formula import FormulaFold
from noisewright.laws.lattice import Lattice
from noisewright.laws.two_fold import TwoFold
from noisewright.mechanisms.additive import Additive
from noisewright.sample.certified import make_certified
from tests.e2e.command import Cli, assert_failed, assert_succeeded, process
from tests.forgery import at, put, resealed

QUESTION = ["design", "--epsilon", "6", "--sensitivity", "1", "--utility", "usefulness", "--within", "0.4"]
FOLD = ("mechanism", "law", "fold")


def test_the_report_says_what_two_fold_noise_can_do(cli: Cli):
    outcome = cli(*QUESTION)
    assert_succeeded(outcome)
    assert "two-fold optimum" in outcome.out
    assert "proven: dual certificate" in outcome.out


def test_every_fold_is_shown_on_request(cli: Cli):
    outcome = cli(*QUESTION, "--explore", "two-fold", "--json")
    assert_succeeded(outcome)
    names = {candidate["name"] for candidate in json.loads(outcome.out)["candidates"]}
    assert names >= {"gamma fold", "Rayleigh fold", "ensemble of folds", "two-fold optimum"}


def test_a_family_that_does_not_exist_is_refused(cli: Cli):
    outcome = cli(*QUESTION, "--explore", "three-fold")
    assert outcome.code == 2
    assert "two-fold" in outcome.err


def test_a_file_whose_formula_would_never_be_computed_is_refused_at_once(cli: Cli, tmp_path: Path):
    law = TwoFold(FormulaFold("exp(-x)*(1 + x)**-3"))
    honest = make_certified(Additive(nw.Scalar(1), law, Lattice.cells(Fraction(1, 4))), nw.PureDP(4)).to_dict()
    assert at(honest, (*FOLD, "formula")) == "exp(-x)*(1 + x)**-3"
    (tmp_path / "fold.json").write_text(json.dumps(honest), encoding="utf-8")
    assert_succeeded(cli("verify", "fold.json"))
    endless = resealed(put(honest, (*FOLD, "formula"), "exp(-x)*((9**999)**999)**999"), bound=False)
    (tmp_path / "fold.json").write_text(json.dumps(endless), encoding="utf-8")
    # In a process of its own: one such power is a single step of the interpreter, which no time limit here could end.
    assert_failed(process("verify", "fold.json", folder=tmp_path), 1, "too large or too fine")
