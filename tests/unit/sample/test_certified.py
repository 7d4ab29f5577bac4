"""Certified mechanisms: what they release, say, save and load."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from noisewright.laws.gaussian import DiscreteGaussian, Gaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.piecewise import skewed_staircase
from noisewright.mechanisms.additive import Additive
from noisewright.problem.errors import InvalidAnswerError, InvalidNumberError, MechanismFileError, UncertifiedError
from noisewright.problem.privacy import ApproxDP, PureDP
from noisewright.problem.queries import Scalar
from noisewright.proof.certify import certify
from noisewright.sample.certified import Certified, make_certified, read_file

ONE = Fraction(1)
REAL = Additive(Scalar(1), Laplace(ONE), Lattice.cells(Fraction(1, 4)))
EXACT = Additive(Scalar(1, exact=True), Laplace(ONE), Lattice.cells(Fraction(1, 4)))
COUNT = Additive(Scalar(1, integer=True), DiscreteLaplace(ONE), Lattice.integers())
SKEWED = Additive(
    Scalar(1),
    skewed_staircase(epsilon=ONE, sensitivity=ONE, left=Fraction(-1, 4), right=Fraction(3, 4)),
    Lattice.cells(Fraction(1, 4)),
)
ALL = {"real": REAL, "exact": EXACT, "count": COUNT, "skewed": SKEWED}


@pytest.fixture(params=ALL)
def certified(request):
    return make_certified(ALL[request.param], PureDP(1))


def test_a_certificate_serves_no_other_mechanism():
    with pytest.raises(UncertifiedError, match="another mechanism"):
        Certified(COUNT, certify(REAL, PureDP(1)))


def test_a_false_claim_makes_nothing_that_can_be_drawn():
    with pytest.raises(UncertifiedError, match="refused"):
        make_certified(REAL, PureDP("0.999"))


def test_counts_are_released_as_integers():
    values = [make_certified(COUNT, PureDP(1)).release(answer) for answer in (42, "42", 42.0, np.int32(42))]
    assert all(type(value) is int for value in values)
    assert all(abs(value - 42) < 10**3 for value in values)


@pytest.mark.parametrize("mechanism", [REAL, EXACT], ids=["computed", "exact"])
def test_numbers_are_released_as_floats_on_the_lattice(mechanism):
    values = [make_certified(mechanism, PureDP(1)).release(answer) for answer in (42, "42.1", 0.1, Fraction(1, 3))]
    assert all(type(value) is float for value in values)
    # The step of an eighth has three decimals, and so has what is released: within half a unit of a lattice point.
    steps = [round(Fraction(value) / mechanism.spacing) for value in values]
    assert all(
        abs(n * mechanism.spacing - Fraction(v)) <= Fraction(1, 2000) for n, v in zip(steps, values, strict=True)
    )
    assert all(value == float(f"{value:.3f}") for value in values)


def test_releases_differ(certified):
    assert len({certified.release(10**6) for _ in range(40)}) > 1


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), True, None, "many"], ids=repr)
def test_what_is_no_number_is_not_released(certified, answer):
    with pytest.raises(InvalidAnswerError, match="finite"):
        certified.release(answer)


def test_too_large_an_answer_is_not_released(certified):
    with pytest.raises(InvalidAnswerError, match="too large"):
        certified.release(2**200)


@pytest.mark.parametrize("count", [0, 1, 7, 400, 401, np.int64(3)])
def test_as_many_values_are_drawn_as_asked_for(certified, count):
    drawn = certified.draw(count)
    assert drawn.shape == (count,)
    assert drawn.dtype == (np.int64 if certified.mechanism.query.integer else np.float64)


def test_drawn_values_are_centres_of_cells(certified):
    spacing = certified.mechanism.spacing
    offset = 0 if certified.mechanism.query.integer else Fraction(1, 2)
    for count in (300, 500):
        cells = [Fraction(value) / spacing - offset for value in certified.draw(count).tolist()]
        assert all(cell.denominator == 1 for cell in cells)


@pytest.mark.parametrize("count", [-1, True, False, 1.5, "3", None, 10**9 + 1, [3]], ids=repr)
def test_other_counts_are_refused(certified, count):
    with pytest.raises(InvalidNumberError, match="how many"):
        certified.draw(count)


def test_the_description_has_the_three_errors_and_the_promise():
    text = make_certified(REAL, PureDP(1)).describe()
    assert "one number, sensitivity 1" in text
    assert "epsilon = 1" in text
    assert "pure/laplace" in text
    # Cell k >= 0 has mass (1-q) q^k / 2 with q = e^(-1/4), spread evenly over [k/4, (k+1)/4).
    q = math.exp(-1 / 4)
    cells = [(1 - q) * q**k for k in range(400)]
    absolute = sum(mass * (k + 0.5) / 4 for k, mass in enumerate(cells))
    square = sum(mass * ((k + 0.5) ** 2 + 1 / 12) / 16 for k, mass in enumerate(cells))
    assert f"mean absolute {absolute:.6g}" in text
    assert f"root mean square {math.sqrt(square):.6g}" in text
    whole = math.floor(4 * math.log(20))
    width = (whole + 1 - (0.05 / q**whole - q) / (1 - q)) / 4
    assert f"95 % of answers within {width:.6g}" in text
    assert "multiples of 0.25" in text


def test_only_skewed_noise_has_a_bias():
    assert "Bias: answers are off by +0.25 on average" in make_certified(SKEWED, PureDP(1)).describe()
    for mechanism in (REAL, COUNT):
        assert "Bias" not in make_certified(mechanism, PureDP(1)).describe()


def test_plain_data_come_back(certified):
    data = certified.to_dict()
    again = Certified.from_dict(json.loads(json.dumps(data)))
    assert again.mechanism == certified.mechanism
    assert again.certificate == certified.certificate
    assert again.to_dict() == data


def test_files_come_back(certified, tmp_path):
    certified.save(tmp_path / "mechanism.json")
    again = Certified.load(str(tmp_path / "mechanism.json"))
    assert again.to_dict() == certified.to_dict()
    again.release(3)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not JSON"),
        (b"[1, 2]", "no JSON object"),
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "cannot read"),
        (b"[" * 200_000, "not JSON"),
        (b"{}", "misses"),
    ],
)
def test_other_files_are_refused(content, why, tmp_path):
    (tmp_path / "other.json").write_bytes(content)
    with pytest.raises(MechanismFileError, match=why):
        Certified.load(tmp_path / "other.json")


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path, tmp_path / "absent.json"):
        with pytest.raises(MechanismFileError, match="cannot read"):
            read_file(path)


def test_files_of_absurd_size_are_not_read(tmp_path):
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(MechanismFileError, match="64 MiB"):
        read_file(tmp_path / "large.json")


@pytest.mark.parametrize(("std", "whole"), [(40, False), (200, False), (10**6, False), (200, True), (30_000, True)])
def test_noise_far_wider_than_was_asked_for_is_certified_saved_and_loaded(tmp_path: Path, std: int, whole: bool):
    law, lattice = (DiscreteGaussian(std), Lattice.integers()) if whole else (Gaussian(std), Lattice.cells("1/2"))
    certified = make_certified(Additive(Scalar(1, integer=whole), law, lattice), ApproxDP(1, "1e-6"))
    bound = certified.certificate.bound
    # Q(x) < e^(-x^2/2), where the half-line begins at std - 1/2.
    assert 0 < bound <= Fraction(1, 2**1000)
    assert len(str(bound)) < 1000
    certified.save(tmp_path / "wide.json")
    assert Certified.load(tmp_path / "wide.json").certificate.bound == bound


def test_running_out_of_memory_while_a_file_is_read_is_a_refusal(monkeypatch: pytest.MonkeyPatch):
    saved = make_certified(COUNT, PureDP(1)).to_dict()

    def none_left(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("noisewright.sample.certified.certify", none_left)
    with pytest.raises(MechanismFileError, match="more memory than there is"):
        Certified.from_dict(saved)
