"""Errors carry data, survive pickling and are caught as what a caller expects."""

from __future__ import annotations

import pickle

import pytest

from noisewright.problem import errors
from noisewright.problem.errors import (
    EngineError,
    InconsistentError,
    LedgerError,
    NoisewrightError,
    ReleaseFailedError,
    SolverError,
    StaleAnswerError,
    UncertifiedError,
)

ALL = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, NoisewrightError)]


@pytest.mark.parametrize("kind", ALL)
def test_fields_and_message_survive_a_trip_to_another_process(kind):
    error = pickle.loads(pickle.dumps(kind("too much", requested=3)))  # noqa: S301  # our own bytes
    assert type(error) is kind
    assert str(error) == "too much"
    assert error.requested == 3


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind is not NoisewrightError])
def test_every_error_is_also_a_built_in_one(kind):
    worldly = (SolverError, InconsistentError, LedgerError, EngineError, ReleaseFailedError, StaleAnswerError)
    assert issubclass(kind, RuntimeError if issubclass(kind, worldly) else ValueError)


def test_an_unknown_field_is_an_attribute_error():
    with pytest.raises(AttributeError, match="remaining"):
        _ = UncertifiedError("no", requested=3).remaining
