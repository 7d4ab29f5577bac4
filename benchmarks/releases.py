"""Private answers a second: `release_many` and long vectors beside numpy's insecure line and OpenDP's vector Laplace.

Run with `benchmarks/.venv/bin/python benchmarks/releases.py` once `benchmarks/run` has made that environment. Targets
for a million answers: a fifth of numpy's speed and fifty times OpenDP's; two seconds for bounded ones.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from needed import needed
from tables import Table, as_markdown

import noisewright as nw

opendp: Any = needed("opendp.prelude")

COUNT = 1_000_000
OPENDP_COUNT = 20_000
ROUNDS = 9

opendp.enable_features("contrib")


def median_rates(actions: Mapping[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Median answers a second of each action after a warm-up; they take turns, so that a busy moment hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for round_number in range(ROUNDS + 1):
        for name, (action, _) in actions.items():
            start = time.perf_counter()
            action()
            if round_number:
                times[name].append(time.perf_counter() - start)
    return {name: actions[name][1] / statistics.median(taken) for name, taken in times.items()}


def opendp_laplace(kind: type, values: list[float] | list[int]) -> Callable[[], object]:
    """OpenDP's Laplace mechanism on a vector; for whole numbers it is the discrete one."""
    domain = opendp.atom_domain(T=float, nan=False) if kind is float else opendp.atom_domain(T=int)
    space = opendp.vector_domain(domain), opendp.l1_distance(T=kind)
    mechanism = opendp.m.make_laplace(*space, scale=1.0)
    return lambda: mechanism(values)


def actions() -> dict[str, tuple[Callable[[], object], int]]:
    """What is measured, and how many answers each gives."""
    generator = np.random.default_rng(1)
    gaussian = generator.normal(0, 1000, COUNT)
    counts = np.rint(gaussian).astype(np.int64)
    one, error = nw.PureDP(1), nw.AbsoluteError()
    real = nw.design(nw.Scalar(1), privacy=one, utility=error).best
    exact = nw.design(nw.Scalar(1, exact=True), privacy=one, utility=error).best
    whole = nw.design(nw.Scalar(1, integer=True), privacy=one, utility=error).best
    bins = nw.design(nw.Histogram(COUNT), privacy=one, utility=error).best
    local = nw.design(nw.Scalar(1, inputs=(0, 1), outputs=(-3, 4)), privacy=one, utility=nw.SquaredError()).best
    shares = generator.random(COUNT)
    cents = np.round(gaussian, 2)
    return {
        "numpy, floats, not private": (lambda: gaussian + generator.laplace(size=COUNT), COUNT),
        "computed floats": (lambda: real.release_many(gaussian), COUNT),
        "floats with two decimals": (lambda: real.release_many(cents), COUNT),
        "the same, declared exact": (lambda: exact.release_many(cents), COUNT),
        "whole floats": (lambda: real.release_many(np.rint(gaussian)), COUNT),
        "counts": (lambda: whole.release_many(counts), COUNT),
        "histogram of a million bins": (lambda: bins.release(counts), COUNT),
        "bounded, local model": (lambda: local.release_many(shares), COUNT),
        "OpenDP, floats": (opendp_laplace(float, gaussian[:OPENDP_COUNT].tolist()), OPENDP_COUNT),
        "OpenDP, whole numbers": (opendp_laplace(int, counts[:OPENDP_COUNT].tolist()), OPENDP_COUNT),
    }


def table(rates: Mapping[str, float]) -> Table:
    """Rates and ratios; whole numbers are compared with OpenDP's whole-number noise, all others with its floats."""
    rows = [["private answers, epsilon 1", "thousand a second", "times numpy", "times OpenDP"]]
    plain = rates["numpy, floats, not private"]
    for name, rate in rates.items():
        peer = "OpenDP, whole numbers" if name in ("counts", "histogram of a million bins") else "OpenDP, floats"
        shown = rate / (rates[name] if name.startswith("OpenDP") else rates[peer])
        rows.append([name, f"{rate / 1000:,.0f}", f"{rate / plain:.3g}", f"{shown:,.0f}"])
    return rows


if __name__ == "__main__":
    print(as_markdown(table(median_rates(actions()))))
