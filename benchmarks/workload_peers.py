"""One strategy of one library for one workload, in that library's environment:  python workload_peers.py hdmm '{…}'

Started by workloads.py, once for each figure, so that nothing is warm; prints the error and the seconds as JSON. Only
the library under test, numpy and the standard library are imported here. Errors of strategies are computed here too,
by one formula for all libraries: root mean square per question, at mu = 1 for Gaussian noise and epsilon = 1 for
Laplace noise, one person in one cell.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import combinations
from typing import Any

import numpy as np
from needed import needed

RESTARTS = 5
"""How often HDMM's search for rows under Laplace noise begins anew, with n/16 and with n/8 extra rows."""


def gram(form: str, n: int) -> Any:
    """W^T W of all ranges or all prefix sums."""
    i = np.arange(n)
    low, high = np.minimum.outer(i, i), np.maximum.outer(i, i)
    return ((n - high) if form == "prefixes" else (low + 1) * (n - high)).astype(np.float64)


def questions(form: str, n: int) -> int:
    """How many questions there are."""
    return n if form == "prefixes" else n * (n + 1) // 2


def error_of(strategy: Any, task: dict[str, Any]) -> float:
    """What a strategy costs for each question, from its rows."""
    form, n = task["form"], task["n"]
    total = float((gram(form, n) * np.linalg.inv(strategy.T @ strategy)).sum())
    if task["noise"] == "Laplace":
        reach = 2 * float(np.abs(strategy).sum(axis=0).max()) ** 2
    else:
        reach = float((strategy**2).sum(axis=0).max())
    return float((reach * total / questions(form, n)) ** 0.5)


def sets(task: dict[str, Any]) -> list[tuple[int, ...]]:
    """The marginals of a task."""
    count = len(task["sizes"])
    return [chosen for ways in task["ways"] for chosen in combinations(range(count), ways)]


def hdmm(task: dict[str, Any]) -> tuple[float, float]:
    """HDMM's own templates: a convex programme or p-Identity along a line, weighted marginals for tables."""
    templates, workload = needed("hdmm.templates"), needed("hdmm.workload")

    begin = time.process_time()
    if "form" in task:
        n = task["n"]
        asked = workload.Prefix(n) if task["form"] == "prefixes" else workload.AllRange(n)
        if task["noise"] == "Laplace":
            tried = [templates.PIdentity(p, n) for p in (n // 16, n // 8) for _ in range(RESTARTS)]
        else:
            tried = [templates.McKennaConvex(n)]
        values = [one.optimize(asked) for one in tried]
        seconds = time.process_time() - begin
        return error_of(tried[int(np.argmin(values))].strategy().dense_matrix(), task), seconds
    sizes = tuple(task["sizes"])
    forms = [
        [workload.Identity(n) if i in chosen else workload.Total(n) for i, n in enumerate(sizes)]
        for chosen in sets(task)
    ]
    asked = workload.VStack([workload.Kronecker(form) for form in forms])
    found = templates.Marginals(sizes, approx=True)
    value = found.optimize(asked)
    seconds = time.process_time() - begin
    return float((value / asked.shape[0]) ** 0.5), seconds


def jax_privacy(task: dict[str, Any]) -> tuple[float, float]:
    """jax-privacy's dense strategies; ranges are given by a square root of their W^T W."""
    jax, dense = needed("jax"), needed("jax_privacy.matrix_factorization.dense")

    begin = time.process_time()
    with jax.enable_x64():
        if task["form"] == "prefixes":
            found = dense.optimize(task["n"])
        else:
            root = np.linalg.cholesky(gram(task["form"], task["n"])).T
            found = dense.optimize(task["n"], A=jax.numpy.asarray(root))
        strategy = np.asarray(found, dtype=np.float64)
    return error_of(strategy, task), time.process_time() - begin


def residual_planner(task: dict[str, Any]) -> tuple[float, float]:
    """ResidualPlanner's faster class for the sum of variances."""
    RPSumVar = needed("class_sumvar").RPSumVar  # noqa: N806

    begin = time.process_time()
    system = RPSumVar(list(task["sizes"]))
    for chosen in sets(task):
        system.input_mech(chosen)
    total = system.get_noise_level()
    seconds = time.process_time() - begin
    cells = sum(float(np.prod([task["sizes"][i] for i in chosen])) for chosen in sets(task))
    return float((total / cells) ** 0.5), seconds


LIBRARIES = {"hdmm": hdmm, "jax-privacy": jax_privacy, "residual-planner": residual_planner}

if __name__ == "__main__":
    found_error, found_seconds = LIBRARIES[sys.argv[1]](json.loads(sys.argv[2]))
    print(json.dumps({"error": found_error, "seconds": found_seconds}))
