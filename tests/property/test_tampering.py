"""Whoever edits a saved mechanism and renews every seal still cannot make a false claim."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from noisewright.problem.errors import MechanismFileError, NoisewrightError, UncertifiedError
from noisewright.problem.fields import exact_text as exact
from noisewright.problem.privacy import PureDP
from noisewright.sample.certified import Certified, make_certified
from tests import strategies
from tests.brute import privacy_loss
from tests.forgery import at, leaves, put, resealed

EVERY_LAW = pytest.mark.parametrize("kind", sorted(strategies.CLAIMS))
factors = st.sampled_from([Fraction(text) for text in ("0.999", "1/2", "1.001", "2", "7", "-1")])


def saved(claim: strategies.Claim) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(make_certified(claim.mechanism, PureDP(claim.epsilon)).to_dict()))
    return data


def numbers(data: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Where the numbers stand that decide about privacy: scales, rates, levels, breaks, sensitivity, epsilon, cells."""
    return [
        path
        for path in leaves(data)
        if path[0] in ("mechanism", "certificate")
        and path[-1] not in ("kind", "rule", "mechanism", "bound", "neighbours")
    ]


def edited(value: Any, factor: Fraction) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + (1 if factor > 1 else -1)
    changed = exact(value) * factor
    return str(changed if changed != exact(value) else factor - 1)


@EVERY_LAW
@given(data=st.data(), factor=factors)
@settings(max_examples=150)
def test_what_is_accepted_is_true(kind, data, factor):
    """One edited number, all seals renewed, the bound restated: refused by us, or true by brute force."""
    honest = saved(data.draw(strategies.CLAIMS[kind]))
    path = data.draw(st.sampled_from(numbers(honest)))
    forged = resealed(put(honest, path, edited(at(honest, path), factor)))
    try:
        accepted = Certified.from_dict(forged)
    except NoisewrightError:
        return
    loss = privacy_loss(accepted.mechanism.law, accepted.mechanism.query.sensitivity)
    assert loss <= exact(forged["certificate"]["requirement"]["epsilon"])
    assert accepted.to_dict() == forged


@EVERY_LAW
@given(data=st.data(), factor=factors)
@settings(max_examples=60)
def test_without_a_fresh_digest_no_edit_passes(kind, data, factor):
    honest = saved(data.draw(strategies.CLAIMS[kind]))
    path = data.draw(st.sampled_from(numbers(honest)))
    with pytest.raises(MechanismFileError, match="digest"):
        Certified.from_dict(put(honest, path, edited(at(honest, path), factor)))


TIGHTER = {
    "laplace": [("mechanism", "law", "scale")],
    "discrete-laplace": [("mechanism", "law", "scale")],
    "piecewise": [("mechanism", "law", "rate")],
}


@EVERY_LAW
@given(data=st.data())
@settings(max_examples=40)
def test_less_noise_a_wider_question_or_a_smaller_epsilon_is_never_accepted(kind, data):
    """The honest file claims the smallest true epsilon, so each of these makes the claim false."""
    claim = data.draw(strategies.CLAIMS[kind])
    honest = saved(claim)
    factor = Fraction(data.draw(st.sampled_from(["1.001", "2", "1000"])))
    for path in TIGHTER[kind]:
        number = exact(at(honest, path))
        forged = put(honest, path, str(number * factor if path[-1] == "rate" else number / factor))
        with pytest.raises(UncertifiedError, match="refused"):
            Certified.from_dict(resealed(forged))
    smaller = put(honest, ("certificate", "requirement", "epsilon"), str(claim.epsilon * Fraction(999, 1000)))
    with pytest.raises(UncertifiedError, match="refused"):
        Certified.from_dict(resealed(smaller))
    wider = put(honest, ("mechanism", "query", "sensitivity"), str(claim.mechanism.query.sensitivity * 8))
    with pytest.raises(UncertifiedError, match="refused"):
        Certified.from_dict(resealed(wider))
