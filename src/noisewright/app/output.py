"""What commands write: results on standard output, remarks on standard error, files where asked."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from noisewright.problem.errors import InvalidInputError

_PICTURES = (".png", ".pdf", ".svg")


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


def on_a_terminal() -> bool:
    """Whether a person is watching standard error."""
    return sys.stderr is not None and sys.stderr.isatty()


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
        if path.stat().st_size > largest * 2**20:
            raise InvalidInputError(f"{option} is {path}, which is larger than {largest} MiB.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InvalidInputError(f"{option} is {path}, which cannot be read: {reason}.") from None


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
