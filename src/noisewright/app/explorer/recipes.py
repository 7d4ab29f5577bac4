"""The same thing to copy: in Python, at the command line, and as a spec file for a table."""

from __future__ import annotations

import re
import shlex
from fractions import Fraction
from pathlib import PurePath

from noisewright.app.cli.questions import NOTIONS, UTILITIES as TYPED_UTILITIES
from noisewright.app.explorer.form import Asked
from noisewright.problem.numbers import show

_PLAIN = re.compile(r"-?\d{1,9}(\.\d{1,9})?(e-\d{1,2})?")
_NAMES = {
    "pure": "PureDP",
    "approximate": "ApproxDP",
    "probabilistic": "ProbabilisticDP",
    "renyi": "RenyiDP",
    "zero-concentrated": "ZeroConcentratedDP",
}


def number(value: Fraction) -> str:
    """A number exactly as it is read back: a decimal of few digits, else a quotient."""
    text = show(value).replace("e-0", "e-")
    return text if Fraction(text) == value else str(value)


def literal(value: Fraction) -> str:
    """The same as Python and TOML write it: quoted where it is no plain decimal."""
    text = number(value)
    return text if _PLAIN.fullmatch(text) else f'"{text}"'


def shell_word(path: str) -> str:
    """The name of a file as a shell reads it."""
    return shlex.quote(PurePath(path).name)


def python(asked: Asked, amount: Fraction, target: Fraction) -> str:
    """A program."""
    given = {**asked.fixed, asked.amount_name: amount}
    order = NOTIONS[asked.notion][0]
    privacy = f"nw.{_NAMES[asked.notion]}({', '.join(f'{name}={literal(given[name])}' for name in order)})"
    lines = ["import noisewright as nw", "", f"question = {_question(asked)}", f"good = {_utility(asked)}"]
    if asked.move == "accuracy":
        fixed = "".join(f", {name}={literal(value)}" for name, value in asked.fixed.items())
        notion = "" if asked.notion == "pure" else f', notion="{asked.notion}"'
        lines += [
            f"budget = nw.budget_for(question, utility=good, target={literal(target)}{notion}{fixed})",
            "print(budget)  # the smallest amount for every mechanism",
        ]
    return "\n".join(
        [
            *lines,
            f"report = nw.design(question, privacy={privacy}, utility=good)",
            "print(report)",
            'report.best.save("mechanism.json")',
            "# each report.best.release(answer) spends the whole guarantee once",
        ]
    )


def _utility(asked: Asked) -> str:
    taken = {name: getattr(asked.utility, name) for name in asked.values if name in asked.utility.CARD.given}
    inside = ", ".join(
        f"{name}={literal(value)}" for name, value in taken.items() if name != "power" or _powered(asked)
    )
    return f"nw.{type(asked.utility).__name__}({inside})"


def _powered(asked: Asked) -> bool:
    return asked.utility_name == "power-error"


def _question(asked: Asked) -> str:
    query, values = asked.query, asked.values
    integer = ", integer=True" if getattr(query, "integer", False) else ""
    if asked.question == "number":
        return f"nw.Scalar(sensitivity={literal(query.sensitivity)}{integer})"
    if asked.question == "histogram":
        more = f", bins_per_person={query.bins_per_person}" if query.bins_per_person != 1 else ""
        return f"nw.Histogram({query.bins}{more}{', replace=True' if query.replace else ''})"
    if asked.question == "several":
        each = ", ".join(literal(extent) for extent in query.extents)
        kind = {"box": "Box(", "disjoint": "Disjoint(", "sparse": f"Sparse({values['changes']}, "}[values["set"]]
        return f"nw.Vector(nw.{kind}[{each}]){integer})"
    if asked.question == "bounded":
        ends = [f"({literal(low)}, {literal(high)})" for low, high in (query.inputs, query.outputs)]
        unbiased = ", unbiased=True" if values["unbiased"] else ""
        return f"nw.Scalar(sensitivity={literal(query.sensitivity)}, inputs={ends[0]}, outputs={ends[1]}{unbiased})"
    return f"nw.Workload.{values['form']}({values['cells']})"


