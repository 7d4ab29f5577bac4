"""Every registered mechanism, from its construction to an answer at the command line; saved examples add new ones."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noisewright.app.cli.true_answers import read_truth
from noisewright.problem.errors import InvalidInputError
from noisewright.sample.certified import Certified
from tests.e2e.command import Cli, assert_failed, assert_succeeded
from tests.replay import Replay
from tests.saved import KINDS, example

each_kind = pytest.mark.parametrize("kind", KINDS)

TRUTHS: dict[str, Callable[[Any], str]] = {
    "scalar": lambda query: "14",
    "bounded": lambda query: str(sum(query.inputs) / 2),
    "choice": lambda query: ",".join(f"{name}={i}" for i, name in enumerate(query.candidates)),
    "vector": lambda query: ",".join(str(i if w else Fraction(i, 3)) for i, w in enumerate(query.whole)),
    "histogram": lambda query: ",".join(map(str, range(query.bins))),
    "workload": lambda query: ",".join(str(2 + i) for i in range(query.size)),
    "linear": lambda query: ",".join(str(2 + i) for i in range(query.size)),
}
"""A true answer to each kind of question, as a person types it."""


def _truth(mechanism: Any) -> str:
    if mechanism.CARD.kind == "randomised-response":  # one person's own value
        return str(mechanism.values[1])
    if isinstance(mechanism.query, str):  # points by which an exponential mechanism is listed
        return ",".join(map(str, mechanism.answers[0]))
    return TRUTHS[mechanism.query.CARD.kind](mechanism.query)


@each_kind
def test_what_is_certified_is_drawn_or_needs_an_answer(kind: str):
    try:
        noise = example(kind).draw(3)
    except InvalidInputError:
        with pytest.raises(InvalidInputError, match="release"):
            example(kind).draw(3)
    else:
        assert len(noise) == 3
        assert np.isfinite(noise.astype(float)).all()


@each_kind
def test_numbers_of_one_answer_vary_together_as_drawn_errors_do(kind: str):
    """Each number has noise of its own, and what is mixed is mixed alike: by the correlations of 600 of each."""
    certified, draws = example(kind), 600
    try:
        drawn = certified.draw(draws, entropy=Replay(seed=1)).astype(float)
    except InvalidInputError:  # noise that depends on the answer
        return
    if drawn.ndim == 1:
        return
    truth, entropy = read_truth(_truth(certified.mechanism), certified.mechanism), Replay(seed=2)
    released = np.array([list(certified.release(truth, entropy=entropy)) for _ in range(draws)], dtype=float)
    assert released.std(axis=0) == pytest.approx(drawn.std(axis=0), rel=0.3)
    assert np.corrcoef(released.T) == pytest.approx(np.corrcoef(drawn.T), abs=0.25)


@each_kind
def test_a_saved_mechanism_is_described_verified_and_answers(kind: str, cli: Cli, tmp_path: Path):
    certified = example(kind)
    certified.save(tmp_path / "mechanism.json")
    assert Certified.load(tmp_path / "mechanism.json").to_dict() == certified.to_dict()

    described = cli("describe", "mechanism.json")
    assert_succeeded(described)
    assert described.out == certified.describe() + "\n"

    explained = cli("explain", "mechanism.json")
    assert_succeeded(explained)
    assert explained.out == certified.explain() + "\n"

    verified = cli("verify", "mechanism.json")
    assert_succeeded(verified)
    assert verified.out.splitlines()[0] == f"Proven:    {certified.certificate.requirement}"

    truth = _truth(certified.mechanism)
    (tmp_path / "truth.txt").write_text(truth.replace(",", "\n"), encoding="utf-8")
    for answered in (
        cli("answer", "mechanism.json", "--value", truth),
        cli("answer", "mechanism.json", "--value", "-", typed=truth + "\n"),
        cli("answer", "mechanism.json", "--value-file", "truth.txt"),
    ):
        assert_succeeded(answered)
        assert answered.out.count("\n") == 1
        assert _plausible(answered.out.strip(), certified.mechanism)


@each_kind
@pytest.mark.parametrize("form", [list, tuple, iter], ids=["list", "tuple", "iterator"])
def test_many_answers_come_in_whatever_can_be_gone_through(kind: str, form: Callable[[list[Any]], Any]):
    """They are gone through once, and what was drawn comes back: an error afterwards would have given it away."""
    certified = example(kind)
    truth = read_truth(_truth(certified.mechanism), certified.mechanism)
    released = certified.release_many(form([truth] * 3))
    assert len(released) == 3


def _plausible(line: str, mechanism: Any) -> bool:
    own = mechanism.values if mechanism.CARD.kind == "randomised-response" else None
    names = getattr(mechanism.query, "candidates", own)
    return line in names if names else all(np.isfinite(float(part)) for part in line.split(","))


@each_kind
@pytest.mark.parametrize(
    "typed",
    ["", "8675309 people", "8675309,x", "north=8675309", "[8675309, ", "[[8675309]]", '{"a": 8675309', "8675309=nan"],
)
def test_what_is_no_answer_is_refused_without_being_repeated(kind: str, typed: str, cli: Cli, tmp_path: Path):
    example(kind).save(tmp_path / "mechanism.json")
    for refused in (
        cli("answer", "mechanism.json", "--value", typed),
        cli("answer", "mechanism.json", "--value", "-", typed=typed),
    ):
        assert_failed(refused, 2)
        assert "8675" not in refused.err
