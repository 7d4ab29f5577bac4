"""The half page for a person who has never heard of epsilon says nothing that was not proven."""

from __future__ import annotations

import re
from fractions import Fraction
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import mpmath
import pytest
from hypothesis import given, strategies as st

import noisewright as nw
from noisewright.explain.odds import STATED_DELTA, guesses, learnt, odds, posterior, rarely
from noisewright.explain.summary import Section, as_html, as_text, sections_of
from noisewright.problem.metrics import Hamming
from noisewright.problem.privacy import MetricPrivacy
from noisewright.proof.conversions import concentrated_to_approximate, renyi_to_approximate
from noisewright.sample.certified import Certified, make_certified
from tests.mechanisms_by_hand import GEOMETRIC
from tests.saved import CORPUS, KINDS, example

HEADINGS = [
    "What was asked",
    "What an attacker could learn",
    "How far off the answer is",
    "What not to do",
    "What is not protected",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_mechanism_is_explained_in_half_a_page(kind: str):
    text = example(kind).explain()
    lines = text.splitlines()
    assert [line for line in lines if line in HEADINGS] == HEADINGS
    assert len(lines) <= 48
    assert max(map(len, lines)) <= 88
    if kind not in ("minkowski-exponential", "metric-exponential", "metric-mwem", "metric-smalldb"):
        assert not re.search(r"epsilon|e\^", text.replace("e^d", "").replace("proven: e^", "")), "a word to look up"
    assert not re.search(r"\bnan\b|\binf\b|Fraction|None|\bdelta\b", text)


class Outline(HTMLParser):
    """Tags in order, and whether each that opens is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_says_the_same_and_needs_nothing_from_elsewhere(kind: str):
    certified = example(kind)
    page = Outline(certified.explain(html=True))
    assert page.opened == []
    assert {tag for tag, _ in page.tags} <= {"section", "h2", "h3", "p", "ul", "li"}
    assert [tag for tag, _ in page.tags if tag[0] == "h"] == ["h2"] + ["h3"] * len(HEADINGS)
    assert [attributes for _, attributes in page.tags if attributes] == [{"class": "noisewright-explanation"}]
    plain = " ".join(certified.explain().replace("=", "").replace("\n- ", "\n").split())
    assert " ".join(" ".join(page.words).split()) == plain


def test_text_from_a_question_is_escaped():
    sections = [Section("<b>", ["a & b"], ["<script>alert(1)</script>"])]
    assert "<script" not in as_html(sections)
    assert "<b>" not in as_html(sections)
    assert "&lt;script&gt;" in as_html(sections)
    assert "<b>" in as_text(sections)


def test_a_flag_is_true_or_false():
    with pytest.raises(nw.errors.InvalidUtilityError, match="html"):
        make_certified(GEOMETRIC, nw.PureDP(1)).explain(html="page.html")  # type: ignore[arg-type]


def test_the_sentence_for_epsilon_one():
    text = " ".join(make_certified(GEOMETRIC, nw.PureDP(1)).explain().split())
    assert "a guess that was 50:50 can become at most 73:27 (rounded; never above 73.2 %)" in text
    assert "one that was 1:99 can become at most 2.7:97.3 (rounded; never above 2.68 %)" in text
    assert "within 3 of the truth in at least 95 of 100 releases" in text
    assert "after two such as this one, a guess that was 50:50 can become at most 88:12" in text


def test_odds_follow_the_proven_bound_and_not_the_claim():
    text = " ".join(make_certified(GEOMETRIC, nw.PureDP(3)).explain().split())
    assert "at most 73:27" in text
    assert "at most 95:5" not in text


@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=1000),
    st.fractions(min_value=0, max_value=40, max_denominator=10**6),
)
def test_a_posterior_is_never_shown_smaller_than_it_is(prior: Fraction, epsilon: Fraction):
    with mpmath.workdps(60):
        grown = mpmath.mpf(prior.numerator) / (prior.denominator - prior.numerator)
        grown *= mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        true = grown / (1 + grown)
        found = posterior(prior, epsilon)
        assert mpmath.mpf(found.numerator) / found.denominator >= true * (1 - mpmath.mpf(10) ** -50)
        assert mpmath.mpf(found.numerator) / found.denominator <= true * (1 + mpmath.mpf(10) ** -30)
    said = re.search(r"at most ([\d.]+):([\d.]+) \(rounded; never above ([\d.]+) %\)", odds(prior, epsilon))
    if said is None:
        assert odds(prior, epsilon) == "all but certain"
        assert found > Fraction("0.999999")
        return
    near, rest, top = map(Fraction, said.groups())
    assert near + rest == 100
    assert 100 * found <= top <= 100 * found + Fraction(1, 10)
    assert abs(near - 100 * found) <= Fraction(1, 2)


@given(st.fractions(min_value=Fraction(1, 10**15), max_value=Fraction(99, 100), max_denominator=10**15))
def test_a_chance_is_never_told_smaller_than_it_is(chance: Fraction):
    said = rarely(chance)
    told = Fraction(said.removesuffix(" %")) / 100 if "%" in said else 1 / Fraction(said[5:].replace(",", ""))
    assert chance <= told <= chance * Fraction("1.06")


def _learnt(requirement: Any, bound: Any) -> str:
    return " ".join(learnt(requirement, Fraction(bound)))


def test_only_probabilistic_privacy_says_except():
    assert _learnt(nw.ProbabilisticDP(1, "1e-6"), "1e-6").startswith(
        "Except with a probability of at most 1 in 1,000,000"
    )
    for requirement in (nw.PureDP(1), nw.ApproxDP(1, "1e-6"), nw.RenyiDP(8, 1), nw.ZeroConcentratedDP(1)):
        assert "xcept" not in _learnt(requirement, "1e-6")


def test_approximate_privacy_is_a_game_with_its_best_guess():
    said = _learnt(nw.ApproxDP(1, "0.01"), "0.01")
    assert "gives the person away with a probability of 1 in 100 " in said
    assert guesses(Fraction(1)) in said
    with mpmath.workdps(30):
        right = 100 * (mpmath.e + mpmath.mpf("0.01")) / (mpmath.e + 1)
    assert f"right at most {float(mpmath.ceil(10 * right)) / 10} % of the time" in said


def test_a_delta_of_nothing_is_pure_privacy():
    for requirement in (nw.ApproxDP(1, "1e-6"), nw.ProbabilisticDP(1, "1e-6")):
        assert _learnt(requirement, 0) == _learnt(nw.PureDP(1), 1)


def _told_epsilon(said: str) -> Fraction:
    """The least epsilon whose two guesses are those that were told, by thousandths."""
    return next(Fraction(k, 1000) for k in range(60_000) if guesses(Fraction(k, 1000)) in said)


@pytest.mark.parametrize(
    ("requirement", "bound", "delta"),
    [
        (nw.RenyiDP(16, 1), "0.5", lambda e: renyi_to_approximate(Fraction(16), Fraction(1, 2), e)),
        (nw.ZeroConcentratedDP("0.1"), "0.1", lambda e: concentrated_to_approximate(Fraction(1, 10), e)),
    ],
)
def test_divergences_are_told_at_a_chance_that_was_checked(requirement: Any, bound: str, delta: Any):
    said = _learnt(requirement, bound)
    assert "probability of 1 in 1,000,000" in said
    told = _told_epsilon(said)
    assert delta(told + Fraction(1, 100)) <= STATED_DELTA
    assert delta(told - Fraction(1, 20)) > STATED_DELTA


def test_distances_multiply_the_odds():
    euclidean = MetricPrivacy(nw.metrics.Euclidean([[0], [1], [5]]))
    said = _learnt(euclidean, "0.5")
    assert f"Between two at distance 1, {guesses(Fraction(1, 2))}" in said
    assert odds(Fraction(1, 2), Fraction(3, 2)) in said
    assert _learnt(MetricPrivacy(Hamming(4, 2)), "0.5") == _learnt(nw.PureDP(1), 1)


def test_an_unknown_promise_is_told_in_its_own_words():
    assert (
        _learnt(SimpleNamespace(promise=lambda: "nothing changes"), 1)
        == "Whatever one person's data are, nothing changes."
    )


def test_names_of_numbers_are_used():
    certified = example("linear-laplace")
    text = certified.explain()
    assert all(name in text for name in certified.mechanism.query.names[:6])
    assert len(sections_of(certified.mechanism, certified.certificate)) == len(HEADINGS)


def test_answers_that_lean_say_so():
    skewed = Certified.load(CORPUS / "law-piecewise-skewed.json")
    assert "on average" in skewed.explain().split("Where they lean most")[1]
