"""What one person with several rows can change, and what it costs: sets, exact privacy losses, limits."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

sklearn = pytest.importorskip("sklearn", reason="needs the extra noisewright[learn]")

from noisewright.learn import NaiveBayes  # noqa: E402
from noisewright.learn.counting import NOISES  # noqa: E402
from noisewright.mechanisms.additive import Additive  # noqa: E402
from noisewright.numerics.balls import precision, upper  # noqa: E402
from noisewright.numerics.fields import BALLS  # noqa: E402
from noisewright.problem.errors import InvalidInputError, MechanismFileError  # noqa: E402
from noisewright.proof.certify import certify  # noqa: E402
from noisewright.sample.points import Points  # noqa: E402
from noisewright.sample.sampler import NoiseSampler  # noqa: E402
from tests.replay import SameEntropy  # noqa: E402
from tests.unit.learn.watching import Release, change, lies_in, releases_of, watching  # noqa: E402

EPSILON = Fraction(3, 2)
LOW, HIGH = -2.0, 6.0
MIDDLE = 2.0
OTHERS = [[0, 1.0], [2, -1.5], [1, 5.0], [0, 2.5], [2, 6.0], [1, 0.0]]
LABELS = [5, 7, 9, 7, 5, 9]


def model_for(most, noise="best", **options):
    """Three classes, one column of three categories, one of numbers in lopsided bounds."""
    options = {"bounds": {1: (LOW, HIGH)}, "categorical": {0: 3}, "classes": [5, 7, 9], **options}
    return NaiveBayes(EPSILON, noise=noise, rows_per_person=most, **options)


def both(most, rows, labels, noise="best"):
    """The releases with and without a person who has these rows."""
    without = releases_of(model_for(most, noise), OTHERS, LABELS)
    return releases_of(model_for(most, noise), OTHERS + rows, LABELS + labels), without


@cache
def loss_of_shift(part: Additive, shift: int) -> Fraction:
    """Largest log-ratio of the masses of the drawn law when the answer moves by whole steps, over all outputs.

    Beyond two periods and two shifts every law here repeats itself up to a factor.
    """
    if not shift:
        return Fraction(0)
    period = getattr(part.law, "period", None)
    reach = 2 * abs(shift) + (2 * math.ceil(period / part.lattice.step) if period else 50)
    with precision():
        masses = [part.noise.mass(k, BALLS) for k in range(-reach, reach + abs(shift) + 1)]
        ratios = [
            max(upper(a / b), upper(b / a)) for a, b in zip(masses[: -abs(shift)], masses[abs(shift) :], strict=True)
        ]
        return upper(BALLS.log(BALLS.real(max(ratios))))


def loss_of(here: Release, there: Release) -> Fraction:
    """The privacy loss of one release: noise is independent, so the losses of the numbers add up."""
    parts = here.certified.mechanism.parts
    assert here.certified.mechanism == there.certified.mechanism
    laws = (here.certified.mechanism.law_given(here.answer), there.certified.mechanism.law_given(there.answer))
    shifts = [a.answer_index - b.answer_index for a, b in zip(*laws, strict=True)]
    return sum((loss_of_shift(part, abs(shift)) for part, shift in zip(parts, shifts, strict=True)), Fraction(0))


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("noise", NOISES)
def test_a_person_with_rows_in_several_classes_costs_epsilon_and_not_more(noise, most):
    people = {
        "at the bounds": ([[0, HIGH], [2, LOW], [1, HIGH]], [5, 9, 7]),
        "hardly moving": ([[1, MIDDLE + 0.001], [1, MIDDLE - 0.001], [0, MIDDLE]], [7, 9, 5]),
        "in one class": ([[1, HIGH], [1, HIGH], [1, HIGH]], [7, 7, 7]),
    }
    losses = {
        name: sum(loss_of(*pair) for pair in zip(*both(most, rows[:most], labels[:most], noise), strict=True))
        for name, (rows, labels) in people.items()
    }
    assert max(losses.values()) <= EPSILON * (1 + Fraction(1, 10**12))
    assert losses["at the bounds"] >= EPSILON * Fraction(98, 100)


features = st.sampled_from([LOW, HIGH, MIDDLE, 2.001, -1e300, 1e300, 7.5, -3.0, 0.3])
categories = st.sampled_from([-1.0, 0.0, 1.0, 1.5, 2.0, 3.0, 40.0, 1e300])
persons = st.lists(st.tuples(categories, features, st.sampled_from([1, 5, 6, 7, 9, 12])), min_size=1, max_size=3)


@settings(max_examples=150)
@given(persons, st.sampled_from(["best", "staircase"]))
def test_whatever_rows_a_person_has_the_change_is_in_the_certified_set(person, noise):
    most = len(person)
    found = both(most, [[a, b] for a, b, _ in person], [label for _, _, label in person], noise)
    assert [len(releases) for releases in found] == [4, 4]
    for here, there in zip(*found, strict=True):
        assert here.certified.mechanism == there.certified.mechanism
        assert lies_in(change(here, there), here.certified.mechanism.query.sensitivity)


@pytest.mark.parametrize("noise", ["Laplace", "staircase"])
@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_the_certified_sets_are_no_larger_than_what_a_person_can_change(noise, most):
    rows, labels = [[2, HIGH]] * most, [9] * most
    for here, there in zip(*both(most, rows, labels, noise), strict=True):
        extents = here.certified.mechanism.query.extents
        difference = change(here, there)
        assert set(extents) == {max(difference)}
        if noise == "staircase":
            assert getattr(here.certified.mechanism.query.sensitivity, "together", 0) == min(most, len(difference))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("most", [1, 2, 4])
def test_the_certificates_of_the_releases_add_up_to_epsilon(noise, most):
    model = model_for(most, noise)
    releases = releases_of(model, OTHERS, LABELS)
    assert [release.certified for release in releases] == model.mechanisms_
    assert [release.certified.certificate for release in releases] == model.certificates_
    spent = sum(certificate.requirement.epsilon for certificate in model.certificates_)
    assert EPSILON * (1 - Fraction(1, 10**5)) <= spent <= EPSILON
    for certificate, release in zip(model.certificates_, releases, strict=True):
        assert certify(release.certified.mechanism, certificate.requirement) == certificate


def test_a_pickled_model_keeps_its_proofs_and_proves_them_again():
    model = model_for(2, "staircase").fit(np.array(OTHERS), np.array(LABELS))
    loaded = pickle.loads(pickle.dumps(model))  # noqa: S301  # written a line above
    assert loaded.certificates_ == model.certificates_
    assert [kept.mechanism for kept in loaded.mechanisms_] == [used.mechanism for used in model.mechanisms_]
    assert np.array_equal(loaded.predict_proba(OTHERS), model.predict_proba(OTHERS))
    state = model.__getstate__()
    state["mechanisms_"][1]["mechanism"]["query"]["sensitivity"]["changes"] = 1
    with pytest.raises(MechanismFileError):
        NaiveBayes().__setstate__(state)


@pytest.mark.parametrize("noise", ["staircase", "Laplace", "two-fold"])
@pytest.mark.parametrize("most", [1, 2])
def test_what_is_drawn_and_learnt_is_what_was_certified(noise, most):
    model = model_for(most, noise, entropy=SameEntropy(3))
    releases = releases_of(model, OTHERS, LABELS)
    for release in releases:
        stream = SameEntropy(3).stream()
        laws = release.certified.mechanism.law_given(release.answer)
        drawn = [
            Points(law.lattice.step, law.lattice.step * law.stretch).one(law.point(NoiseSampler(law.noise).one(stream)))
            for law in laws
        ]
        assert list(release.released) == drawn
        assert len(set(drawn)) > 1
    counts, table, sums, squares = (np.array(release.released) for release in releases)
    size = np.maximum(counts, 1.0)
    mean, square = np.clip(sums / size, -1, 1), np.clip(squares / size + 0.5, 0, 1)
    smooth = np.maximum(table.reshape(3, 3), 0) + 1
    assert np.array_equal(model.class_count_, size)
    assert np.allclose(model.category_log_prob_[0], np.log(smooth / smooth.sum(axis=1, keepdims=True)))
    assert np.allclose(model.theta_[:, 1], mean)
    assert np.allclose(model.var_[:, 1], np.maximum(square - mean**2, 1e-3))


def test_the_true_answers_are_the_counts_and_clipped_sums_of_the_rows():
    rows, labels = [[0, 2.0], [2, 9.0], [1, 4.0], [2, -7.0]], [5, 9, 9, 5]
    answers = [list(release.answer) for release in releases_of(model_for(2), rows, labels)]
    assert answers == [
        [2, 0, 2],
        [1, 0, 1, 0, 0, 0, 0, 1, 1],
        [-1, 0, Fraction(3, 2)],
        [0, 0, Fraction(1, 2) - Fraction(1, 4)],
    ]


def test_a_row_beyond_the_bounds_counts_as_one_at_the_bound():
    inside = releases_of(model_for(1), [[0, LOW], [2, HIGH]], [5, 9])
    outside = releases_of(model_for(1), [[-8, -1e300], [1e300, 1e308]], [5, 9])
    assert [release.answer for release in inside] == [release.answer for release in outside]


@pytest.mark.parametrize("names", [[4, 2, 4, 4, 2, 9], ["d", "b", "d", "d", "b", "i"]])
@pytest.mark.parametrize(("most", "kept"), [(1, [0, 1, 5]), (2, [0, 1, 2, 4, 5]), (3, [0, 1, 2, 3, 4, 5])])
def test_rows_of_a_person_beyond_the_limit_reach_no_release(names, most, kept):
    limited = releases_of(model_for(most), OTHERS, LABELS, groups=names)
    chosen = releases_of(model_for(most), [OTHERS[i] for i in kept], [LABELS[i] for i in kept])
    assert [release.answer for release in limited] == [release.answer for release in chosen]


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ([1, 2, 3], "one name or number for each of the 6 rows"),
        ([1, 2, 3, 4, 5, 6, 7], "one name or number for each of the 6 rows"),
        ([[1], [2], [3], [4], [5], [6]], "one name or number for each of the 6 rows"),
        ([1, 2, np.nan, 4, np.nan, 6], "missing"),
        (np.array(["a", "b", np.nan, "b", np.nan, "c"], dtype=object), "missing"),
    ],
)
def test_rows_without_a_known_owner_are_refused_before_anything_is_released(groups, says):
    with watching() as seen, pytest.raises(InvalidInputError, match=says):
        model_for(2).fit(np.array(OTHERS), np.array(LABELS), groups=groups)
    assert seen == []


@pytest.mark.parametrize("pair", [(0.0, 5e-324), (-1.5e308, 1.5e308), (1e308, 1.7e308)])
def test_bounds_whose_half_range_is_no_number_are_refused(pair):
    with pytest.raises(InvalidInputError, match="two finite numbers"):
        model_for(1, bounds=pair).fit(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([5, 9]))


def test_classes_may_be_named_in_any_order():
    sorted_names = releases_of(model_for(1), OTHERS, LABELS)
    other_order = releases_of(model_for(1, classes=[9, 5, 7]), OTHERS, LABELS)
    assert [release.answer for release in sorted_names] == [release.answer for release in other_order]
