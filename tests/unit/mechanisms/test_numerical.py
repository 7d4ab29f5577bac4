"""Divergences, entropies and Mallows distances: against closed forms, brute force, and each other."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.numerical import Quantiles
from noisewright.numerics.balls import precision
from noisewright.numerics.fields import BALLS, FLOATS
from noisewright.problem.errors import InvalidUtilityError
from noisewright.search.designers.two_fold import two_fold_mechanism
from noisewright.search.families.scalar_pure import laplace, tuned_staircase
from noisewright.search.families.two_fold import two_fold_optimum

PRIOR = [50, 120, 3, 0, 700, 90]
METRICS = [
    nw.KullbackLeibler(PRIOR),
    nw.Renyi(PRIOR, 2),
    nw.Renyi(PRIOR, "0.5"),
    nw.HistogramEntropy(PRIOR),
    nw.Mallows(2, 40),
]


def mechanisms(epsilon):
    query, exact = nw.Scalar(1), Fraction(epsilon)
    fold = two_fold_optimum(nw.SquaredError(), exact).fold
    return {
        "Laplace": laplace(query, exact, nw.SquaredError()),
        "staircase": tuned_staircase(query, exact, nw.SquaredError()),
        "two-fold": two_fold_mechanism(query, fold, exact, nw.SquaredError()),
    }


def drawn(name, epsilon, shape):
    """The same noise drawn the ordinary way: an independent check of the quadrature."""
    generator = np.random.Generator(np.random.PCG64(5))
    return Quantiles(mechanisms(epsilon)[name].error_density)(generator.random(shape))


def brute(metric, noise):
    if isinstance(metric, nw.Mallows):
        return np.mean(np.abs(noise) ** 2, axis=1) ** 0.5
    counts = np.array(PRIOR, dtype=float)
    p = counts / counts.sum()
    q = np.maximum(counts + noise, 1)
    q = q / q.sum(axis=1, keepdims=True)
    some = p > 0
    if isinstance(metric, nw.KullbackLeibler):
        return (p[some] * np.log(p[some] / q[:, some])).sum(axis=1)
    if isinstance(metric, nw.HistogramEntropy):
        return np.abs((q * np.log(q)).sum(axis=1) - (p[some] * np.log(p[some])).sum())
    a = float(metric.order)
    return np.log((p[some] ** a * q[:, some] ** (1 - a)).sum(axis=1)) / (a - 1)


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("name", ["Laplace", "staircase", "two-fold"])
def test_values_agree_with_brute_force(metric, name):
    mechanism = mechanisms(6)[name]
    with precision():
        value = mechanism.expected(metric, BALLS)
    middle, error = float(value.mid()), float(value.rad())
    bins = 40 if isinstance(metric, nw.Mallows) else len(PRIOR)
    sample = brute(metric, drawn(name, 6, (60_000, bins)))
    noise = sample.std() / math.sqrt(len(sample))
    assert abs(sample.mean() - middle) <= error + 6 * noise
    assert error <= 0.2 * middle
    assert float(mechanism.expected(metric, FLOATS)) == pytest.approx(middle, rel=1e-12)


def test_the_quantile_table_inverts_the_distribution():
    for mechanism in mechanisms(3).values():
        table = Quantiles(mechanism.error_density)
        for u in (0.02, 0.3, 0.7, 0.999):
            x = float(table(np.array([u]))[0])
            tail = float(mechanism.error_density.sf(abs(x), FLOATS))
            assert tail == pytest.approx(min(u, 1 - u), rel=1e-2)


def test_entropy_of_laplace_noise_is_known():
    mechanism = laplace(nw.Scalar(1), Fraction(1), nw.SquaredError())
    with precision():
        value = mechanism.expected(nw.ErrorEntropy(), BALLS)
    assert abs(float(value.mid()) - (1 + math.log(2))) <= 2 * float(value.rad()) + 1e-4


def test_mallows_of_one_number_is_its_mean_size():
    mechanism = laplace(nw.Scalar(1), Fraction(1), nw.SquaredError())
    assert float(mechanism.expected(nw.Mallows(1, 9), FLOATS)) == pytest.approx(1, rel=1e-5)
    assert float(mechanism.expected(nw.Mallows(2, 1), FLOATS)) == pytest.approx(1, rel=1e-4)
    assert float(mechanism.expected(nw.Mallows(2, 10**6), FLOATS)) == pytest.approx(math.sqrt(2), rel=1e-4)


@pytest.mark.parametrize("utility", [nw.KullbackLeibler(PRIOR), nw.Mallows(2, 500), nw.ErrorEntropy()], ids=str)
def test_design_ranks_certified_mechanisms_with_their_numerical_error(utility):
    report = nw.design(nw.Scalar(1), privacy=nw.PureDP(8), utility=utility)
    assert [c.name for c in report.candidates] == ["staircase", "two-point fold", "Laplace"]
    assert all(c.error > 0 for c in report.candidates)
    assert all(c.certified.certificate.bound <= 8 for c in report.candidates)
    assert "±" in str(report)
    assert report.bound is None
    integer = nw.design(nw.Scalar(1, integer=True), privacy=nw.PureDP(1), utility=utility)
    assert integer.candidates[0].name == "discrete Laplace"


def test_mallows_of_order_one_has_a_bound():
    report = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.Mallows(1, 100))
    assert report.bound == pytest.approx(0.9595173756674719, rel=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nw.KullbackLeibler([1]),
        lambda: nw.KullbackLeibler([0, 0]),
        lambda: nw.KullbackLeibler([1, -1]),
        lambda: nw.KullbackLeibler(3),  # type: ignore[arg-type]
        lambda: nw.KullbackLeibler([1, 2], floor=0),
        lambda: nw.Renyi([1, 2], 1),
        lambda: nw.Renyi([1, 2], 0),
        lambda: nw.Mallows("0.5", 10),
        lambda: nw.Mallows(2, 0),
    ],
)
def test_impossible_metrics_are_refused(make):
    with pytest.raises(InvalidUtilityError):
        make()


def test_nodes_are_counted_in_whole_numbers():
    with pytest.raises(nw.errors.InvalidNumberError, match=r"nodes is 1.5; give a whole number"):
        nw.Mallows(2, 1.5)  # type: ignore[arg-type]
