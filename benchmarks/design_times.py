"""How long designs take, beside another version of the package: `design_times.py --against SRC`.

Each figure is the fastest of several fresh processes, the two versions in turn, nothing kept between runs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

OWN = Path(__file__).resolve().parent.parent / "src"
CASES = {
    "import": "",
    "one number, pure, squared": "nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError())",
    "one number, pure, within 0.5": "nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.Usefulness(0.5))",
    "one count, pure, squared": (
        "nw.design(nw.Scalar(1, integer=True), privacy=nw.PureDP(1), utility=nw.SquaredError())"
    ),
    "one number, delta 1e-6, squared": (
        "nw.design(nw.Scalar(1), privacy=nw.ApproxDP(1, 1e-6), utility=nw.SquaredError())"
    ),
    "one number, delta 1e-6, absolute": (
        "nw.design(nw.Scalar(1), privacy=nw.ApproxDP(0.5, 1e-6), utility=nw.AbsoluteError())"
    ),
    "one number, delta 1e-9, within 1": (
        "nw.design(nw.Scalar(1), privacy=nw.ApproxDP(2, 1e-9), utility=nw.Usefulness(1))"
    ),
    "one count, delta 1e-6, squared": (
        "nw.design(nw.Scalar(1, integer=True), privacy=nw.ApproxDP(1, 1e-6), utility=nw.SquaredError())"
    ),
    "one number, Renyi": "nw.design(nw.Scalar(1), privacy=nw.RenyiDP(2, 1), utility=nw.SquaredError())",
    "eight numbers, pure, box": (
        "nw.design(nw.Vector(nw.Box([1, 2, 3, 4, 5, 6, 7, 8])), privacy=nw.PureDP(1), utility=nw.SquaredError())"
    ),
    "eight numbers, delta, box": (
        "nw.design(nw.Vector(nw.Box([1, 2, 3, 4, 5, 6, 7, 8])), privacy=nw.ApproxDP(1, 1e-6),"
        " utility=nw.SquaredError())"
    ),
    "answers in bounds": (
        "nw.design(nw.Scalar(1, inputs=(0, 1), outputs=(-1, 2), unbiased=True), privacy=nw.PureDP(1),"
        " utility=nw.WorstVariance())"
    ),
}
_CODE = """
import time
start = time.perf_counter()
import noisewright as nw
if not {call!r}:
    print(time.perf_counter() - start)
else:
    nw.design
    start = time.perf_counter()
    {call}
    print(time.perf_counter() - start)
"""


def seconds(source: Path, call: str) -> float:
    """One run in a process of its own."""
    code = _CODE.format(call=call) if call else _CODE.format(call="")
    environment = {**os.environ, "PYTHONPATH": str(source), "NOISEWRIGHT_CACHE": "off"}
    code = code.replace("    \n    print", "    print")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Measure every case, alternating between the versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, help="the src folder of another version")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    print(f"{'case':34} {'seconds':>9}" + (f" {'other':>9} {'ratio':>7}" if given.against else ""))
    for name, call in CASES.items():
        own, other = [], []
        for _ in range(given.runs):
            own.append(seconds(OWN, call))
            if given.against:
                other.append(seconds(given.against, call))
        line = f"{name:34} {min(own):9.3f}"
        if given.against:
            line += f" {min(other):9.3f} {min(own) / min(other):7.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
