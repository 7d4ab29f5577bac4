"""A charge that was made: spent and durable, whatever comes of it; its answer or failure is written beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from types import TracebackType
from typing import Any

from noisewright.ledger.chain import canonical, digest_of
from noisewright.problem.errors import InvalidInputError, LedgerError

Note = Callable[["Charge", str, Mapping[str, Any]], int]
_LONGEST_ANSWER = 1 << 20
_DEEPEST_ANSWER = 32


class Charge:
    """What was charged: `place` is its row in the ledger, `digest` the row's digest, `label` what it was for.

    Guarantees: the charge was durable before this object existed; it stays if the body of a `with` raises or the
    process ends. There are no refunds. One answer or failure is written beside it, whichever comes first from
    whatever copy of it in whatever process.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = nw.Ledger.create(f"{folder.name}/clinic.ledger", budget=nw.PureDP(3))
    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> certified = nw.Certified(noise, nw.certify(noise, nw.PureDP(1)))
    >>> charge = ledger.charge(certified, reason="visits")
    >>> charge.place, charge.label, charge.rules
    (1, 'visits', ('pure',))
    >>> folder.cleanup()
    """

    __slots__ = ("_note", "_noted", "_process", "digest", "label", "place", "rules", "turn")

    def __init__(
        self, place: int, digest: str, label: str, rules: tuple[str, ...], note: Note, turn: int | None = None
    ) -> None:
        self.place, self.digest, self.label, self.rules = place, digest, label, rules
        # The row that lets this object write beside the charge: its own, or the last that it or who resumed it wrote.
        self.turn = place if turn is None else turn
        self._note, self._noted, self._process = note, False, os.getpid()

    def __repr__(self) -> str:
        return f"Charge(place={self.place}, label={self.label!r}, rules={self.rules!r})"

    def __enter__(self) -> Charge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # How a forked child leaves the body says nothing about what its parent does there.
        if kind is not None and not self._noted and self._process == os.getpid():
            # What the body raised is what the caller must see; only its kind is written, its words may be private.
            with suppress(LedgerError):
                self._write("failure", {"failure": kind.__name__})

    def answered(self, answer: Any) -> None:
        """Write the released answer beside the charge; it is public once released. Once only."""
        if self._noted:
            raise LedgerError(f"charge {self.place} has its answer or failure already; rows are never changed.")
        self._write("answer", {"answer": plain_answer(answer)})

    def drawing(self) -> None:
        """Write that from here on something may be drawn, so that nobody else finishes this charge.

        Guarantees: it is durable before this returns. Raises LedgerError if somebody else has resumed the charge (then
        it has the field `taken`), or it cannot be written; then nothing may be drawn here.
        """
        self.turn = self._note(self, "drawing", {})

    def failed(self, kind: str) -> None:
        """Write that it failed, and of what kind; nothing if that cannot be written, or somebody else has resumed it.

        Valid for: a caller that draws nothing for this charge from here on.
        """
        with suppress(LedgerError):
            self._write("failure", {"failure": kind})

    def _write(self, event: str, content: Mapping[str, Any]) -> None:
        self._note(self, event, content)
        self._noted = True


def plain_answer(answer: Any) -> Any:
    """A released answer as plain data, numbers as text; of a very long one only its digest.

    Raises InvalidInputError for one in which lists are nested so deep that others might not be able to read the row.
    """
    plain = _plain(answer, _DEEPEST_ANSWER)
    text = canonical({"answer": plain})
    return plain if len(text) <= _LONGEST_ANSWER else {"digest": digest_of(text), "characters": len(text)}


def is_whole(plain: Any) -> bool:
    """Whether an answer is there as a whole, and not by its digest alone."""
    return not isinstance(plain, Mapping)


def _plain(answer: Any, deepest: int) -> Any:
    if deepest < 0:
        raise InvalidInputError(
            f"lists in the answer are nested more than {_DEEPEST_ANSWER} deep; give it flatter. Nothing was written."
        )
    if answer is None or isinstance(answer, str):
        return answer
    if isinstance(answer, bool | int | float | Fraction):
        return str(answer)
    if isinstance(answer, Mapping):
        return [[_plain(key, deepest - 2), _plain(value, deepest - 2)] for key, value in answer.items()]
    if isinstance(answer, list | tuple):
        return [_plain(value, deepest - 1) for value in answer]
    for way in ("tolist", "to_numpy"):
        if hasattr(answer, way):
            return _plain(getattr(answer, way)(), deepest - 1)
    return repr(answer)
