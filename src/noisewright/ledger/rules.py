"""Rules for a stream of charges: conditions that stay valid although each question depends on the answers before.

A rule is a privacy filter: sums of the costs of the charges, and limits that are fixed when the ledger is created. The
cost of a charge is written once, before the draw. A budget of (epsilon, delta) has several rules with the delta divided
between them, and grants a charge while at least one of them holds with it.

Why that is valid: let A_i be the analyst who does the same but leaves the moment a charge is granted that rule i alone
would not grant. A_i obeys rule i throughout. In every run at least one A_i stays to the end. Split an event about the
whole transcript by the first A_i that stayed: grants depend on public numbers only, so each part is an event about
A_i's transcript, and rule i gives P <= e^epsilon Q + delta_i for it. Add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.numerics.bisection import first_true
from noisewright.numerics.distances import lower_squared, root_below, upper_distance
from noisewright.numerics.finite_components import infinitely_apart
from noisewright.problem.errors import InvalidInputError, InvalidPrivacyError, LedgerDamagedError
from noisewright.problem.metrics import Hamming, Scaled, Sum
from noisewright.problem.numbers import Number, parameter
from noisewright.problem.privacy import ApproxDP, MetricPrivacy, PureDP, RenyiDP, ZeroConcentratedDP
from noisewright.proof.conversions import concentrated_to_approximate
from noisewright.proof.costs import Costs, EpsilonDelta
from noisewright.proof.vector_gaussian import gaussian_delta

Amounts = Mapping[str, Fraction]
CostFunction = Callable[[Any, Costs, Fraction], Amounts | None]
SHARES = {"basic": Fraction(1, 2), "gaussian": Fraction(1, 4), "concentrated": Fraction(1, 4)}
"""How delta is divided between the rules of (epsilon, delta), unless the owner of the ledger says otherwise."""
_PLANS_PER_DELTA = 64
"""How many plans, each with an epsilon for every delta, shall find room in a rule's delta."""
_EXACT_BITS = 160
_TOTAL_BITS = 256


@dataclass(frozen=True, slots=True)
class Rule:
    """Sums that must stay within their limits; the first of them is what people look at."""

    name: str
    limits: Amounts

    @property
    def main(self) -> str:
        """The name of the first sum."""
        return next(iter(self.limits))

    def holds(self, totals: Amounts | None) -> bool:
        """Whether every sum is within its limit; never again once a charge had no cost that the rule can add."""
        return totals is not None and all(totals[name] <= limit for name, limit in self.limits.items())


@dataclass(frozen=True, slots=True)
class Notion:
    """What is known of a rule: what a charge costs under it, and what it means, in words."""

    cost: CostFunction
    means: str


def _pure(budget: Any, costs: Costs, spare: Fraction) -> Amounts | None:
    epsilon = costs.pure()
    return None if epsilon is None else {"epsilon": epsilon}


def _concentrated_alone(budget: Any, costs: Costs, spare: Fraction) -> Amounts | None:
    found = costs.concentrated()
    return None if found is None or found[1] else {"rho": found[0]}


def _divergence(budget: Any, costs: Costs, spare: Fraction) -> Amounts | None:
    found = costs.divergence(budget.alpha)
    return None if found is None else {"divergence": found}


def _share(budget: Any, costs: Costs, spare: Fraction) -> Amounts | None:
    metric = costs.metric()
    share = None if metric is None else largest_share(metric, budget.metric)
    return None if share is None else {"share": share}


def _with_delta(name: str, found: EpsilonDelta | None) -> Amounts | None:
    return None if found is None else {name: found[0], "delta": found[1]}


NOTIONS: dict[str, Notion] = {
    "pure": Notion(_pure, "the epsilons of all releases add up to at most the budget's"),
    "zero-concentrated": Notion(_concentrated_alone, "the rhos of all releases add up to at most the budget's"),
    "renyi": Notion(_divergence, "the divergences of the budget's order add up to at most its epsilon"),
    "metric": Notion(_share, "the releases' shares of the budget's distances add up to at most 1"),
    "basic": Notion(
        lambda budget, costs, spare: _with_delta("epsilon", costs.pair(spare)),
        "the epsilons add up to at most the budget's, and the deltas to at most the rule's share",
    ),
    "gaussian": Notion(
        lambda budget, costs, spare: _with_delta("mu_squared", costs.gaussian(spare)),
        "the squared lengths of normal curves add up to at most the one whose curve passes the budget's epsilon",
    ),
    "concentrated": Notion(
        lambda budget, costs, spare: _with_delta("rho", costs.concentrated(spare)),
        "the rhos add up to at most the one that converts to the budget's epsilon",
    ),
}
"""Every rule by the name it has in rows."""


