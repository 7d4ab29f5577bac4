"""Plans added up: ours and dp-accounting's, same releases, same run; and where the other one is wrong.

Run: python benchmarks/accounting.py (needs the package dp-accounting)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from needed import needed

import noisewright as nw
from noisewright.accounting import curves as evaluation, pessimistic as above

pld: Any = needed("dp_accounting.pld.privacy_loss_distribution")

DELTA = "1e-6"
LAWS = 100


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and the seconds of processor time it took."""
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def forget() -> None:
    """No profile is known any more."""
    above.connect_dots.cache_clear()
    evaluation._power_above.cache_clear()


def compare(title: str, words: list[str], theirs: Callable[[], Any]) -> None:
    """Print the epsilon at 1e-6 of both, the bracket around the truth, and the seconds."""
    forget()
    plan = nw.compose(words)
    ours, cold = timed(lambda: plan.epsilon(DELTA))
    again = nw.compose(words)
    _, warm = timed(lambda: again.epsilon(DELTA))
    other, seconds = timed(lambda: theirs().get_epsilon_for_delta(float(DELTA)))
    bracket, lower = timed(lambda: plan.bracket(delta=DELTA))
    print(f"{title}")
    print(f"  noisewright   epsilon {float(ours):.6f}, {cold:.3f} s; with profiles known {warm:.3f} s")
    low = "unknown" if bracket.lower is None else f"{float(bracket.lower):.6f}"
    print(f"  from below            {low} ({lower:.2f} s more)")
    print(f"  dp-accounting epsilon {other:.6f}, {seconds:.3f} s; ratio of epsilons {float(ours) / other:.5f}")


def different() -> tuple[list[str], Callable[[], Any]]:
    """A hundred different laws, ten releases of each."""
    sigmas = [Fraction(100 + 3 * i, 2) for i in range(LAWS // 2)]
    rates = [Fraction(20 + i, 2000) for i in range(LAWS // 2)]
    words = [f"gaussian(sigma={s}) x 10" for s in sigmas] + [f"laplace(epsilon={r}) x 10" for r in rates]

    def theirs() -> Any:
        parts = [pld.from_gaussian_mechanism(float(s), value_discretization_interval=1e-4) for s in sigmas]
        parts += [pld.from_laplace_mechanism(float(1 / r), value_discretization_interval=1e-4) for r in rates]
        total = parts[0].self_compose(10)
        for part in parts[1:]:
            total = total.compose(part.self_compose(10))
        return total

    return words, theirs


def one_more() -> None:
    """Print the time for one more release."""
    plan = nw.compose("gaussian(sigma=40) x 1000")
    plan.epsilon(DELTA)
    plan.plus("gaussian(sigma=41)")
    for words in ("gaussian(sigma=42)", "gaussian(sigma=40)", "laplace(epsilon=0.01)"):
        longer, seconds = timed(lambda words=words: plan.plus(words).epsilon(DELTA))  # type: ignore[misc]
        print(f"  one more {words}: epsilon {float(longer):.6f}, {1000 * seconds:.1f} ms")


def errors() -> None:
    """Print deltas that dp-accounting understates, beside the proven ones and their lower ends."""
    laplace = pld.from_discrete_laplace_mechanism(0.01).self_compose(10_000)
    gaussian = pld.from_gaussian_mechanism(100.0).self_compose(10_000)
    for title, words, theirs, epsilon in (
        ("10,000 discrete Laplace at 0.01", "discrete_laplace(epsilon=0.01) x 10000", laplace, "6.5"),
        ("10,000 discrete Laplace at 0.01", "discrete_laplace(epsilon=0.01) x 10000", laplace, "7"),
        ("10,000 Gaussians of sigma 100", "gaussian(sigma=100) x 10000", gaussian, "8"),
    ):
        bracket = nw.compose(words).bracket(epsilon=epsilon)
        other = theirs.get_delta_for_epsilon(float(epsilon))
        low = float(bracket.lower or 0)
        verdict = "below the truth" if other < low else "not below it"
        proven = f"proven {low:.6g} to {float(bracket.upper):.6g}"
        print(f"  {title}, epsilon {epsilon}: {proven}, dp-accounting {other:.6g}: {verdict}")


def main() -> None:
    """Print all of it."""
    compare(
        "1,000 Gaussians of sigma 40",
        ["gaussian(sigma=40) x 1000"],
        lambda: pld.from_gaussian_mechanism(40.0, value_discretization_interval=1e-4).self_compose(1000),
    )
    compare(
        "20 Laplace releases at 0.1",
        ["laplace(epsilon=0.1) x 20"],
        lambda: pld.from_laplace_mechanism(10.0, value_discretization_interval=1e-4).self_compose(20),
    )
    compare("1,000 releases of 100 different laws", *different())
    print("One more release after 1,000 Gaussians")
    one_more()
    print("Where dp-accounting is below the truth")
    errors()


if __name__ == "__main__":
    main()
