"""How a command ends: its exit code, and one line for a person when something went wrong."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

import typer

from noisewright.problem.errors import InvalidInputError, NoisewrightError

SUCCESS = 0
REFUSED = 1
BAD_INPUT = 2
INTERRUPTED = 130

_LONGEST_LINE = 800


def explain(error: Exception) -> tuple[int, str]:
    """The exit code and the message for whatever ended a command."""
    if isinstance(error, NoisewrightError):
        return BAD_INPUT if isinstance(error, InvalidInputError) else REFUSED, str(error)
    if isinstance(error, typer.Abort):
        return INTERRUPTED, "interrupted."
    if hasattr(error, "format_message"):  # what the parser of the command line raises
        return BAD_INPUT, _usage(error)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return REFUSED, f"{place}{error.strerror or error}."
    if isinstance(error, MemoryError):
        return REFUSED, "there is not enough memory for this question."
    return REFUSED, f"unexpected {type(error).__name__} in {_origin(error)}: {error}; please report this problem."


def complain(message: str) -> None:
    """One line on standard error. Text from a file may be in it, so no control character gets through."""
    line = " ".join(message.split())
    shown = "".join(character if character.isprintable() else "?" for character in line)
    if len(shown) > _LONGEST_LINE:
        shown = shown[:_LONGEST_LINE] + " …"
    typer.echo(f"error: {shown}", err=True)


def let_go_of_output() -> None:
    """Drop output that cannot be written, so that the interpreter does not try again when it ends."""
    if sys.stdout is None:  # started with standard output closed
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: Exception) -> str:
    message = str(getattr(error, "format_message")()).strip()  # noqa: B009 -- not an attribute of every Exception
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "noisewright"
    stop = "" if message.endswith((".", "?", "!")) else "."
    return f"{message}{stop} See: {command} --help"


def _origin(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
