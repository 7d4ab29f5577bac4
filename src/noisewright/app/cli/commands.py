"""The entry point: every command by its name, and one place where errors become one line."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import noisewright
from noisewright.app.cli import (
    compose as composing,
    design as designing,
    explore as exploring,
    init as beginning,
    linear,
    release as releasing,
    reproduce as reproducing,
    saved,
    sweep,
    workload,
)
from noisewright.app.cli.ledger import ledgers
from noisewright.app.cli.output import INTERRUPTED, SUCCESS, complain, explain, let_go_of_output, remark

app = typer.Typer(
    name="noisewright",
    help="Designs the noise that is best for your question, proves its privacy and draws it exactly.",
    epilog="Example:\n\nnoisewright design --epsilon 1 --sensitivity 1 --utility squared-error",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    invoke_without_command=True,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"noisewright {noisewright.__version__}")
        raise typer.Exit


@app.callback()
def start(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Show the help when no command was named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command, function, example in (
    ("init", beginning.init, "noisewright init visits.csv"),
    ("plan", releasing.plan, "noisewright plan visits.toml"),
    ("release", releasing.release, "noisewright release visits.toml"),
    ("bounds", releasing.bounds, "noisewright bounds visits.toml charge --epsilon 0.1"),
    ("design", designing.design, "noisewright design --epsilon 1 --sensitivity 1 --utility squared-error"),
    ("linear", linear.linear, "noisewright linear --queries queries.csv --points points.csv"),
    ("compose", composing.compose, 'noisewright compose "gaussian(sigma=40) x 1000" --delta 1e-6'),
    ("workload", workload.workload, "noisewright workload ranges --n 64 --rho 0.1"),
    ("verify", saved.verify, "noisewright verify mechanism.json"),
    ("describe", saved.describe, "noisewright describe mechanism.json"),
    ("explain", saved.explain, "noisewright explain mechanism.json"),
    ("answer", saved.answer, "noisewright answer mechanism.json --value 42"),
    ("budget", designing.budget, "noisewright budget --sensitivity 1 --half-width 10 --confidence 0.95"),
    ("explore", exploring.explore, "noisewright explore --no-browser"),
    ("reproduce", reproducing.reproduce, "noisewright reproduce --list"),
    ("sweep", sweep.sweep, "noisewright sweep --sensitivity 1 --utility squared-error --epsilons 0.1,1"),
):
    app.command(command, epilog=f"Example:\n\n{example}")(function)
app.add_typer(ledgers, name="ledger")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; arguments are those of the process unless given."""
    with warnings.catch_warnings():
        warnings.showwarning = _remarked
        return _ended(arguments)


def _remarked(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as a person at a terminal is told of it."""
    remark(f"{message}")


def _ended(arguments: Sequence[str] | None) -> int:
    try:
        result = typer.main.get_command(app)(args=arguments, prog_name="noisewright", standalone_mode=False)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 -- a person at a terminal is never shown a traceback
        code, message = explain(error)
        let_go_of_output()
        complain(message)
        return code
    return result if isinstance(result, int) else SUCCESS