def rules_for(budget: Any, shares: Mapping[str, Number] | None = None) -> tuple[Rule, ...]:
    """The rules of a budget, with limits that were proven.

    Guarantees: whoever charges while one of them holds stays within the budget, whatever the next question
    depends on. `shares` divides the delta of an `ApproxDP`; its parts add up to at most 1.
    """
    if isinstance(budget, ApproxDP):
        return tuple(_approximate(name, share, budget) for name, share in _divided(shares).items())
    if shares is not None:
        raise InvalidInputError("rules divides the delta of an ApproxDP budget; other budgets have one rule each.")
    if isinstance(budget, PureDP):
        return (Rule("pure", {"epsilon": budget.epsilon}),)
    if isinstance(budget, ZeroConcentratedDP):
        return (Rule("zero-concentrated", {"rho": budget.rho}),)
    if isinstance(budget, RenyiDP):
        return (Rule("renyi", {"divergence": budget.epsilon}),)
    if isinstance(budget, MetricPrivacy):
        return (Rule("metric", {"share": Fraction(1)}),)
    raise InvalidPrivacyError(
        f"budget is {budget!r}; a ledger keeps PureDP, ApproxDP, ZeroConcentratedDP, RenyiDP or MetricPrivacy."
        " (Probabilistic privacy does not add up; ask for ApproxDP, which it implies.)",
        budget=budget,
    )


def _divided(shares: Mapping[str, Number] | None) -> dict[str, Fraction]:
    if shares is None:
        return SHARES
    read = {str(name): parameter(share, f"the share of {name}") for name, share in shares.items()}
    if not read or set(read) - set(SHARES) or any(share <= 0 for share in read.values()) or sum(read.values()) > 1:
        raise InvalidInputError(
            f"rules divides delta between {', '.join(SHARES)}: a positive share for each that is wanted,"
            " at most 1 in all.",
            rules=dict(shares),
        )
    return {name: read[name] for name in SHARES if name in read}


def _approximate(name: str, share: Fraction, budget: ApproxDP) -> Rule:
    """One rule with its share of delta; those with a curve give half of it to the deltas of releases."""
    part = share * budget.delta
    if name == "basic":
        return Rule(name, {"epsilon": budget.epsilon, "delta": part})
    if name == "gaussian":
        return Rule(name, {"mu_squared": largest_squared_length(budget.epsilon, part / 2), "delta": part / 2})
    return Rule(name, {"rho": largest_concentration(budget.epsilon, part / 2), "delta": part / 2})


def require_sound(budget: Any, rules: tuple[Rule, ...]) -> None:
    """Prove the limits of a ledger that was read again; LedgerDamagedError if they allow more than the budget."""
    if isinstance(budget, ApproxDP):
        # A limit below nothing would pay for more than the budget in another rule.
        sound = all(_sound(rule, budget) and min(rule.limits.values()) >= 0 for rule in rules) and bool(rules)
        total = sum((rule.limits["delta"] * (1 if rule.name == "basic" else 2) for rule in rules), Fraction(0))
        sound = sound and total <= budget.delta and len({rule.name for rule in rules}) == len(rules)
    else:
        sound = rules == rules_for(budget)
    if not sound:
        raise LedgerDamagedError("the limits in the ledger allow more than its budget; it is not believed.")


def _sound(rule: Rule, budget: ApproxDP) -> bool:
    limits = rule.limits
    if rule.name == "basic":
        return set(limits) == {"epsilon", "delta"} and limits["epsilon"] <= budget.epsilon
    if rule.name == "gaussian":
        return squared_length_fits(limits["mu_squared"], budget.epsilon, limits["delta"])
    return rule.name == "concentrated" and concentration_fits(limits["rho"], budget.epsilon, limits["delta"])


def cost_of(rule: Rule, budget: Any, costs: Costs) -> Amounts | None:
    """What a charge costs under a rule: proven upper bounds, shortened upward; None if there are none."""
    spare = rule.limits.get("delta", Fraction(0)) / _PLANS_PER_DELTA
    found = NOTIONS[rule.name].cost(budget, costs, spare)
    return None if found is None else {name: shortened(value, _EXACT_BITS) for name, value in found.items()}


