"""A paper's claims, one by one, with what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from noisewright.search.report.progress import Advance

VERDICTS = {
    "holds": "true as it is said",
    "differs": "true for a part of what the sentence covers, or with other numbers; what was found says which",
    "fails": "false",
    "erratum": "false as printed, and true once the misprint that is named is set right",
    "not reproducible": "it cannot be judged here; what was found says why",
}
"""The words of a verdict and what each means."""

HEADER = ("where", "the paper says", "found", "verdict", "how it was found")
"""The columns of a table of claims."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a paper in our words, where it stands, what was found, the verdict, and how it was found.

    A verdict rests on a number: what was found names at least one, unless the claim is not reproducible.
    """

    where: str
    says: str
    found: str
    verdict: str
    how: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"a verdict is one of {', '.join(VERDICTS)}")
        if not (self.where and self.says and self.found):
            raise ValueError("a claim says where it stands, what the paper says and what was found")
        if self.verdict != "not reproducible" and not any(c.isdigit() for c in self.found):
            raise ValueError(f"the verdict on {self.where} ({self.says}) rests on no number: {self.found}")

    @property
    def row(self) -> tuple[str, str, str, str, str]:
        """A row of a table of claims, under HEADER."""
        return self.where, self.says, self.found, self.verdict, self.how


def verdict_of(held: bool) -> str:
    """The word for a sentence that is true or false as a whole."""
    return "holds" if held else "fails"


def share_of(held: int, tried: int) -> str:
    """The word for a sentence about many settings: true in all, in some or in none of them."""
    return "holds" if held == tried else "differs" if held else "fails"


@dataclass(slots=True)
class Reproduction:
    """What a reproduction produced: files, claims, and which data it ran on."""

    title: str
    files: list[Path] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    data: list[str] = field(default_factory=list)


# Every reproduction by name.


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
    "composite": Entry(
        "noisewright.lab.composite.reproduction", "Bounded and unbiased composite differential privacy", 5
    ),
    "dx": Entry("noisewright.lab.metric.reproduction", "Metric privacy for linear queries (d_X)", 4),
    "generalized-gaussian": Entry(
        "noisewright.lab.generalized_gaussian.reproduction", "Generalized Gaussian mechanism (Liu 2019)", 6
    ),
    "r2dp": Entry("noisewright.lab.r2dp.reproduction", "Two-fold noise: R2DP (Mohammady et al., CCS 2020)", 10),
    "non-identical-noise": Entry("noisewright.lab.non_identical.reproduction", "Non-identical additive noise", 4),
}
"""Name -> entry; a reproduction is known to the command line by being listed here."""
