"""The private classifier: scikit-learn's own checks, the budget it spends, and the bounds it keeps."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", reason="needs the extra noisewright[learn]")

from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from noisewright.lab.r2dp.classification import made_task  # noqa: E402
from noisewright.learn import NaiveBayes  # noqa: E402
from noisewright.learn.naive_bayes import _first_of_each  # noqa: E402
from noisewright.problem.errors import InvalidInputError  # noqa: E402
from tests.replay import SameEntropy  # noqa: E402


def test_scikit_learns_own_checks_pass():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(NaiveBayes(epsilon=32, bounds=(-6, 6), entropy=SameEntropy()), on_fail=None)
    failed = [r["check_name"] for r in results if r["status"] == "failed"]
    assert failed == []
    assert sum(r["status"] == "passed" for r in results) > 40


@pytest.mark.parametrize("bounds", [(-6, 6), "estimate"])
def test_with_real_randomness_only_checks_fail_that_compare_two_fits(bounds):
    model = NaiveBayes(epsilon=32, bounds=bounds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model, on_fail=None, expected_failed_checks=model.expected_failed_checks)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    assert {r["check_name"] for r in results if r["status"] == "xfail"} <= set(model.expected_failed_checks)
    assert model.expected_failed_checks.keys() <= {r["check_name"] for r in results}
    assert model.__sklearn_tags__().non_deterministic


@pytest.mark.parametrize("budget", ["optimised", "even"])
@pytest.mark.parametrize("noise", ["best", "tailored", "staircase", "two-fold", "Laplace"])
def test_the_whole_fit_spends_at_most_epsilon(noise, budget):
    task = made_task(500)
    model = NaiveBayes("0.7", bounds=task.bounds, categorical=task.categorical, noise=noise, budget=budget)
    model.fit(*task.train)
    proven: list[Any] = model.certificates_
    assert len(proven) == 1 + 2 + 2 * 2
    assert sum(c.requirement.epsilon for c in proven) <= Fraction(7, 10)
    assert all(c.bound <= c.requirement.epsilon for c in proven)
    assert np.allclose(model.predict_proba(task.test[0]).sum(axis=1), 1)


def test_it_learns_where_there_is_budget_and_hardly_where_there_is_none():
    task = made_task(4000)

    def accuracy(epsilon):
        model = NaiveBayes(epsilon, bounds=task.bounds, categorical=task.categorical, classes=[0, 1])
        return float(np.mean(model.fit(*task.train).predict(task.test[0]) == task.test[1]))

    assert accuracy(20) > 0.8
    poor = np.mean([accuracy("0.0005") for _ in range(5)])
    assert poor < accuracy(20) - 0.05


def test_further_rows_of_a_person_are_left_out():
    groups = np.array([3, 1, 3, 3, 2, 1])
    assert _first_of_each(groups, 1).tolist() == [0, 1, 4]
    assert _first_of_each(groups, 2).tolist() == [0, 1, 2, 4, 5]


@pytest.mark.parametrize(
    "wrong",
    [
        {"noise": "gaussian"},
        {"budget": "most"},
        {"rows_per_person": 0},
        {"bounds": (1, 1)},
        {"bounds": (0, np.inf)},
        {"bounds": "guess"},
        {"bounds": (1, 2, 3)},
        {"bounds": {0: (0, 1), "age": (0, 1)}},
        {"categorical": {9: 2}},
        {"categorical": {0: 0}},
        {"categorical": {0: 2.5}},
        {"categorical": {"age": 2}},
        {"feature_names": ["a"]},
        {"feature_names": ["a", "a", "b", "c"]},
    ],
)
def test_bad_parameters_are_refused(wrong):
    task = made_task(100)
    with pytest.raises(InvalidInputError):
        NaiveBayes(1, **{"bounds": (-9, 9), **wrong}).fit(*task.train)
