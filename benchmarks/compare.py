"""Noisewright beside numpy, OpenDP and diffprivlib: speed, accuracy and waiting times, in one run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np
import peers
from accuracy import accuracy
from tables import Table, as_markdown, write

import noisewright as nw

DRAWS = 1_000_000
ROUNDS = 15


def median_seconds(actions: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Median time of each action after a warm-up; they take turns, so that a busy moment hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for action in actions.values():
        action()
    for _ in range(rounds):
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def named(name: str, utility: object, *, integer: bool = False, epsilon: str = "1") -> nw.Certified:
    """A candidate of a report by its name."""
    report = nw.design(nw.Scalar(1, integer=integer), privacy=nw.PureDP(epsilon), utility=utility)
    return next(c.certified for c in report.candidates if c.name == name)


def skewed() -> nw.Expected:
    """A user's own loss: overshooting costs three times as much."""
    return nw.Expected(lambda e: 3 * e if e > 0 else -e, growth=nw.Growth(1, 3), name="3 to 1 loss")


def speed() -> tuple[Table, float, float]:
    """Draws per second in arrays of a million beside each peer, and the smallest ratio to numpy and to OpenDP."""
    generator = np.random.default_rng()
    ours = {
        "Laplace": named("Laplace", nw.SquaredError()),
        "staircase": named("staircase", nw.SquaredError()),
        "staircase, epsilon 0.1": named("staircase", nw.SquaredError(), epsilon="0.1"),
        "staircase, epsilon 10": named("staircase", nw.SquaredError(), epsilon="10"),
        "tailored to a 3 to 1 loss": named("tailored", skewed()),
        "discrete Laplace": named("discrete Laplace", nw.AbsoluteError(), integer=True),
    }
    actions: dict[str, Callable[[], object]] = {
        f"noisewright {name}": (lambda c=certified: c.draw(DRAWS)) for name, certified in ours.items()
    }
    actions["numpy Laplace (not secure)"] = lambda: generator.laplace(size=DRAWS)
    rates = {name: DRAWS / seconds for name, seconds in median_seconds(actions).items()}
    slow = {
        "OpenDP vector Laplace": peers.opendp_laplace(peers.OPENDP_DRAWS),
        "diffprivlib Laplace, a loop": peers.diffprivlib_laplace(peers.LOOP_DRAWS),
        "diffprivlib staircase, a loop": peers.diffprivlib_staircase(peers.LOOP_DRAWS),
    }
    counts = (peers.OPENDP_DRAWS, peers.LOOP_DRAWS, peers.LOOP_DRAWS)
    rates |= {n: c / s for (n, s), c in zip(median_seconds(slow, 5).items(), counts, strict=True)}
    columns = ("numpy Laplace (not secure)", "OpenDP vector Laplace", "diffprivlib Laplace, a loop")
    rows = [["noise", "million draws a second", "times numpy", "times OpenDP", "times diffprivlib"]]
    for name, rate in rates.items():
        ratios = [f"{rate / rates[column]:,.3g}" if rate >= rates[column] else "" for column in columns]
        rows.append([name, f"{rate / 1e6:.3g}", *ratios])
    slowest = min(rates[f"noisewright {name}"] for name in ours)
    return rows, slowest / rates[columns[0]], slowest / rates[columns[1]]


def designing() -> dict[str, float]:
    """Seconds that a warm `design` takes, bound and certificates included, for every symmetric utility."""
    utilities = (
        nw.SquaredError(),
        nw.AbsoluteError(),
        nw.PowerError("1.5"),
        nw.Usefulness("0.5"),
        nw.ErrorQuantile("0.95"),
    )
    questions = [(nw.Scalar(1, integer=integer), utility) for integer in (False, True) for utility in utilities]
    return median_seconds(
        {
            f"design, {query}, {utility}": lambda q=query, u=utility: nw.design(q, privacy=nw.PureDP(1), utility=u)
            for query, utility in questions
        },
        5,
    )


def importing() -> float:
    """Seconds that `import noisewright` takes in a new process."""
    probe = "import time; t = time.perf_counter(); import noisewright; print(time.perf_counter() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", probe], text=True)) for _ in range(ROUNDS)]
    return statistics.median(times)


def main() -> None:
    """Measure, print, and write the results."""
    parts = [
        f"Measured in one run on two cores, Python {sys.version_info.major}.{sys.version_info.minor},"
        f" numpy {np.__version__}, {peers.versions()}. Times are medians."
    ]

    def show(title: str, *tables: Table) -> None:
        parts.extend([f"## {title}", *map(as_markdown, tables)])
        print("\n\n".join(parts[-1 - len(tables) :]), end="\n\n", flush=True)

    rows, numpy_ratio, opendp_ratio = speed()
    show("Speed: arrays of a million draws, epsilon 1", rows)
    show("Accuracy: one number, sensitivity 1, epsilon 1", *accuracy())
    design = designing()
    loss = {
        "design, one number, a user's 3 to 1 loss": lambda: nw.design(
            nw.Scalar(1), privacy=nw.PureDP(1), utility=skewed()
        )
    }
    (loss_time,) = median_seconds(loss, 3).values()
    import_time = importing()
    waiting = {**design, **dict.fromkeys(loss, loss_time), "import noisewright in a new process": import_time}
    show("Waiting", [["what", "milliseconds"], *[[name, f"{1000 * took:.0f}"] for name, took in waiting.items()]])
    targets = [
        ("slowest of our draws, times numpy", "at least 1", f"{numpy_ratio:.3g}", numpy_ratio >= 1),
        ("slowest of our draws, times OpenDP", "at least 300", f"{opendp_ratio:,.4g}", opendp_ratio >= 300),
        (
            "slowest symmetric design",
            "at most 300 ms",
            f"{1000 * max(design.values()):.0f} ms",
            max(design.values()) <= 0.3,
        ),
        ("design for a user's loss", "at most 10 s", f"{loss_time:.2g} s", loss_time <= 10),
        ("import", "at most 200 ms", f"{1000 * import_time:.0f} ms", import_time <= 0.2),
    ]
    show(
        "Targets", [["what", "target", "measured", ""], *[[*row, "met" if met else "missed"] for *row, met in targets]]
    )
    write(parts)


if __name__ == "__main__":
    main()