def command(asked: Asked, amount: Fraction, target: Fraction) -> str:
    """One line for a terminal, or two: what the accuracy costs, and the design."""
    if asked.utility_name not in TYPED_UTILITIES:
        return "# the command line does not name this utility; use Python"
    guarantee = [word for name, value in asked.fixed.items() for word in (f"--{name}", number(value))]
    notion = [] if asked.notion in ("pure", "approximate") else ["--notion", asked.notion]
    wanted = [f"--{name} {number(getattr(asked.utility, name))}" for name in TYPED_UTILITIES[asked.utility_name][0]]
    good = ["--utility", asked.utility_name, *wanted]
    amounts = [f"--{asked.amount_name}", number(amount)]
    if asked.question == "workload":
        of = ["workload", asked.values["form"], "--n", asked.values["cells"]]
        return " ".join(["noisewright", *of, *amounts, *guarantee, *notion, *good, "--save", "mechanism.json"])
    words = _words(asked)
    lines = [["design", *words, *amounts, *guarantee, *notion, *good, "--save", "mechanism.json"]]
    if asked.move == "accuracy":
        lines.insert(0, ["budget", *words, *guarantee, *notion, *good, "--target", number(target)])
    return "\n".join(" ".join(["noisewright", *line]) for line in lines)


def _words(asked: Asked) -> list[str]:
    query, values = asked.query, asked.values
    integer = ["--integer"] if getattr(query, "integer", False) is True else []
    if asked.question == "histogram":
        more = ["--bins-per-person", str(query.bins_per_person)] if query.bins_per_person != 1 else []
        return ["--bins", str(query.bins), *more, *(["--replace"] if query.replace else [])]
    if asked.question == "several":
        each = ",".join(number(extent) for extent in query.extents)
        changes = ["--changes", values["changes"]] if values["set"] == "sparse" else []
        return ["--sensitivities", each, "--set", values["set"], *changes, *integer]
    if asked.question == "bounded":
        ends = [",".join(number(end) for end in pair) for pair in (query.inputs, query.outputs)]
        unbiased = ["--unbiased"] if values["unbiased"] else []
        return ["--sensitivity", number(query.sensitivity), f"--inputs={ends[0]}", f"--outputs={ends[1]}", *unbiased]
    return ["--sensitivity", number(query.sensitivity), *integer]


def spec(asked: Asked, amount: Fraction) -> str:
    """A spec that asks a table the same, where tables are asked such questions."""
    asks = _asks(asked)
    if asks is None:
        return f"# a spec file asks tables, which have no question like this one ({asked.question}); use Python"
    if asked.notion == "probabilistic":
        return (
            "# plans of tables guarantee pure, approximate, zero-concentrated or Rényi privacy; use Python for this one"
        )
    given = {**asked.fixed, asked.amount_name: amount}
    guarantee = "{ " + ", ".join(f"{name} = {literal(given[name])}" for name in NOTIONS[asked.notion][0]) + " }"
    known = asked.utility_name in ("squared-error", "absolute-error")
    utility = (
        f'utility = "{asked.utility_name}"' if known else 'utility = "absolute-error"  # plans count these or squares'
    )
    return "\n".join(
        [
            "# put your own table and columns here; then: noisewright plan table.toml",
            f"privacy = {guarantee}",
            utility,
            "",
            "[dataset]",
            'source = "table.csv"',
            'unit = "person"  # all rows of a person are protected together',
            f"budget = {guarantee}",
            'ledger = "table.ledger"',
            *asks,
        ]
    )


def _asks(asked: Asked) -> list[str] | None:
    query = asked.query
    if asked.question == "number":
        if getattr(query, "integer", False) and query.sensitivity == 1:
            return ["", "[[ask]]", 'kind = "persons"']
        top = literal(query.sensitivity)
        return ["", "[[ask]]", 'kind = "sum"', 'column = "value"', f"bounds = [0, {top}]  # one row for each person"]
    if asked.question == "histogram" and not query.replace:
        many = [f"groups_per_person = {query.bins_per_person}"] if query.bins_per_person != 1 else []
        names = ", ".join(f'"bin {i + 1}"' for i in range(min(query.bins, 60)))
        listed = [] if query.bins <= 60 else [f"# and {query.bins - 60} more"]
        keys = ["", "[keys.bins]", 'columns = "bin"', f"values = [{names}]", *listed]
        return [*many, *keys, "", "[[ask]]", 'kind = "persons"', 'by = "bins"']
    if asked.question == "several" and asked.values["set"] == "box":
        return [
            line
            for i, extent in enumerate(query.extents, 1)
            for line in ("", "[[ask]]", 'kind = "sum"', f'column = "value{i}"', f"bounds = [0, {literal(extent)}]")
        ]
    return None
