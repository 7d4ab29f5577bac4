"""A paper's claims, one by one, with what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

VERDICTS = ("holds", "fails", "not reproducible")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says, where, what was found, and whether it holds."""

    where: str
    says: str
    found: str
    verdict: str

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"a verdict is one of {', '.join(VERDICTS)}")


@dataclass(slots=True)
class Reproduction:
    """What a reproduction produced: files, claims, and which data it ran on."""

    title: str
    files: list[Path] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
