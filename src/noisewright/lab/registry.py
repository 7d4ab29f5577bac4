"""Every reproduction by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from noisewright.lab.claims import Reproduction
from noisewright.search.report.progress import Advance


@dataclass(frozen=True, slots=True)
class Entry:
    """A reproduction that is loaded when it is asked for."""

    module: str
    title: str
    steps: int

    def run(self, out: Path, step: Advance) -> Reproduction:
        """Write pictures and tables into `out` and return the claims."""
        function: Callable[[Path, Advance], Reproduction] = import_module(self.module).reproduce
        return function(out, step)


REPRODUCTIONS: dict[str, Entry] = {
    "composite": Entry("noisewright.lab.composite", "Bounded and unbiased composite differential privacy", 5),
    "dx": Entry("noisewright.lab.dx", "Metric privacy for linear queries (d_X)", 4),
    "generalized-gaussian": Entry(
        "noisewright.lab.generalized_gaussian", "Generalized Gaussian mechanism (Liu 2019)", 6
    ),
    "r2dp": Entry("noisewright.lab.r2dp", "Two-fold noise: R2DP (Mohammady et al., CCS 2020)", 10),
    "non-identical-noise": Entry("noisewright.lab.non_identical_noise", "Non-identical additive noise", 4),
}
"""Name -> entry; a reproduction is known to the command line by being listed here."""
