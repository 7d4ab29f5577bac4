"""How long the (epsilon, delta) programme takes with its certificate, solved anew and from the cache.

Run: python benchmarks/programme.py
"""

from __future__ import annotations

import os
import tempfile
import time

import noisewright as nw
from noisewright.search import cache
from noisewright.search.families import approximate

LIMIT_SECONDS = 5.0


def main() -> None:
    """Print one line per setting."""
    query, utility = nw.Scalar(1), nw.SquaredError()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NOISEWRIGHT_CACHE"] = folder
        for epsilon in ("0.1", "0.5", "1", "2"):
            for delta in ("1e-6", "1e-3", "0.01"):
                privacy = nw.ApproxDP(epsilon, delta)
                start = time.perf_counter()
                approximate.solve_approximate(query, privacy, utility)
                anew = time.perf_counter() - start
                cache.forget()
                start = time.perf_counter()
                approximate.solve_approximate(query, privacy, utility)
                cached = time.perf_counter() - start
                verdict = "within" if anew <= LIMIT_SECONDS else "above"
                times = f"{anew:.2f} s ({verdict} {LIMIT_SECONDS:g} s), from the cache {cached:.3f} s"
                print(f"epsilon {epsilon}, delta {delta}: {times}")


if __name__ == "__main__":
    main()
