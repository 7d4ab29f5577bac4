"""A word that leaves a comparison open is extended by further words, until they decide; nothing is left to chance here.

Each test knows the number that a uniform one is compared with, to hundreds of digits, and gives the words of its own
digits: as many of them as agree leave the comparison open, and the next word settles it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq

from noisewright.mechanisms.bounded.positions import GridPositions
from noisewright.mechanisms.linear.noise import Block
from noisewright.numerics.balls import precision
from noisewright.sample.bounded import _bernoulli, _coins
from noisewright.sample.integer_noise import TwoSided, flip
from noisewright.sample.linear import RoundNoise
from noisewright.sample.norm_shaped import RoundBlockSampler
from noisewright.sample.selection import choose
from tests.replay import Replay

TOP = 2**64 - 1
LENGTH = 6


def real(value: Fraction | int) -> arb:
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def digits(value: Callable[[], arb]) -> list[int]:
    """The first digits of a number below one, in base 2^64."""
    with precision(64 * LENGTH + 200):
        whole = int(str((value() * arb(2) ** (64 * LENGTH)).floor().unique_fmpz()))
    return [whole >> 64 * (LENGTH - 1 - i) & TOP for i in range(LENGTH)]


def around(value: Callable[[], arb]) -> list[tuple[list[int], bool]]:
    """Words of numbers just below and just above one, which agree with its first digits, and whether they are below."""
    true = digits(value)
    return [
        ([*true[:agreeing], *end], below)
        for agreeing in (1, 2, 4)
        for end, below in (([true[agreeing] - 1], True), ([true[agreeing] + 1], False), ([0], True), ([TOP], False))
    ]


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(7, 2), Fraction(40)])
def test_a_coin_compares_all_the_bits_it_is_given(rate: Fraction):
    def chance() -> arb:
        return (-real(rate)).exp()

    for words, below in around(chance):
        replay = Replay(words[1:])
        assert flip(chance, words[0], 64, replay) is below
        assert replay.consumed == len(words) - 1
    assert flip(chance, 0, 64, Replay())
    assert not flip(chance, TOP, 64, Replay())


def coins(share: Fraction, count: int, stream: Replay) -> list[int]:
    """Coins of one share for many answers, each with a word of its own."""
    shares, slack = np.full(count, float(share)), np.full(count, 2.0**-52)
    places = GridPositions(np.zeros(count, dtype=np.int64), shares, slack, np.full(count, not share), lambda j: share)
    return _coins(places, stream.words(count), stream).tolist()


@pytest.mark.parametrize(
    "share", [Fraction(1, 7), Fraction(5, 11), Fraction(2**64 + 1, 3 * 2**65), Fraction(1, 2**130)]
)
def test_an_answer_is_rounded_up_with_exactly_its_share(share: Fraction):
    """Digits differ from each other, so that comparing the same ones twice is seen."""
    true = [int(share * 2 ** (64 * (i + 1))) % 2**64 for i in range(LENGTH)]
    for agreeing in range(3):
        if true[agreeing]:
            for last, up in ((true[agreeing] - 1, 1), (true[agreeing] + 1, 0)):
                words = [*true[:agreeing], last]
                replay = Replay(words)
                assert _bernoulli(share, replay) == up
                assert replay.consumed == len(words)
                # Many at once: a word that leaves it open takes what follows it from the end.
                many = Replay([TOP, words[0], TOP - 1, *words[1:]])
                assert coins(share, 3, many) == [0, up, 0]
                assert many.consumed == len(words) + 2


def test_a_share_of_few_bits_is_exhausted_by_them():
    """At three quarters the word of 3/4 itself is not below it, and no further word is asked for."""
    edge = 3 << 62
    for words, up in (([edge], 0), ([edge - 1], 1)):
        assert _bernoulli(Fraction(3, 4), Replay(words)) == up
        assert coins(Fraction(3, 4), 1, Replay(words)) == [up]
    assert _bernoulli(Fraction(1), Replay([TOP])) == 1
    assert coins(Fraction(1), 3, Replay([0, TOP, TOP - 1, TOP])) == [1] * 3
    assert _bernoulli(Fraction(0), Replay()) == 0
    assert coins(Fraction(0), 4, Replay([0, 1, TOP, 5])) == [0] * 4


LOGS = [Fraction(-1), Fraction(1, 3), Fraction(-5, 2), Fraction(0)]


@pytest.mark.parametrize("k", [0, 1, 2])
def test_a_choice_compares_all_the_bits_it_is_given(k: int):
    """The boundary between choice k and the next, with all weights different."""

    def boundary() -> arb:
        heights = [real(v).exp() for v in LOGS]
        return sum(heights[: k + 1], arb(0)) / sum(heights, arb(0))

    for words, below in around(boundary):
        replay = Replay(words)
        assert choose(LOGS, replay) == (k if below else k + 1)
        assert replay.consumed == len(words)


def test_the_ends_of_a_choice_need_no_further_word():
    assert choose(LOGS, Replay([0])) == 0
    assert choose(LOGS, Replay([TOP - 1])) == len(LOGS) - 1
    assert choose([Fraction(7)], Replay([TOP])) == 0


def test_a_choice_of_next_to_no_weight_is_not_forgotten():
    """A share of about 2^-290 around one half: it takes five words to hit it, and any other one goes by."""
    logs = [Fraction(0), Fraction(-200), Fraction(0)]
    for words, chosen in (
        ([2**63 - 1, 0], 0),
        ([2**63 - 1, TOP, TOP, TOP, 0], 0),
        ([2**63, 0, 0, 0, 0], 1),
        ([2**63 - 1, TOP, TOP, TOP, TOP], 1),
        ([2**63, 0, 0, 0, TOP], 2),
        ([2**63, TOP], 2),
    ):
        replay = Replay(words)
        assert choose(logs, replay) == chosen
        assert replay.consumed == len(words)


@pytest.mark.parametrize("vector", [(1, 0, 0), (0, -2, 1), (3, 3, -3), (-5, 0, 12)])
def test_a_round_proposal_is_kept_with_exactly_its_chance(vector: tuple[int, ...]):
    """e^(c sum|z| - rate |z|), where c is the rate of the proposal that the sampler rounded down."""
    rate = Fraction(4, 5)
    sampler = RoundBlockSampler(3, rate)
    proposal = sampler._proposal
    assert rate * (1 - Fraction(1, 10**5)) <= proposal * Fraction("1.7320508075688773") <= rate
    total, square = sum(map(abs, vector)), sum(v * v for v in vector)

    def chance() -> arb:
        return (real(proposal * total) - real(rate) * real(square).sqrt()).exp()

    for words, below in around(chance):
        replay = Replay(words[1:])
        assert sampler._decide(np.array(vector), words[0], replay) is below
        assert replay.consumed == len(words) - 1


def test_no_noise_at_all_is_always_kept():
    assert RoundBlockSampler(3, Fraction(4, 5))._decide(np.zeros(3, dtype=np.int64), TOP, Replay())


@pytest.mark.parametrize("vector", [(1, 0), (0, -3), (2, 1), (-4, 9)])
def test_a_proposal_for_a_linear_question_is_accepted_with_exactly_its_chance(vector: tuple[int, int]):
    rate = Fraction(2, 3)
    noise = RoundNoise(Block((0, 1), (), rate, (), Fraction(1)))
    total, square = sum(map(abs, vector)), sum(v * v for v in vector)

    def chance() -> arb:
        return (-real(rate) * (real(square).sqrt() - real(total) / real(2).sqrt())).exp()

    for words, below in around(chance):
        replay = Replay(words)
        assert noise._accepted(np.array([vector]), replay).tolist() == [below]
        assert replay.consumed == len(words)


def test_proposals_on_a_diagonal_are_always_accepted():
    """Their length is the taxi length over the root: the chance is one, which no word is below by the floats alone."""
    noise = RoundNoise(Block((0, 1), (), Fraction(2, 3), (), Fraction(1)))
    assert noise._accepted(np.array([(0, 0), (3, -3), (7, 7)]), Replay([TOP, TOP, TOP])).tolist() == [True] * 3


@pytest.mark.parametrize("turns", [0, 1, 2, 5])
def test_two_sided_noise_reaches_beyond_its_digits(turns: int):
    """The part above all digits is geometric too: each turn takes words that lie below e^(-rate 2^digits)."""
    rate = Fraction(3)
    noise = TwoSided(lambda: real(rate))
    count = next(d for d in range(60) if 3 * 2**d >= 48)
    ones = [TOP] * count
    ones[1] = 0
    beyond = [0] if turns else [1]
    coins = [word for _ in range(turns) for word in (0, 0)][1:]
    last = [TOP] if turns else []
    drawn = noise.draw(1, Replay([*ones, *beyond, *coins, *last, 0]))
    assert int(drawn[0]) == 2 + (turns << count)
    negative = noise.draw(1, Replay([*ones, *beyond, *coins, *last, TOP]))
    assert int(negative[0]) == -2 - (turns << count)


@pytest.mark.parametrize("digit", [0, 1, 3])
def test_a_digit_of_two_sided_noise_compares_all_the_bits_it_is_given(digit: int):
    rate = Fraction(3)
    noise = TwoSided(lambda: real(rate))
    count = next(d for d in range(60) if 3 * 2**d >= 48)

    def chance() -> arb:
        return 1 / (1 + (real(rate) * 2**digit).exp())

    for words, below in around(chance):
        others = [TOP] * count
        stream = [*others[:digit], *words, *others[digit + 1 :], 1, 0]
        assert int(noise.draw(1, Replay(stream))[0]) == (1 << digit if below else 0)


def test_zero_has_no_sign():
    """A zero with the negative sign is thrown away and drawn again, else it would be twice as likely."""
    noise = TwoSided(lambda: real(Fraction(60)))
    nothing, positive, negative = [1], 0, TOP
    replay = Replay([*nothing, negative, *nothing, negative, *nothing, positive])
    assert noise.draw(1, replay).tolist() == [0]
    assert replay.consumed == 6
