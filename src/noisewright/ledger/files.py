"""The files of a ledger that SQLite does not write: where they are, and the head beside the rows."""

from __future__ import annotations

import os
from pathlib import Path

from noisewright.ledger.chain import Head, canonical
from noisewright.problem.errors import InvalidInputError, LedgerDamagedError, LedgerError
from noisewright.problem.untrusted import plain_of, text_in

_ENDINGS = (".head", ".head.new", "-journal", "-wal", "-shm")
_LARGEST_HEAD = 1


def found_path(path: Path) -> Path:
    """The one path of a file, whatever links lead to it and wherever the process goes afterwards."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        raise InvalidInputError("url is no path that a file can have; give plain characters, without NUL.") from None


def require_own_name(path: Path) -> None:
    """Refuse a name that belongs to the files beside another ledger."""
    if path.name.endswith(_ENDINGS):
        raise InvalidInputError(
            f"{path.name} ends like a file beside another ledger ({', '.join(_ENDINGS)}); choose another name.",
            given=str(path),
        )


def require_no_head(path: Path, head: Path) -> None:
    """Refuse a new ledger where the head of one that was removed still is."""
    if head.exists() and not path.exists():
        raise LedgerError(
            f"{head} is the head of a ledger that is not there any more; a new file would be a new budget. Restore the"
            " ledger, or choose another name."
        )


def require_one_name(path: Path) -> None:
    """Refuse a file with a second name: each name would have its own journal and its own head."""
    if path.stat().st_nlink > 1:
        raise LedgerError(
            f"{path} has a second name (a hard link), under which its journal and its head would not be found."
            " Nothing was charged; remove the other name."
        )


def read_head(path: Path, ledger: Path) -> Head:
    """What the file beside a ledger says."""
    try:
        return Head.from_dict(plain_of(text_in(path, _LARGEST_HEAD)))
    except FileNotFoundError:
        raise LedgerDamagedError(
            f"{ledger} has no head file {path}: it was removed, or making the ledger was interrupted. It is not"
            " believed; if nothing was ever charged, remove the file and create it again."
        ) from None
    except (OSError, ValueError) as error:
        raise LedgerDamagedError(f"the head file {path} cannot be read ({type(error).__name__}).") from None


def write_head(path: Path, head: Head) -> None:
    """Replace a head file as a whole; durable when this returns. A link in the way is not followed."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666), "w", encoding="ascii") as file:
        file.write(canonical(head.to_dict()) + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    if os.name != "nt":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
