"""The entry point: every command by its name, loaded when it is named, and one place where errors become one line."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import noisewright
from noisewright.app.cli.output import INTERRUPTED, SUCCESS, complain, explain, let_go_of_output, remark

COMMANDS = {
    "init": ("init", "noisewright init visits.csv"),
    "plan": ("release", "noisewright plan visits.toml"),
    "release": ("release", "noisewright release visits.toml"),
    "bounds": ("release", "noisewright bounds visits.toml charge --epsilon 0.1"),
    "selfcheck": ("release", "noisewright selfcheck visits.toml --persons 100"),
    "design": ("design", "noisewright design --epsilon 1 --sensitivity 1 --utility squared-error"),
    "linear": ("linear", "noisewright linear --queries queries.csv --points points.csv"),
    "compose": ("compose", 'noisewright compose "gaussian(sigma=40) x 1000" --delta 1e-6'),
    "workload": ("workload", "noisewright workload ranges --n 64 --rho 0.1"),
    "verify": ("saved", "noisewright verify mechanism.json"),
    "describe": ("saved", "noisewright describe mechanism.json"),
    "explain": ("saved", "noisewright explain mechanism.json"),
    "answer": ("saved", "noisewright answer mechanism.json --value 42"),
    "budget": ("design", "noisewright budget --sensitivity 1 --half-width 10 --confidence 0.95"),
    "explore": ("explore", "noisewright explore --no-browser"),
    "reproduce": ("reproduce", "noisewright reproduce --list"),
    "sweep": ("sweep", "noisewright sweep --sensitivity 1 --utility squared-error --epsilons 0.1,1"),
    "ledger": ("ledger", ""),
}
"""The module beside this one that has a function, or a group of commands, of that name; and an example of its use."""


class _Commands(TyperGroup):
    """The commands; each is imported when it is named, all of them for the help."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands.update((name, TyperCommand(name)) for name in COMMANDS)
        self._loaded: set[str] = set()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; nothing where there is none."""
        if cmd_name in COMMANDS and cmd_name not in self._loaded:
            self._loaded.add(cmd_name)
            self.commands[cmd_name] = _command(cmd_name)
        return super().get_command(ctx, cmd_name)


def _command(name: str) -> Any:
    module, example = COMMANDS[name]
    found = getattr(import_module(f"noisewright.app.cli.{module}"), name)
    if isinstance(found, typer.Typer):
        group = typer.main.get_group(found)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name, epilog=f"Example:\n\n{example}")(found)
    return typer.main.get_command(alone)


app = typer.Typer(
    name="noisewright",
    cls=_Commands,
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; arguments are those of the process unless given."""
    with warnings.catch_warnings():
        warnings.showwarning = _remarked
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


def _remarked(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as a person at a terminal is told of it."""
    remark(f"{message}")
