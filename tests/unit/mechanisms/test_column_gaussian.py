"""Gaussian noise on integer columns: its errors by hand, and the draws that make them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm

import noisewright as nw
from noisewright.mechanisms.half_widths import half_width
from noisewright.numerics.balls import lower, precision, upper
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.sample.certified import make_certified

QUERY = nw.Linear([[1, 0, 5], [0, 2, 3]])
MIXED = nw.mechanisms.ColumnGaussian(
    QUERY, [[64, 0, 320], [0, 128, 192]], 8, 50, [["1/8", 0], ["1/16", "1/8"]]
)  # fmt: skip
"""Cells of eight steps: the way back of the first query alone is that of its columns."""


def _own(std: Any, cell: int = 1) -> Any:
    columns = [[v * cell for v in row] for row in ([1, 0, 5], [0, 2, 3])]
    return nw.mechanisms.ColumnGaussian(QUERY, columns, cell, std, [[1, 0], [0, 1]])


@pytest.mark.parametrize("std", ["1", "1.7", "4", "30"])
def test_errors_on_own_steps_are_sums_over_the_masses(std: str):
    made, s = _own(std), float(Fraction(std))
    k = np.arange(-int(12 * s) - 5, int(12 * s) + 6)
    masses = norm.cdf((k + 0.5) / s) - norm.cdf((k - 0.5) / s)
    with precision():
        for found, power in ((made.variances(BALLS), 2), (made.absolute(BALLS), 1)):
            truth = float((masses * np.abs(k).astype(float) ** power).sum())
            for ball in found:
                assert float(lower(ball)) <= truth * (1 + 1e-12)
                assert float(upper(ball)) >= truth * (1 - 1e-12)
                assert float(upper(ball) - lower(ball)) <= 0.2 * truth
    assert made.biases() == [0, 0]


def test_what_rounded_columns_are_off_is_part_of_every_half_width():
    """A person of element 1 adds 3/10 to the first answer and is left out of its sum; of 40 people, 12 in all."""
    exact, rounded = (
        nw.mechanisms.ColumnGaussian(
            nw.Linear([[1, weight], [0, 2]], people=40), [[1, 0], [0, 2]], 1, 5, [[1, 0], [0, 1]]
        )
        for weight in (0, "3/10")
    )
    assert exact.biases() == [0, 0]
    assert rounded.biases() == [Fraction(3, 10), 0]
    plain, wide = (half_width(made, Fraction(19, 20), joint=False) for made in (exact, rounded))
    assert plain[0] == plain[1] == wide[1]
    assert wide[0] == pytest.approx(plain[0] + 12, rel=1e-3)
    assert half_width(rounded, Fraction(19, 20), joint=True) > 12 + 0.9 * plain[0]


def test_rounding_the_sums_is_part_of_the_error():
    """Sums anywhere in a cell of eight: the worst place is inside the ball, the middle too."""
    masses = {k: norm.cdf((k + 0.5) / 3) - norm.cdf((k - 0.5) / 3) for k in range(-60, 61)}
    made = _own(3, cell=8)
    with precision():
        for power, found in ((2, made.variances(BALLS)[0]), (1, made.absolute(BALLS)[0])):
            for off in range(-4, 4):
                truth = sum(m * abs(k + off / 8) ** power for k, m in masses.items())
                assert float(lower(found)) <= truth <= float(upper(found))


def test_what_is_drawn_has_the_error_that_is_stated():
    """Both sides: the mean square of 40,000 draws, at a false-alarm rate of 1e-6 for each query."""
    certified = make_certified(MIXED, nw.ApproxDP(4, "0.5"))
    noise = certified.draw(40_000)
    stated = [float(v) for v in MIXED.variances(FLOATS)]
    assert stated == pytest.approx([50**2 / 64 + 1 / 768, (50**2 + 1 / 12) * (1 / 256 + 1 / 64)])
    for k in range(2):
        ratio = float((noise[:, k] ** 2).sum()) / stated[k]
        assert chi2.ppf(5e-7, 40_000) <= ratio <= chi2.ppf(1 - 5e-7, 40_000)
    correlation = float((noise[:, 0] * noise[:, 1]).mean()) / (stated[0] * stated[1]) ** 0.5
    assert correlation == pytest.approx(5**-0.5, abs=0.03)


def test_releases_are_around_the_true_answers():
    """Both sides: the mean square of 2,000 releases, at a false-alarm rate of 1e-6 for each query."""
    certified = make_certified(_own(6), nw.ApproxDP(4, "0.5"))
    counts = [4, 100, 7]
    truth = np.array([float(v) for v in QUERY.answers(counts)])
    released = certified.release_many([counts] * 2_000)
    for k in range(2):
        ratio = float(((released[:, k] - truth[k]) ** 2).sum()) / (36 + 1 / 12)
        assert chi2.ppf(5e-7, 2_000) <= ratio <= chi2.ppf(1 - 5e-7, 2_000)


def test_the_bias_of_columns_that_were_rounded_is_stated():
    off = nw.mechanisms.ColumnGaussian(QUERY, [[64, 1, 320], [0, 128, 192]], 64, 50, [[1, 0], [0, 1]])
    assert off.biases() == [Fraction(1, 64), 0]


def test_the_largest_error_is_enclosed_and_estimated():
    """The mean of the largest of 40,000 draws; its own scatter is about half a per cent."""
    noise = make_certified(MIXED, nw.ApproxDP(4, "0.5")).draw(40_000)
    truth = float(np.abs(noise).max(axis=1).mean())
    with precision():
        found = MIXED.largest(BALLS)
        assert float(lower(found)) <= truth <= float(upper(found))
    assert MIXED.largest_estimate() == pytest.approx(truth, rel=0.03)


def test_many_queries_have_an_estimate_of_the_largest_error():
    wide = nw.Linear(np.eye(30, dtype=int).tolist())
    made = nw.mechanisms.ColumnGaussian(wide, np.eye(30, dtype=int).tolist(), 1, 9, np.eye(30, dtype=int).tolist())
    noise = make_certified(made, nw.ApproxDP(4, "0.5")).draw(20_000)
    assert made.largest_estimate() == pytest.approx(float(np.abs(noise).max(axis=1).mean()), rel=0.02)
