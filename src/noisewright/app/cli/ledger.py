"""Commands on a ledger: `noisewright ledger create`, `show`, `charge`, `verify` and `export`."""

from __future__ import annotations

import json as json_text
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.app.cli import options
from noisewright.app.cli.output import check_places, draw, read_text, remark, say, say_json, writing
from noisewright.app.cli.questions import make_privacy, typed
from noisewright.app.cli.true_answers import read_truth, shown, truth_of
from noisewright.app.reports.embedded import PAGES, read_page
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.untrusted import plain_of

if TYPE_CHECKING:
    from noisewright.ledger.ledger import Ledger

ledger = typer.Typer(
    help="Keep a budget that nobody can overspend: in a file, or in PostgreSQL for teams.",
    epilog="Example:\n\nnoisewright ledger create clinic.ledger --epsilon 3",
    no_args_is_help=True,
)

_LARGEST_HEAD = 1
_SHOWN = 30
_LONGEST_REASON = 400
Url = Annotated[
    str,
    typer.Argument(
        metavar="URL",
        help="A file, or postgresql://user@host/database?ledger=name. Leave passwords to PGPASSFILE.",
        show_default=False,
    ),
]
Sub = Annotated[str | None, options.option("NAME", "The sub-budget, such as that of an analyst.")]


@ledger.command(epilog="Example:\n\nnoisewright ledger create clinic.ledger --epsilon 3")
def create(
    url: Url,
    epsilon: options.AnyEpsilon = None,
    delta: options.Delta = None,
    notion: options.Notion = None,
    alpha: options.Alpha = None,
    rho: options.Rho = None,
    neighbours: Annotated[
        str | None, options.option("NAME", "Whom all releases compare: add-remove or replace; else the first says.")
    ] = None,
) -> None:
    """Make a ledger with a budget for everything that will be released about the same people."""
    budget = make_privacy(notion, typed(epsilon=epsilon, delta=delta, alpha=alpha, rho=rho))
    from noisewright.ledger.ledger import Ledger

    made = Ledger.create(url, budget=budget, neighbours=neighbours)
    say(f"Made {made.url}: {budget}.")
    remark("Keep its head elsewhere now and then (noisewright ledger export --head): it shows when a copy is put back.")


@ledger.command(epilog="Example:\n\nnoisewright ledger show clinic.ledger")
def show(
    url: Url,
    sub: Sub = None,
    plot: Annotated[Path | None, options.option("FILE", "Draw the burn-down: .png, .pdf or .svg.")] = None,
    json: options.Json = False,
) -> None:
    """Show what was spent, under which rules, and what remains."""
    check_places(plot=plot)
    ledger = _opened(url, sub)
    if json:
        say_json(_state(ledger))
    else:
        say(_shown(ledger))
    draw(ledger.plot, plot)


@ledger.command(epilog='Example:\n\nnoisewright ledger charge clinic.ledger mechanism.json --reason "ages, ward 3"')
def charge(
    url: Url,
    file: options.MechanismFile,
    reason: Annotated[str, options.option("TEXT", "What the charge is for; it is kept.")],
    sub: Sub = None,
    value: Annotated[
        str | None, options.option("NUMBER", "Also release this true answer; - reads it from standard input.")
    ] = None,
    value_file: Annotated[Path | None, options.option("FILE", "The same from a file.")] = None,
) -> None:
    """Charge a saved mechanism, durably, and release an answer if one is given; refuse what would pass the budget."""
    wanted = value is not None or value_file is not None
    truth = truth_of(value, value_file) if wanted else None
    from noisewright.sample.certified import Certified

    certified = Certified.load(file)
    ledger = _opened(url, sub)
    if truth is not None:
        say(shown(ledger.release(certified, read_truth(truth, certified.mechanism), reason=reason)))
        return
    made = ledger.charge(certified, reason=reason)
    say(f"Charged as row {made.place} (rule {', '.join(made.rules)}). {ledger.buys()}")


@ledger.command(epilog="Example:\n\nnoisewright ledger verify clinic.ledger")
def verify(
    url: Url,
    head: Annotated[
        Path | None,
        options.option("FILE", "A head that was exported before, or a report: shows that a copy was put back."),
    ] = None,
) -> None:
    """Check every row against the one before: an edit, a removed row or a cut end is found and refused."""
    known = None if head is None else _read_head(head)
    found = _opened(url, None).verify(known)
    say(f"Verified: {found.rows} rows, {found.charges} charges, head {found.head.digest}.")
    if known is None:
        remark("Whether an older copy of everything was put back shows only with --head.")
    for text in found.remarks:
        remark(f"Odd: {text}.")


@ledger.command(epilog="Example:\n\nnoisewright ledger export clinic.ledger")
def export(
    url: Url,
    output: Annotated[Path | None, options.option("FILE", "Write there instead of to standard output.")] = None,
    head: Annotated[bool, typer.Option("--head", help="Only count and digest, to be kept elsewhere.")] = False,
) -> None:
    """Print the ledger as JSON: every row, with its cost, its rule, its time and its digest."""
    check_places(output=output)
    ledger = _opened(url, None)
    data = ledger.head.to_dict() if head else ledger.to_dict()
    if output is None:
        say_json(data)
        return
    with writing(output):
        output.write_text(json_text.dumps(data, indent=1) + "\n", encoding="utf-8")
    remark(f"The {'head' if head else 'ledger'} is in {output}.")


def _opened(url: str, sub: str | None) -> Ledger:
    from noisewright.ledger.ledger import Ledger

    found = Ledger.open(url)
    return found if sub is None else found.sub(sub)


def _read_head(path: Path) -> Any:
    try:
        if path.suffix.lower() in PAGES:
            return read_page(path)
        return plain_of(read_text(path, "--head", _LARGEST_HEAD))
    except ValueError:
        raise InvalidInputError(
            f"--head is {path}, which is no JSON; give what `ledger export --head` wrote."
        ) from None


def _state(ledger: Ledger) -> dict[str, Any]:
    account = ledger.now()
    rules = [
        {
            "name": rule.name,
            "sums": None if sums is None else {name: str(value) for name, value in sums.items()},
            "limits": {name: str(value) for name, value in rule.limits.items()},
            "holds": rule.holds(sums),
        }
        for rule in account.budget.rules
        for sums in [account.state.totals[rule.name]]
    ]
    return {
        "url": ledger.url,
        "account": account.name,
        "budget": account.budget.requirement.to_dict(),
        "closed": account.state.closed,
        "neighbours": account.state.neighbours,
        "rules": rules,
        "left": ledger.buys(),
        "head": ledger.head.to_dict(),
    }


def _shown(ledger: Ledger) -> str:
    """The summary and a table of the latest rows; what people wrote goes on in the next line where it is long."""
    from noisewright.drawing.tables import text_table
    from noisewright.ledger.render import HEADER, listed, summary

    rows = listed(list(ledger.rows()), _LONGEST_REASON)
    left = [i for i, name in enumerate(HEADER) if name not in ("row", "cost")]
    width = max(shutil.get_terminal_size((100, 24)).columns, 60)
    more = len(rows) - _SHOWN
    return "\n".join(
        [
            *summary(ledger),
            "",
            text_table(HEADER, rows[-_SHOWN:], left=left, width=width),
            *([f"({more} earlier rows are not shown; export prints them)"] if more > 0 else []),
        ]
    )
