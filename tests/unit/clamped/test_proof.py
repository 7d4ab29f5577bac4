"""The privacy of clamped noise: the certificate against brute force over pairs of answers, in exact rationals."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from noisewright.mechanisms.base import MECHANISMS
from noisewright.mechanisms.bounded.clamped import Clamped, Levels
from noisewright.problem.errors import NoisewrightError, UncertifiedError
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Bounded
from noisewright.proof.bounded import largest_move, largest_ratio
from noisewright.proof.certify import certify
from noisewright.sample.certified import Certified
from tests.clamped import SMALL, WHOLE, written_law, written_rows

CORPUS = Path(__file__).resolve().parents[2] / "fixtures" / "corpus"
TIGHT = Clamped(
    Bounded(sensitivity=1, inputs=(0, 3), outputs=(-3, 6), bias=0, exact=True),
    step=Fraction(1, 4),
    top=2,
    period=5,
    heights=(600, 200, 70, 24, 8),
)
"""So little room that the place moves by more than one and a half periods of another width."""


def largest_written_ratio(mechanism: Clamped, finest: int) -> Fraction:
    """The largest ratio of chances over all pairs of tried answers within the sensitivity, and over all outputs."""
    rows, (low, high) = written_rows(mechanism), mechanism.query.inputs
    cell = mechanism.query.sensitivity / finest
    count = math.floor((high - low) / cell)
    laws = [written_law(mechanism, rows, low + i * cell) for i in range(count + 1)]
    laws += [written_law(mechanism, rows, high - i * cell) for i in range(count + 1)]
    places = [low + i * cell for i in range(count + 1)] + [high - i * cell for i in range(count + 1)]
    worst = Fraction(1)
    for x, law in zip(places, laws, strict=True):
        for z, other in zip(places, laws, strict=True):
            if abs(x - z) <= mechanism.query.sensitivity:
                worst = max(worst, *(law[y] / other[y] for y in law))
    return worst


@pytest.mark.parametrize(
    ("mechanism", "finest"), [(SMALL, 6), (WHOLE, 2), (TIGHT, 6)], ids=["lopsided", "whole", "tight"]
)
def test_no_two_answers_within_the_sensitivity_are_farther_apart_than_certified(mechanism: Clamped, finest: int):
    certificate = certify(mechanism, PureDP(3))
    written = math.log(largest_written_ratio(mechanism, finest))
    assert written <= float(certificate.bound)
    # The bound is met but for what lies between the tried answers, and for slopes that are smallest at the ends.
    assert written >= 0.9 * float(certificate.bound)
    with pytest.raises(UncertifiedError, match="likelihood ratio reaches"):
        certify(mechanism, PureDP(Fraction(written) * Fraction(99, 100)))


TIGHT_ABOVE, TIGHT_BELOW = (
    Clamped(
        Bounded(sensitivity=Fraction(3, 2), inputs=(0, 6), outputs=outputs, bias=0, exact=True),
        step=Fraction(1, 2),
        top=1,
        period=3,
        heights=(900, 331, 130, 51, 20, 8),
    )
    for outputs in ((-30, 10), (-4, 36))
)
"""Where there is little room beyond the inputs, places move a fifth faster."""


@pytest.mark.parametrize(
    "mechanism",
    [SMALL, WHOLE, TIGHT, TIGHT_ABOVE, TIGHT_BELOW],
    ids=["lopsided", "whole", "tight", "tight above", "tight below"],
)
def test_the_place_moves_no_faster_than_is_claimed_and_somewhere_nearly_as_fast(mechanism: Clamped):
    low, high = mechanism.query.inputs
    answers = [low + (high - low) * Fraction(i, 60) for i in range(61)]
    places = [k + share for k, share in map(mechanism.place, answers)]
    fastest = max((q - p) / (y - x) for (x, p), (y, q) in pairwise(zip(answers, places, strict=True)))
    claimed = largest_move(mechanism) / mechanism.query.reach
    assert 0.8 * claimed <= fastest <= claimed


@pytest.mark.parametrize(
    ("top", "period", "heights"),
    [(1, 3, (900, 331, 130, 51)), (4, 2, (50, 41, 12, 11, 3)), (4, 2, (90, 30, 20, 19)), (0, 1, (9, 4, 1))],
)
@pytest.mark.parametrize("move", ["1", "3/2", "5/2", "3", "10/3", "7", "71/10", "1/3"])
def test_ratios_are_the_largest_over_all_pairs_at_most_a_move_apart(
    top: int, period: int, heights: tuple[int, ...], move: str
):
    levels, fine = Levels(heights, top, period), 60
    far = top + len(heights) * period + 12

    def line(u: Fraction) -> Fraction:
        below = math.floor(u)
        ends = []
        for j in (below, below + 1):
            level = 0
            while level < len(heights) - 1 and abs(j) > top + level * period:
                level += 1
            ends.append(heights[level])
        return ends[0] + (u - below) * (ends[1] - ends[0])

    distance = Fraction(move)
    points = [Fraction(i, fine) for i in range(-far * fine, far * fine + 1)]
    values = [line(u) for u in points]
    reach = math.floor(distance * fine)
    found = max(max(values[i] / values[i + reach], values[i + reach] / values[i]) for i in range(len(values) - reach))
    assert largest_ratio(levels, distance) >= found
    assert float(largest_ratio(levels, distance)) <= float(found) * 1.02


def test_what_answers_computed_in_floats_are_off_by_is_covered():
    asked = replace(SMALL.query, exact=False)
    loose, exact = (certify(replace(SMALL, query=q), PureDP(3)).bound for q in (asked, SMALL.query))
    assert exact < loose < exact * (1 + Fraction(1, 2**20))


@pytest.mark.parametrize(
    ("field", "edited"),
    [
        ("step", "1/40"),
        ("top", 60),
        ("period", 2),
        ("outputs", ["-1/2", "5/2"]),
        ("outputs", ["-30", "60"]),
        ("sensitivity", "3/4"),
        ("heights", ["126", "5", "1"]),
        ("heights", ["252", "10", "1"]),
        ("heights", ["126", "10", "12"]),
    ],
)
def test_an_edited_mechanism_is_proven_again_and_refused(field: str, edited: object, tmp_path: Path):
    """Whoever edits the file and every digest in it finds the verifier; who does not finds the digest."""
    path = tmp_path / "edited.json"
    data = json.loads((CORPUS / "clamped-pure.json").read_text(encoding="utf-8"))
    mechanism = data["mechanism"]
    (mechanism if field in mechanism else mechanism["query"])[field] = edited
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(NoisewrightError):
        Certified.load(path)
    with pytest.raises(NoisewrightError):
        certify(MECHANISMS.from_dict(mechanism), PureDP("2.75"))