def added(totals: Amounts | None, more: Amounts | None) -> Amounts | None:
    """The sums with one more charge; from then on none if the charge had no cost that can be added."""
    if totals is None or more is None:
        return None
    return {name: shortened(total + more[name], _TOTAL_BITS) for name, total in totals.items()}


def shortened(value: Fraction, bits: int) -> Fraction:
    """The value itself if its denominator has few digits, else rounded up by less than 2^(1 - bits).

    A sum of ever new denominators would grow with the history; a sum that is a hair too large is safe.
    """
    if value.denominator.bit_length() <= bits:
        return value
    unit = 1 << (bits - 1)
    return Fraction(-(-value.numerator * unit // value.denominator), unit)


# How large a sum may become: the largest threshold that was checked to convert to (epsilon, delta).


_CLOSE = Fraction(1, 10**6)
_GRID = 1 << 100
_LEAST = Fraction(1, 1 << 90)


def squared_length_fits(squared: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether normal laws whose squared distance is this meet (epsilon, delta), proven in interval arithmetic."""
    return gaussian_delta(epsilon, squared) <= delta


def concentration_fits(rho: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether rho converts to (epsilon, delta) at some order, proven in interval arithmetic."""
    return concentrated_to_approximate(rho, epsilon) <= delta


def largest_squared_length(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest mu^2 whose normal curve passes (epsilon, delta), within a millionth, from below and checked."""
    return _largest(lambda squared: squared_length_fits(squared, epsilon, delta), "Gaussian")


def largest_concentration(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho that converts to (epsilon, delta) at its best order, within a millionth, and checked."""
    return _largest(lambda rho: concentration_fits(rho, epsilon, delta), "concentrated")


def _largest(fits: Callable[[Fraction], bool], name: str) -> Fraction:
    """The checked end of a bisection on a grid; the property holds there, whatever it does elsewhere."""
    passes = Fraction(1)
    while not fits(passes):
        passes /= 4
        if passes < _LEAST:
            raise InvalidPrivacyError(f"no {name} sum however small fits this epsilon and delta; give larger ones.")
    fails = passes * 4
    while fits(fails):
        passes, fails = fails, fails * 4

    def middle(a: Fraction, b: Fraction) -> Fraction:
        return Fraction((a + b) * _GRID // 2, _GRID)

    return first_true(fits, fails, passes, relative=_CLOSE, middle=middle)


# Metrics over one universe: which share of a budget's distances a release takes.


_MOST_ELEMENTS = 300


def largest_share(metric: Any, budget: Any) -> Fraction | None:
    """A rational at or above the largest metric(i, j) / budget(i, j); None where nothing may be told apart.

    Rule: shares of the same metric are read off its form; others are compared pair by pair, the distance of the
    release from above and that of the budget from below. Where the budget's distance is 0 the release's must be;
    where it is infinite nothing is spent, and where only the release's is, no share covers it. [theory#metric-privacy]
    """
    if metric.size != budget.size:
        raise InvalidInputError(
            f"the release is about {metric.size} elements and the ledger about {budget.size}; one universe per ledger.",
            given=metric.size,
        )
    if metric == budget:
        return Fraction(1)
    if isinstance(metric, Scaled):
        inner = largest_share(metric.metric, budget)
        return None if inner is None else metric.factor * inner
    if isinstance(metric, Sum):
        parts = [largest_share(part, budget) for part in metric.parts]
        return None if any(part is None for part in parts) else sum((p for p in parts if p is not None), Fraction(0))
    if isinstance(budget, Scaled):
        outer = largest_share(metric, budget.metric)
        return None if outer is None else outer / budget.factor
    if isinstance(metric, Hamming) and isinstance(budget, Hamming):
        return metric.epsilon / budget.epsilon
    return _pair_by_pair(metric, budget)


def _pair_by_pair(metric: Any, budget: Any) -> Fraction | None:
    if metric.size > _MOST_ELEMENTS:
        raise InvalidInputError(
            f"the release's metric is no share of the ledger's, and {metric.size} elements are too many to compare pair"
            " by pair; certify it for a share of the ledger's metric (budget.share(...)).",
            given=metric.size,
        )
    worst = Fraction(0)
    for i in range(metric.size):
        for j in range(i):
            if infinitely_apart(budget, i, j):
                continue
            if infinitely_apart(metric, i, j):
                return None
            spent = upper_distance(metric, i, j)
            allowed = root_below(lower_squared(budget, i, j))
            if spent and not allowed:
                return None
            if spent:
                worst = max(worst, spent / allowed)
    return worst
