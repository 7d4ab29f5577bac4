"""A plan: what will be spent and the error to expect, before anything is spent; then one release."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from noisewright.door import Reported
from noisewright.drawing.tables import html_table, text_table
from noisewright.ledger.costed import certificate_of
from noisewright.problem.errors import InvalidInputError, MechanismFileError, NoisewrightError
from noisewright.problem.matrices import Unchanging
from noisewright.problem.numbers import Number, parameter, show
from noisewright.problem.privacy import REQUIREMENTS
from noisewright.problem.records import digest
from noisewright.problem.untrusted import READING_SECONDS, within
from noisewright.problem.utilities import UTILITIES, SquaredError
from noisewright.release.ask.question import QUESTIONS, Question
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.design import designed, require_designable
from noisewright.release.plan.expected_errors import Line, lines_of
from noisewright.release.plan.layout import ContributionBounds, Layout
from noisewright.release.plan.noise import Block, joint_query, price_of, require_kept
from noisewright.release.plan.shares import weights_of
from noisewright.release.plan.targets import AIMS, Budgets, Targets, Wanted
from noisewright.sample.certified import Certified, check_seal, read_file, reading

if TYPE_CHECKING:
    from noisewright.ledger.ledger import Ledger
    from noisewright.problem.privacy import Notion
    from noisewright.problem.utilities import Utility

FORMAT = "noisewright release plan, version 1"
_FIELDS = {"dataset", "questions", "privacy", "utility", "weights", "blocks"}
_OF_A_DATASET = {"name", "version", "unit", "limits", "query"}
_OF_A_BLOCK = {"table", "name", "why", "certified"}
_LONGEST_WORDS = 10_000


class Releasing(Protocol):
    """What a plan asks of its dataset; nothing of the data."""

    @property
    def limits(self) -> ContributionBounds:
        """How much of a person counts."""

    @property
    def ledger(self) -> Ledger | None:
        """The ledger that releases are charged to."""

    @property
    def read_as(self) -> Mapping[str, str]:
        """What columns of text are read as, in words with an example."""

    def describe(self) -> dict[str, Any]:
        """What it is, as plain data."""

    def require_public_keys(self, questions: Sequence[Question]) -> None:
        """Refuse questions whose keys were listed from a private table."""

    def require_answerable(self, layout: Layout) -> None:
        """Refuse questions about columns that are not there or hold something else."""

    def rehearse(self, layout: Layout, salt: int = 0) -> None:
        """Try every query of a layout without reading a row."""

    def release(
        self,
        plan: Plan,
        *,
        fresh: bool,
        reason: str | None,
        frame: str | None,
        post: Sequence[str],
        refuse_stale: bool,
    ) -> Any:
        """The answers of a plan that was made for it."""

    def refusal(self, plan: Plan) -> NoisewrightError | None:
        """Why its ledger would refuse a plan now, if it would; raises for one that it can never add."""

    def selfcheck(self, plan: Plan, persons: int) -> str:
        """Whether the sensitivity of a plan held for some persons."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan(Reported, Unchanging):
    """Questions with the noise that answers them: made by `Dataset.plan`, or read back with `Plan.load`.

    `print(plan)` shows, before anything is spent, the error to expect of every output, the mechanism, the cost and what
    plain noise would have done. Guarantees: every mechanism is certified for the set of differences that the questions
    and the limits of the dataset allow, and all of them together for `privacy`.

    >>> import pyarrow as pa
    >>> visits = pa.table({"patient": [1, 1, 2], "age": [30, 31, 60]})
    >>> plan = nw.Dataset(visits, unit="patient").plan(nw.count(), privacy=nw.PureDP(1))
    >>> plan.privacy, [str(question) for question in plan.questions]
    (PureDP(epsilon=Fraction(1, 1)), ['count, everything'])
    """

    questions: tuple[Any, ...]
    privacy: Any
    utility: Any
    weights: tuple[tuple[str, Fraction], ...]
    limits: ContributionBounds
    layout: Layout
    blocks: tuple[Block, ...]
    price: Any
    """What is charged to the ledger: a certified mechanism, or a composition of several."""

    about: Mapping[str, Any]
    dataset: Releasing | None = None
    aims: Any = None
    """The targets or budgets that it was made for, if it was not one amount for all."""

    @property
    def key(self) -> str:
        """What the same plan on the same dataset shares: questions, requirement and dataset, not the noise."""
        return digest(self._asked())

    def release(
        self,
        *,
        fresh: bool = False,
        reason: str | None = None,
        frame: str | None = None,
        post: Sequence[str] = (),
        refuse_stale: bool = False,
    ) -> Any:
        """The private answers as a tidy frame: charged durably, then computed, drawn and stored.

        Asked again, the stored answers come back and nothing is spent; `fresh=True` draws and charges again. Where the
        dataset was declared with `modified_is_public=True`, stored answers that are older than the files warn
        (`StaleAnswerWarning`), or are refused with `refuse_stale=True` (`StaleAnswerError`). The frame
        has the columns question, those of the keys, value, half_width (95 %), low, high, counted (which rows the answer
        is over: the interval holds their number, not that of all rows), mechanism and charge (the row of the ledger),
        in the kind of frame that the dataset was given as, or in `frame` ("pandas", "polars", "pyarrow"). `post` names
        what is done afterwards, at no cost, and shown beside the answers in columns that begin with post_:
        "non-negative", "integers" and "totals", which add up.
        Raises BudgetExceeded, and spends nothing, where the budget does not allow it.
        """

        return self._dataset("released").release(
            self, fresh=fresh, reason=reason, frame=frame, post=post, refuse_stale=refuse_stale
        )

    def selfcheck(self, persons: int = 20) -> str:
        """Try the sensitivity on the real table: leave out persons one at a time, with the limits and salt unchanged.

        For owners of the data: it looks at the data, draws no noise, spends nothing and says only whether it held. It
        is no proof.
        """

        return self._dataset("checked").selfcheck(self, persons)

    def _dataset(self, word: str) -> Releasing:
        if self.dataset is None:
            raise InvalidInputError(f"a plan from a file is {word} by its dataset: dataset.load_plan(path).")
        return self.dataset

    def lines(self) -> list[Line]:
        """Every number of every output: its expected error, its 95 % half-width, and the errors of plain noise."""
        return lines_of(self.blocks, self.layout, self.privacy, self.utility)

    @property
    def remarks(self) -> list[str]:
        """What is to be known of answers that are computed from several numbers, in sentences."""
        return list(dict.fromkeys(question.remark for question in self.questions if question.remark))

    @property
    def refusal(self) -> NoisewrightError | None:
        """Why its ledger would refuse a release now; None if it would not, or if nothing would be spent."""
        return None if self.dataset is None else self.dataset.refusal(self)

    def __str__(self) -> str:
        return "\n".join([*_head(self), "", text_table(*_table(self)), "", *_foot(self)])

    def _repr_html_(self) -> str:
        return html_table("; ".join(_head(self)), *_table(self), " ".join(_foot(self)))

    def _asked(self) -> dict[str, Any]:
        """As plain data, what was asked for."""
        return {
            "dataset": dict(self.about),
            "questions": [question.to_dict() for question in self.questions],
            "privacy": self.privacy.to_dict(),
            "utility": self.utility.to_dict(),
            "weights": [[name, str(weight)] for name, weight in self.weights],
            **({} if self.aims is None else {"aims": self.aims.to_dict()}),
        }

    def noise(self) -> list[dict[str, Any]]:
        """As plain data, the mechanisms that answer, each with its proof."""
        return [
            {"table": block.table, "name": block.name, "why": block.why, "certified": block.certified.to_dict()}
            for block in self.blocks
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data with a digest of the whole content; nothing of the table."""
        content = {"format": FORMAT, **self._asked(), "blocks": self.noise()}
        return {**content, "digest": digest(content)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, seconds: Number = READING_SECONDS) -> Plan:
        """Read back what `to_dict` wrote, and prove it again.

        Guarantees: returns only if the digest fits, every mechanism is proven anew, answers the very set that the
        questions imply, and all of them together keep the requirement, within so many seconds; everything is written as
        `to_dict` writes it.
        """
        from noisewright.release.ask import registry

        check_seal(data, "release plan", FORMAT, _FIELDS | ({"aims"} & set(data)))
        with within(seconds), reading("release plan"):
            questions = tuple(registry.QUESTIONS.from_dict(plain) for plain in data["questions"])
            limits = ContributionBounds.from_dict(data["dataset"]["limits"])
            aims = AIMS.from_dict(data["aims"]) if "aims" in data else None
            layout = layout_of(questions, limits, apart=aims is not None and aims.apart)
            blocks = tuple(map(_block, data["blocks"]))
            privacy = REQUIREMENTS.from_dict(data["privacy"])
            utility = UTILITIES.from_dict(data["utility"])
            weights = tuple((str(name), parameter(weight, "weight")) for name, weight in data["weights"])
            about = _about(data["dataset"], limits)
            _require_whole(blocks, layout)
            price = price_of(blocks, layout)
            found = cls(questions, privacy, utility, weights, limits, layout, blocks, price, about, aims=aims)
            asked = found._asked()
            if digest(asked) != digest({name: data[name] for name in asked}):
                raise MechanismFileError(
                    "the plan holds fields, or spells values, as no plan is saved: it was edited; plan again."
                )
            require_sound(found)
        return found

    def save(self, path: str | Path) -> None:
        """Write the plan to a JSON file, which `load` proves again."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path, *, seconds: Number = READING_SECONDS) -> Plan:
        """Read a JSON file written by `save`, and prove it again; `dataset.load_plan` makes it ready to release."""
        with within(seconds):
            return cls.from_dict(read_file(path))


def _about(plain: Mapping[str, Any], limits: ContributionBounds) -> dict[str, Any]:
    """What a file says of its dataset, as `Dataset.describe` says it."""
    words = {name: plain.get(name) for name in ("name", "unit", "query", "version")}
    if words["version"] is None:
        del words["version"]  # only that may be left out
    whole = set(plain) == _OF_A_DATASET and digest(plain["limits"]) == digest(limits.to_dict())
    if not whole or not all(isinstance(text, str) for text in words.values()):
        raise MechanismFileError("what the plan says of its dataset is not what any is described by; plan again.")
    return dict(plain)


def _block(plain: Mapping[str, Any]) -> Block:
    """A mechanism of a file, proven, with what it answers and the words about it, which are somebody's words."""
    if set(plain) != _OF_A_BLOCK or type(plain["table"]) not in (int, type(None)):
        raise MechanismFileError("a mechanism of the plan does not say which table it answers; plan again.")
    words = [plain["name"], plain["why"]]
    if not all(isinstance(text, str) and text.isprintable() and len(text) <= _LONGEST_WORDS for text in words):
        raise MechanismFileError("the words about a mechanism of the plan are no plain text; plan again.")
    return Block(Certified.from_dict(plain["certified"]), plain["table"], *words)


def planned(
    dataset: Releasing,
    questions: Sequence[Question],
    privacy: Notion | None,
    utility: Utility,
    weights: Mapping[str, Number],
    wanted: Wanted,
) -> Plan:
    """Design the noise for questions about a dataset; only its schema is looked at."""
    dataset.require_public_keys([question for question in questions if question in QUESTIONS])
    layout = layout_of(questions, dataset.limits)
    _require_known(weights, questions)
    aims = wanted.aims(questions, privacy, weights)
    dataset.require_answerable(layout)
    _require_listed(aims, layout)
    own = tuple(sorted((name, parameter(weight, "weight")) for name, weight in weights.items()))
    asked, about = tuple(questions), dataset.describe()
    if aims is None:
        assert privacy is not None, "one of the two was given"
        made = designed(layout, privacy, utility, weights)
        price = made.price or price_of(made.blocks, layout)
        return Plan(asked, privacy, utility, own, dataset.limits, layout, made.blocks, price, about, dataset)
    if isinstance(aims, Targets):
        from noisewright.release.plan.smallest_budget import reaching

        found = reaching(questions, dataset.limits, aims, utility)
    else:
        found = aims.answered(questions, dataset.limits, utility, weights)
    noise = (found.layout, found.blocks, found.price)
    return Plan(asked, found.privacy, utility, own, dataset.limits, *noise, about, dataset, found.aims)


def _require_known(weights: Mapping[str, Number], questions: Sequence[Question]) -> None:
    known = {question.label for question in questions}
    if unknown := sorted(set(weights) - known):
        raise InvalidInputError(
            f"weights names {unknown[0]!r}; the questions are {', '.join(map(repr, sorted(known)))}.", name=unknown[0]
        )


def _require_listed(aims: Targets | Budgets | None, layout: Layout) -> None:
    if aims is not None and layout.private:
        raise InvalidInputError(
            "targets and budgets are for listed keys; with keys that are chosen privately, give the requirement of all"
            " outputs together: privacy=nw.ApproxDP(epsilon, delta), and weights."
        )


def bound(plan: Plan, dataset: Releasing) -> Plan:
    """A plan from a file with the dataset that it was made for."""
    if dict(plan.about) != dataset.describe():
        changed = [name for name, value in dataset.describe().items() if plan.about.get(name) != value]
        raise MechanismFileError(
            f"the plan was made for another dataset: it differs in {', '.join(changed)}. Plan again on this one."
        )
    dataset.require_public_keys(plan.questions)
    dataset.require_answerable(plan.layout)
    dataset.refusal(plan)
    return replace(plan, dataset=dataset)


def require_sound(plan: Plan) -> None:
    """Refuse a plan whose parts do not belong together, wherever it comes from; asked before anything is charged.

    Guarantees: the mechanisms answer the very set of differences that the questions and limits imply, the limits are
    those of the dataset, and what is charged keeps the requirement.
    """
    apart = plan.aims is not None and plan.aims.apart
    if plan.layout != layout_of(plan.questions, plan.limits, apart=apart):
        raise MechanismFileError("the numbers of the plan are not those of its questions; plan again.")
    if plan.dataset is not None and plan.limits != plan.dataset.limits:
        raise MechanismFileError("the limits of the plan are not those of its dataset; plan again.")
    if plan.dataset is not None and dict(plan.about) != plan.dataset.describe():
        raise MechanismFileError("what the plan says of its dataset does not fit it any more; plan again.")
    _require_asked(plan)
    _require_whole(plan.blocks, plan.layout)
    if certificate_of(plan.price) != certificate_of(price_of(plan.blocks, plan.layout)):
        raise MechanismFileError("the price of the plan is not that of its mechanisms; plan again.")
    require_kept(plan.price, plan.blocks, plan.layout, plan.privacy)
    if plan.aims is not None:
        plan.aims.require_met(plan.questions, plan.blocks, plan.layout)
        plan.aims.require_agreed(plan.privacy)


def _require_asked(plan: Plan) -> None:
    """Refuse what `Dataset.plan` refuses of the requirement, the utility and the weights."""
    require_designable(plan.layout, plan.privacy, plan.utility)
    weights = dict(plan.weights)
    _require_known(weights, plan.questions)
    if list(plan.weights) != sorted(weights.items()):
        raise MechanismFileError("the weights of the plan are not one for each name, in order; plan again.")
    for table in plan.layout.tables:
        weights_of(table, plan.utility, weights)
    _require_listed(plan.aims, plan.layout)


def _require_whole(blocks: Sequence[Block], layout: Layout) -> None:
    """Refuse blocks that do not answer every number once, each for the very set that the questions imply."""
    if [block.table for block in blocks] == [None] and not layout.private:
        fits = [blocks[0].certified.mechanism.query == joint_query(layout)]
    elif [block.table for block in blocks] == list(range(len(layout.tables))):
        parts = zip(blocks, layout.tables, strict=True)
        fits = [table.strategy.fits(block.certified, table) for block, table in parts]
    else:
        raise MechanismFileError("the mechanisms of the plan do not answer each table of its questions once; refused.")
    if not all(fits):
        raise MechanismFileError("a mechanism of the plan answers another question than the plan asks; refused.")


def _head(plan: Plan) -> list[str]:
    about, limits = plan.about, plan.limits
    version = f", version {about['version']}" if about["version"] is not None else ""
    most = "one row (declared by the owner, not checked)" if limits.one_row_per_person else str(limits)
    return [
        f"Plan for {about['name']}{version}; nothing is spent yet",
        f"Protects: all rows with one value of {about['unit']}, of which count at most {most}",
        f"Privacy:  {plan.privacy} for all outputs together",
        *_reading(plan),
    ]


def _reading(plan: Plan) -> list[str]:
    """How texts are read, where any are."""
    read = {} if plan.dataset is None else plan.dataset.read_as
    told = ", ".join(f"{column} as {kind}" for column, kind in read.items())
    return [f"Reads:    {told}; a text that is none counts as missing"] if told else []


def _table(plan: Plan) -> tuple[list[str], list[list[str]]]:
    header = ["output", "groups", "number", "error", "95 % within", "Laplace", "Gaussian"]
    rows = []
    for line in plan.lines():
        numbers = (line.error, line.width, line.laplace, line.gaussian)
        told = [line.output if line.first else "", line.groups if line.first else "", line.word]
        rows.append([*told, *("none" if value is None else _number(value) for value in numbers)])
    return header, rows


def _foot(plan: Plan) -> list[str]:
    kind = "root mean squared error" if isinstance(plan.utility, SquaredError) else "mean absolute error"
    lines = [
        f"Errors are the {kind}s to expect of the noise in one group, beside those of plain Laplace and plain Gaussian"
        " noise with the budget split equally; 95 of 100 answers are within the half-width.",
        *([] if plan.aims is None else plan.aims.lines(plan.blocks, plan.layout)),
        *(f"{_answers(plan, block)}: {block.why}" for block in plan.blocks),
        *plan.remarks,
        *_remains(plan),
        "Not in these errors: clamping bias (values beyond their bounds) and truncation bias (rows beyond the limits).",
    ]
    return [line for line in lines if line]


def _answers(plan: Plan, block: Block) -> str:
    if block.table is None:
        return f"All numbers ({block.name})"
    table = plan.layout.tables[block.table]
    names = ", ".join(question.label for question, _ in table.questions) or "which groups"
    return f"{names}, {table.grouping} ({block.name})"


def _remains(plan: Plan) -> list[str]:
    if plan.dataset is None or plan.dataset.ledger is None:
        return ["Budget: none; nothing can be released until the dataset has one."]
    now = plan.dataset.ledger.remaining
    left = (
        show(now)
        if isinstance(now, Fraction)
        else "; ".join(f"{rule}: {show(used)} of {show(limit)} used" for rule, (used, limit) in now.items())
    )
    refused = plan.refusal
    return [
        f"Cost: {plan.privacy}. Before the release there remains: {left}.",
        *([] if refused is None else [f"A release would be refused: {refused}"]),
    ]


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "none"
