"""Errors and times of strategies for workloads, beside other libraries, in one table:  python benchmarks/workloads.py

Errors are root mean squares per question, at mu = 1 for Gaussian noise and epsilon = 1 for Laplace noise, one person in
one cell; the least of each line is in bold. Every figure comes from a process of its own, started with an empty cache.
Seconds are those of one processor, so that a busy machine does not change them. Ours are of the whole design: all
families, certificates and the proven distance to the best strategy; theirs of the optimisation alone. Afterwards all
0- to 3-way marginals of the Adult table are designed for and released, where the data are at hand (see
src/noisewright/lab/tables.py).

jax-privacy is installed from the package index into an environment that this script makes in a cache folder.
HDMM and ResidualPlanner are on no index: name a checkout of each, and what they need is installed in the same way.

    python benchmarks/workloads.py --hdmm ../hdmm --residual-planner ../ResidualPlanner
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
CPS = (50, 100, 7, 4, 2)
NEEDED = {
    "jax-privacy": ("jax-privacy==2.0.0",),
    "hdmm": ("numpy", "scipy", "autograd", "future"),
    "residual-planner": ("numpy", "scipy", "pandas", "cvxpy", "gurobipy"),
}
SHOWN = {
    "noisewright": "noisewright",
    "hdmm": "HDMM",
    "jax-privacy": "jax-privacy",
    "residual-planner": "ResidualPlanner",
}
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
INSIDE = {"hdmm": "src", "residual-planner": "residual_planner/selection_only"}


def tasks() -> dict[str, dict[str, Any]]:
    """Every line of the table by its name."""
    found: dict[str, dict[str, Any]] = {}
    for noise in ("Gaussian", "Laplace"):
        for form in ("ranges", "prefixes"):
            for n in (64, 256, 1024):
                found[f"{form} {n}, {noise}"] = {"form": form, "n": n, "noise": noise}
    for name, sizes in (("CPS", CPS), ("Adult", ADULT)):
        for ways in ([1], [2], [3], [0, 1, 2, 3]):
            shown = f"{ways[0]}-way" if len(ways) == 1 else "0- to 3-way"
            found[f"{name}, {shown}"] = {"sizes": sizes, "ways": ways}
    return found


def serves(library: str, task: dict[str, Any]) -> bool:
    """Whether a library has anything for a workload."""
    if library == "jax-privacy":
        return task.get("noise") == "Gaussian"
    return "sizes" in task if library == "residual-planner" else True


def environment(library: str, folder: Path) -> Path:
    """The Python of an environment that holds what a library needs, made once."""
    place = folder / library
    python, ready = place / "bin" / "python", place / "ready"
    wanted = " ".join(NEEDED[library])
    if not ready.is_file() or ready.read_text(encoding="utf-8") != wanted:
        print(f"making an environment for {SHOWN[library]} in {place}", file=sys.stderr)
        venv.create(place, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *NEEDED[library]], check=True)
        ready.write_text(wanted, encoding="utf-8")
    return python


def figure(library: str, task: dict[str, Any], python: Path, checkout: Path | None, limit: float) -> dict[str, Any]:
    """The error and the seconds of one library on one workload, or why there are none."""
    script = "workload_ours.py" if library == "noisewright" else "workload_peers.py"
    settings = {**os.environ, "NOISEWRIGHT_CACHE": "off", **ONE_THREAD}
    if checkout is not None:
        settings["PYTHONPATH"] = str(checkout / INSIDE[library])
    command = [str(python), str(HERE / script), library, json.dumps(task)]
    ends = (int(limit), int(limit) + 5)
    done = subprocess.run(
        command, env=settings, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, ends),
    )  # fmt: skip
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"missing": f"none in {limit:.0f} s"}
    if done.returncode:
        return {"missing": "failed: " + (done.stderr.strip().splitlines() or ["no message"])[-1][:80]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def cells(found: dict[str, dict[str, Any]], libraries: list[str]) -> list[str]:
    """One line of the table; the least error, to six digits, is in bold wherever it was reached."""
    errors = [f"{one['error']:.6g}" for one in found.values() if "error" in one]
    least = min(errors, key=float, default="")
    line = []
    for library in libraries:
        one = found.get(library)
        if one is None:
            line.append("–")
        elif "missing" in one:
            line.append(one["missing"])
        else:
            error = f"{one['error']:.6g}"
            line.append(f"{f'**{error}**' if error == least else error} ({one['seconds']:.3g} s)")
    return line


def main() -> None:
    """A line for each workload, then the release of the Adult table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hdmm", type=Path, help="a checkout of HDMM")
    parser.add_argument("--residual-planner", type=Path, help="a checkout of ResidualPlanner")
    parser.add_argument("--environments", type=Path, help="where environments are made; a cache folder unless given")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds after which a figure is given up")
    parser.add_argument("--only", default="", help="lines whose name contains this")
    given = parser.parse_args()
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = (given.environments or base / "noisewright-benchmarks").resolve()
    checkouts = {"hdmm": given.hdmm, "residual-planner": given.residual_planner}
    peers = ["jax-privacy", *(name for name, place in checkouts.items() if place is not None)]
    pythons = {"noisewright": Path(sys.executable), **{name: environment(name, folder) for name in peers}}
    libraries = list(pythons)
    print("| workload | " + " | ".join(SHOWN[name] for name in libraries) + " |\n|" + "---|" * (len(libraries) + 1))
    for name, task in tasks().items():
        if given.only not in name:
            continue
        found = {}
        for library in libraries:
            if serves(library, task):
                place = checkouts.get(library)
                found[library] = figure(
                    library, task, pythons[library], None if place is None else place.resolve(), given.limit
                )
        print("| " + " | ".join([name, *cells(found, libraries)]) + " |", flush=True)
    if given.only in "Adult, released":
        done = figure(
            "noisewright", {"sizes": ADULT, "ways": [0, 1, 2, 3], "release": True}, pythons["noisewright"], None, 600.0
        )
        print("\n" + done.get("missing", done.get("text", "")))


if __name__ == "__main__":
    main()
