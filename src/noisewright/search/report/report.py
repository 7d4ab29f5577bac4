"""What `design` returns: ranked candidates, the bound, and why the winner won."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.door import rendered
from noisewright.drawing.tables import html_table, text_table
from noisewright.numerics.remembered import Remembered
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.matrices import Unchanging
from noisewright.problem.numbers import Number, show
from noisewright.problem.records import digest
from noisewright.problem.untrusted import READING_SECONDS, within
from noisewright.problem.utilities import UTILITIES
from noisewright.sample.certified import Certified, read_file
from noisewright.search.report.render import gap_text, number, over, reason, uneven_note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.accounting.composition import Composition

FORMAT = "noisewright report, version 1"
_SHOWN = 12
_WHY: Remembered[str] = Remembered()
_NOTES: Remembered[tuple[str, ...]] = Remembered()
"""What was read of a report before: its reason and its remarks may take as long as the design."""


@lru_cache(maxsize=64)
def planned(certified: Certified, count: int) -> Composition:
    """So many equal releases together."""
    from noisewright.accounting.composition import compose

    return compose([(certified, count)])


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism of the report: its certified form, its expected utility, its distance to the bound.

    `value` is the worse of two proven ends, or an estimate between them, and `error` how far the truth may be from it;
    `parts` is what is known of each number where there are several.

    >>> report = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError())
    >>> laplace = next(candidate for candidate in report.candidates if candidate.name == "Laplace")
    >>> round(laplace.value, 2), laplace.value > report.bound
    (2.0, True)
    """

    name: str
    certified: Certified
    value: float
    gap: float | None
    bias: float = 0.0
    error: float = 0.0
    parts: tuple[float, ...] = ()
    remark: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the mechanism included."""
        return {
            "name": self.name,
            "value": self.value if math.isfinite(self.value) else None,
            "gap": None if self.gap is None or math.isinf(self.gap) else self.gap,
            "bias": self.bias,
            "error": self.error,
            **({"parts": list(self.parts)} if self.parts else {}),
            "certified": self.certified.to_dict(),
        }


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Report(Unchanging):
    """Candidates best first, and `bound`: what no mechanism can beat (None where none is proven).

    For whole-number answers the bound is over mechanisms that release whole numbers (`bound_over`). For several
    numbers a value is the sum over them, and `parts` has each. `left_out` says what was proposed and not proven.
    Guarantees: every candidate is certified. `value` is the expected utility of released minus true
    answer, rounding included; `gap` is an upper bound of its relative distance to `bound`, both ends
    taken from balls.

    >>> report = nw.design(nw.Scalar(1), privacy=nw.PureDP(1), utility=nw.SquaredError())
    >>> report.best is report.candidates[0].certified, report.candidates[0].gap < 1e-3
    (True, True)
    """

    query: Any
    privacy: Any
    utility: Any
    candidates: tuple[Candidate, ...]
    bound: float | None
    designer: Any
    left_out: tuple[str, ...] = ()

    @property
    def best(self) -> Certified:
        """The winner, ready to release answers."""
        return self.candidates[0].certified

    @property
    def releases(self) -> int:
        """How many equal releases the requirement is the total of."""
        return int(dict(self.designer.settings).get("compose", 1))

    @property
    def plan(self) -> Composition:
        """All the releases together, proven: as many of the winner as were planned, one where no plan was asked for."""
        return planned(self.best, self.releases)

    @property
    def parts(self) -> tuple[tuple[float, ...], ...]:
        """What is known of each number with each candidate; `utility.measure` says what it is."""
        return tuple(c.parts for c in self.candidates)

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """The candidates that answer the question as it was asked; the others are for comparison."""
        return tuple(c for c in self.candidates if c.certified.mechanism.query == self.query)

    @property
    def over(self) -> str:
        """Which kind of mechanism the bound is proven for; nothing where it is for all that answer the question."""
        return str(self.designer.over)

    @property
    def bound_over(self) -> str:
        """Which mechanisms the bound is proven for."""
        return self.over or ("mechanisms that release whole numbers" if over(self.query) else "all mechanisms")

    @property
    def why(self) -> str:
        """One line that says why the winner won."""
        return _WHY.latest(self, "why", lambda: self.designer.why(self) or reason(self))

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the candidates, such as what a whole family can reach."""
        own = self.designer.notes
        return _NOTES.latest(self, "notes", lambda: (*(own(self) or ()), *self._uneven(), *self.left_out))

    def __reduce__(self) -> tuple[Any, ...]:
        held = tuple(
            (c.name, c.certified.mechanism, c.certified.certificate.requirement, c.remark) for c in self.candidates
        )
        return self.designer.restored, (self.query, self.privacy, self.utility, held, self.left_out)

    def __str__(self) -> str:
        lines = [
            f"Question: {self.query}",
            f"Privacy:  {self.promise}",
            f"Utility:  {self._goal()}",
            "",
            text_table(*self._table()),
            "",
            self.why,
            *self._remarks(),
        ]
        if any(self.parts):
            lines += ["", f"Each number ({self.utility.measure}):", text_table(*self._part_table())]
            if len(self.parts[0]) > _SHOWN and not hasattr(self.query, "bins"):
                lines.append(f"… {len(self.parts[0]) - _SHOWN} more numbers; report.parts has all.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        caption = f"{self.query}; {self.promise}; {self._goal()}"
        table = html_table(caption, *self._table(), " ".join([self.why, *self._remarks()]))
        if not any(self.parts):
            return table
        return table + html_table(f"Each number ({self.utility.measure})", *self._part_table(), "")

    def plot(self, path: str | Path | None = None) -> Figure:
        """A picture of the candidates beside their values; saved to `path` if one is given. Notebooks show it."""
        from noisewright.search.report.plots import plot_report

        return plot_report(self, path)

    def html(self, path: str | Path) -> None:
        """Write a page to hand over, one .html file with everything inside: guarantee, odds, ranking, proof, pictures.

        It needs nothing from elsewhere and runs no script; it says how to verify what it holds.
        """
        rendered("report")(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Plain data with a digest of the whole content. A user's own loss is named, not stored."""
        content = {
            "format": FORMAT,
            "query": self.query.to_dict(),
            "privacy": self.privacy.to_dict(),
            "utility": self.utility.to_dict(),
            "bound": self.bound,
            "bound_over": self.bound_over,
            "why": self.why,
            "notes": list(self.notes),
            "settings": dict(self.designer.settings),
            "candidates": [c.to_dict() for c in self.candidates],
            **({"plan": self.plan.to_dict()} if self.releases > 1 else {}),
        }
        return {**content, "digest": digest(content)}

    def save(self, path: str | Path) -> None:
        """Write the report to a JSON file, which `load` and `noisewright verify` prove again."""
        if self.utility not in UTILITIES:
            raise InvalidInputError(
                "a loss of your own is a function, which files do not hold; save the mechanism instead, with"
                " report.best.save(path)."
            )
        Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path, *, seconds: Number = READING_SECONDS) -> Report:
        """Read a JSON file written by `save`, and prove it again within so many seconds."""
        with within(seconds):
            return cls.from_dict(read_file(path))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, seconds: Number = READING_SECONDS) -> Report:
        """Read back what `to_dict` wrote, and prove it again: `search.saved` says how."""
        read: Report = rendered("report_from_dict")(data, seconds=seconds)
        return read

    @property
    def title(self) -> str:
        """The utility in words, as one number or several are measured."""
        several = any(self.parts) or getattr(self.query, "dimension", 1) > _SHOWN
        return str(self.utility.several() if several else self.utility)

    @property
    def promise(self) -> str:
        """The requirement in words, and of how many releases it is the total."""
        return f"{self.privacy}{f', in total over {self.releases} equal releases' if self.releases > 1 else ''}"

    def _goal(self) -> str:
        return f"{self.title} ({'larger' if self.utility.larger_is_better else 'smaller'} is better)"

    def _uneven(self) -> tuple[str, ...]:
        note = uneven_note(self.query, self.utility)
        return () if note is None else (note,)

    def _remarks(self) -> list[str]:
        own = []
        if len(self.kept) < len(self.candidates):
            own = ["Candidates with a larger bias, below the others, do not answer this: they are for comparison."]
        elif any(c.bias for c in self.candidates) and self.utility.tabulated:
            leans = "The loss is not symmetric, so the best answers lean to the cheaper side"
            own = [f"{leans}; the bias column says how far."]
        return [*own, *self.notes]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows, kept = [["mechanism", self.title, "gap to best possible", "bias"]], self.kept
        for c in self.candidates:
            doubt = f" ± {c.error:.1g}" if self.utility.numerical and math.isfinite(c.value) else ""
            gap = "unbounded" if math.isinf(c.value) else gap_text(c.gap)
            gap = gap if c in kept else "for comparison"
            rows.append([c.name, number(c.value) + doubt, gap, f"{c.bias:+.4g}" if c.bias else "0"])
        rows.append(["best possible", "no bound proven" if self.bound is None else number(self.bound), "", ""])
        if not any(c.bias for c in self.candidates):
            rows = [row[:-1] for row in rows]
        if self.bound is None and len(kept) == len(self.candidates):
            rows = [[*row[:2], *row[3:]] for row in rows]
        return rows[0], rows[1:]

    def _part_table(self) -> tuple[list[str], list[list[str]]]:
        if hasattr(self.query, "bins"):
            alike = [["each bin", *(number(p[0]) for p in self.parts)]]
            return ["number", *(c.name for c in self.candidates)], alike
        names = getattr(self.query, "names", None) or [str(i + 1) for i in range(len(self.parts[0]))]
        extents = getattr(self.query, "extents", None)
        header = ["number", *(["can move by"] if extents else []), *(c.name for c in self.candidates)]
        rows = [
            [names[i], *([show(extents[i])] if extents else []), *(number(p[i]) if p else "" for p in self.parts)]
            for i in range(min(_SHOWN, len(self.parts[0])))
        ]
        return header, rows
