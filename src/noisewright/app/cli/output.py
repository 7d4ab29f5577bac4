"""What commands write: results on standard output, remarks on standard error, files where asked."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from noisewright.problem.errors import (
    BudgetExceeded,
    EngineError,
    InvalidInputError,
    LedgerClosedError,
    LedgerDamagedError,
    LedgerError,
    LedgerExistsError,
    NoisewrightError,
    ReleaseFailedError,
    StaleAnswerError,
)
from noisewright.problem.untrusted import text_in

# The table in docs/command-line.md says the same.
SUCCESS = 0
FAILED = 1
BAD_INPUT = 2
OVER_BUDGET = 3
STALE = 4
AWAY = 5
INTERRUPTED = 130

_LONGEST_LINE = 800
_PICTURES = (".png", ".pdf", ".svg")


_CODES = (
    (InvalidInputError, BAD_INPUT),
    (LedgerExistsError, BAD_INPUT),
    (BudgetExceeded, OVER_BUDGET),
    (LedgerClosedError, OVER_BUDGET),
    (StaleAnswerError, STALE),
    (LedgerDamagedError, FAILED),
    (LedgerError, AWAY),
)
"""The exit code of each kind of error, the narrower kind first; of all others it is FAILED."""


class EndedError(Exception):
    """A command that ends with a message and an exit code of its own."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def explain(error: Exception) -> tuple[int, str]:
    """The exit code and the message for whatever ended a command."""
    if isinstance(error, EngineError | ReleaseFailedError):
        from noisewright.release.engines.registry import is_away

        problem = error.problem if isinstance(error, EngineError) else error.kind
        return AWAY if is_away(problem) else FAILED, str(error)
    if isinstance(error, NoisewrightError):
        return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED), str(error)
    if isinstance(error, EndedError):
        return error.code, str(error)
    if isinstance(error, typer.Abort):
        return INTERRUPTED, "interrupted."
    if hasattr(error, "format_message"):  # what the parser of the command line raises
        return BAD_INPUT, _usage(error)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return FAILED, f"{place}{error.strerror or error}."
    if isinstance(error, MemoryError):
        return FAILED, "there is not enough memory for this question."
    return FAILED, f"unexpected {type(error).__name__} in {_origin(error)}: {error}; please report this problem."


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


def say(text: str) -> None:
    """A result, on standard output; rules are drawn with hyphens where the terminal has no better character."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.replace("─", "-").encode(encoding, "replace").decode(encoding)
    typer.echo(text)


def say_json(data: Any) -> None:
    """The same as strict JSON, which has no infinity: such a number becomes null."""
    say(json.dumps(_finite(data), indent=1, allow_nan=False))


def say_either(result: Any, *, json: bool) -> None:
    """A result as JSON, or in words."""
    if json:
        say_json(result.to_dict())
    else:
        say(str(result))


def remark(text: str) -> None:
    """Something to know besides the result, on standard error."""
    typer.echo(text, err=True)


def check_places(**places: Path | None) -> None:
    """Refuse files that cannot be written, by the names of their options, before any work is done."""
    for name, path in places.items():
        if path is None:
            continue
        given = f"--{name.replace('_', '-')} is {path}"
        if name == "plot" and path.suffix.lower() not in _PICTURES:
            raise InvalidInputError(f"{given}; give a name that ends in {', '.join(_PICTURES)}.")
        if path.is_dir():
            raise InvalidInputError(f"{given}, a folder; give the name of a file.")
        if not path.parent.is_dir():
            raise InvalidInputError(f"{given}, but there is no folder {path.parent}; make it first.")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file in whatever goes wrong while it is written."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot be written ({error.strerror or error})", str(path)) from None


def keep(thing: Any, path: Path | None, what: str) -> None:
    """Write a mechanism or a report to a file, if one was named, and say so."""
    if path is not None:
        with writing(path):
            thing.save(path)
        remark(f"The {what} is in {path}.")


def draw(picture: Callable[[Path], Any], path: Path | None) -> None:
    """Draw a picture to a file, if one was named, and say so."""
    if path is not None:
        picture(path)
        remark(f"The picture is in {path}.")


def read_text(path: Path, option: str, largest: int) -> str:
    """The text of a file that is not larger than so many MiB."""
    try:
        return text_in(path, largest)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(f"{option} is {path}, which cannot be read: {reason}.") from None


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
