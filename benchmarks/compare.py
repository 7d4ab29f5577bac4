"""Noisewright beside numpy, OpenDP and diffprivlib: speed, accuracy and waiting times, in one run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import peers

import noisewright as nw

DRAWS = 1_000_000
ROUNDS = 9
Table = list[list[str]]


def median_seconds(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Median time of an action after one warm-up."""
    action()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def winner(utility: object, *, integer: bool = False, sensitivity: int = 1, epsilon: str = "1") -> nw.Certified:
    """The best mechanism for a question."""
    query = nw.Scalar(sensitivity, integer=integer)
    return nw.design(query, privacy=nw.PureDP(epsilon), utility=utility).best


def named(name: str, utility: object, *, integer: bool = False) -> nw.Certified:
    """A candidate of a report by its name."""
    report = nw.design(nw.Scalar(1, integer=integer), privacy=nw.PureDP(1), utility=utility)
    return next(c.certified for c in report.candidates if c.name == name)


def skewed() -> nw.Expected:
    """A user's own loss: overshooting costs three times as much."""
    return nw.Expected(lambda e: 3 * e if e > 0 else -e, growth=nw.Growth(1, 3), name="3 to 1 loss")


def speed() -> Table:
    """Draws per second of arrays of a million, and how many times that of each peer."""
    generator = np.random.default_rng()
    rates = {
        "numpy Laplace (not secure)": DRAWS / median_seconds(lambda: generator.laplace(size=DRAWS)),
        "OpenDP vector Laplace": peers.OPENDP_DRAWS / median_seconds(peers.opendp_laplace(peers.OPENDP_DRAWS), 3),
        "diffprivlib Laplace, a loop": peers.LOOP_DRAWS
        / median_seconds(peers.diffprivlib_laplace(peers.LOOP_DRAWS), 3),
        "diffprivlib staircase, a loop": peers.LOOP_DRAWS
        / median_seconds(peers.diffprivlib_staircase(peers.LOOP_DRAWS), 3),
    }
    ours = {
        "Laplace": named("Laplace", nw.SquaredError()),
        "staircase": named("staircase", nw.SquaredError()),
        "tailored, 3 to 1 loss": named("tailored", skewed()),
        "staircase at epsilon 10": winner(nw.SquaredError(), epsilon="10"),
        "discrete Laplace": named("discrete Laplace", nw.AbsoluteError(), integer=True),
    }
    numpy_rate, opendp_rate, loop_rate, _ = rates.values()
    rows = [["noise", "million draws a second", "times numpy", "times OpenDP", "times diffprivlib"]]
    for name, certified in ours.items():
        rate = DRAWS / median_seconds(lambda c=certified: c.draw(DRAWS))
        ratios = [f"{rate / other:.3g}" for other in (numpy_rate, opendp_rate, loop_rate)]
        rows.append([f"noisewright {name}", f"{rate / 1e6:.3g}", *ratios])
    rows += [[name, f"{rate / 1e6:.3g}", f"{rate / numpy_rate:.3g}", "", ""] for name, rate in rates.items()]
    return rows


def accuracy() -> Table:
    """Error at epsilon 1, sensitivity 1: proven for ours, measured by drawing for the peers, so with chance in the third digit."""
    rows = [["noise", "mean squared error", "mean absolute error", "P(error <= 0.5)", "95 % half-width"]]
    utilities = [nw.SquaredError(), nw.AbsoluteError(), nw.Usefulness("0.5"), nw.ErrorQuantile("0.95")]
    reports = [nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=u) for u in utilities]
    rows.append(["noisewright, designed for each column", *[f"{r.candidates[0].value:.5g}" for r in reports]])
    rows.append(["best possible", *[f"{r.bound:.5g}" for r in reports]])
    for name, draws in peers.samples().items():
        size = np.abs(draws)
        measured = [np.mean(size**2), np.mean(size), np.mean(size <= 0.5), np.quantile(size, 0.95)]
        rows.append([f"{name} (measured, {peers.SAMPLES} draws)", *[f"{value:.4g}" for value in measured]])
    return rows


def waiting() -> Table:
    """Warm time of `design`, and of importing the package in a new process."""
    rows = [["what", "milliseconds"]]
    utilities = [
        nw.SquaredError(),
        nw.AbsoluteError(),
        nw.PowerError("1.5"),
        nw.Usefulness("0.5"),
        nw.ErrorQuantile("0.95"),
    ]
    for integer in (False, True):
        query = nw.Scalar(1, integer=integer)
        for utility in utilities:
            took = median_seconds(lambda q=query, u=utility: nw.design(q, privacy=nw.PureDP(1), utility=u), 5)
            rows.append([f"design, {query}, {utility}", f"{1000 * took:.0f}"])
    took = median_seconds(lambda: nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=skewed()), 3)
    rows.append(["design, one number, a user's 3 to 1 loss", f"{1000 * took:.0f}"])
    probe = "import time; t = time.perf_counter(); import noisewright; print(time.perf_counter() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", probe], text=True)) for _ in range(ROUNDS)]
    rows.append(["import noisewright in a new process", f"{1000 * statistics.median(times):.0f}"])
    return rows


def as_markdown(rows: Table) -> str:
    """A table for people, in a terminal and on a page."""
    rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write results.md beside this file."""
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    parts = [
        "# Results of benchmarks/run",
        f"Measured in one run on two cores, {version}, numpy {np.__version__}, {peers.versions()}.",
    ]
    for title, measure in (
        ("Speed: arrays of a million draws, epsilon 1", speed),
        ("Accuracy: one number, sensitivity 1, epsilon 1", accuracy),
        ("Waiting", waiting),
    ):
        parts += [f"## {title}", as_markdown(measure())]
        print("\n\n".join(parts[-2:]), end="\n\n", flush=True)
    (Path(__file__).parent / "results.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
