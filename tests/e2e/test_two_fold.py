"""Two-fold noise as a person meets it on the command line."""

from __future__ import annotations

import json

from tests.e2e.command import Cli, assert_succeeded

QUESTION = ["design", "--epsilon", "6", "--sensitivity", "1", "--utility", "usefulness", "--within", "0.4"]


def test_the_report_says_what_two_fold_noise_can_do(cli: Cli):
    outcome = cli(*QUESTION)
    assert_succeeded(outcome)
    assert "two-fold optimum" in outcome.out
    assert "proven by a dual certificate" in outcome.out


def test_every_fold_is_shown_on_request(cli: Cli):
    outcome = cli(*QUESTION, "--explore", "two-fold", "--json")
    assert_succeeded(outcome)
    names = {candidate["name"] for candidate in json.loads(outcome.out)["candidates"]}
    assert names >= {"gamma fold", "Rayleigh fold", "ensemble of folds", "two-fold optimum"}


def test_a_family_that_does_not_exist_is_refused(cli: Cli):
    outcome = cli(*QUESTION, "--explore", "three-fold")
    assert outcome.code == 2
    assert "two-fold" in outcome.err
