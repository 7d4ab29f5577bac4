"""Everything that can go wrong, as one tree.

NoisewrightError
├── InvalidInputError (ValueError)      something a person typed
│   ├── InvalidNumberError              not a finite number where one is needed
│   ├── InvalidPrivacyError             a privacy requirement that cannot be meant
│   ├── InvalidQueryError               a query or its sensitivity
│   ├── InvalidUtilityError             a utility or its parameters
│   ├── InvalidLossError                a user's loss broke its promise where it was evaluated
│   ├── InvalidLawError                 parameters that do not make a probability law
│   ├── InvalidMechanismError           a law, a lattice and a query that do not fit together
│   ├── InvalidTableError               a table, column or type that cannot be read as asked
│   ├── NotPersonLocalError             a query in which one person's rows reach another person's
│   └── InvalidAnswerError              a true answer that cannot be released
├── UncertifiedError (ValueError)       the verifier could not prove the claim
│   └── EnclosureError (ArithmeticError) numbers too extreme for balls to enclose, so that nothing is proven
├── MechanismFileError (ValueError)     a saved mechanism that cannot be read or was edited
├── InfeasibleError (ValueError)        no mechanism whatever can do what was asked
├── UnreachableTargetError (ValueError) no epsilon in the allowed range reaches the target
├── BudgetExceeded (ValueError)         a charge that would pass the budget; it was not made
├── LedgerError (RuntimeError)          a ledger that cannot be read or written now
│   ├── LedgerExistsError               a ledger that was to be made and is there already
│   ├── LedgerClosedError               a budget that was closed, to which nothing can be charged
│   └── LedgerDamagedError              a ledger whose rows, chain or head are not what was written
├── EngineError (RuntimeError)          an engine that is away, or failed in the middle of a query
├── ReleaseFailedError (RuntimeError)   a release that was charged and then failed; nothing was released
├── StaleAnswerError (RuntimeError)     a stored answer that is older than the files, where such were to be refused
├── InconsistentError (RuntimeError)    two results that cannot both be true, so that neither is told
└── SolverError (RuntimeError)          a numerical solver gave no usable answer

Each error says what was given, what is allowed and what to do, and carries its data as fields.
"""

from __future__ import annotations

from functools import partial
from typing import Any


class NoisewrightError(Exception):
    """Root of every error raised on purpose by noisewright; keyword fields carry the data.

    >>> try:
    ...     nw.PureDP(-1)
    ... except nw.NoisewrightError as error:
    ...     print(type(error).__name__)
    InvalidPrivacyError
    """

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.message, **self.fields), ()


class InvalidInputError(NoisewrightError, ValueError):
    """Something a person typed is not allowed; nothing was spent."""


class InvalidNumberError(InvalidInputError):
    """Not a finite number where one is needed."""


class InvalidPrivacyError(InvalidInputError):
    """A privacy requirement that cannot be meant."""


class InvalidQueryError(InvalidInputError):
    """A query, or its sensitivity, that cannot be answered."""


class InvalidUtilityError(InvalidInputError):
    """A utility with impossible parameters."""


class InvalidLossError(InvalidInputError):
    """A user's loss function broke its promise at a point where it was evaluated."""


class InvalidLawError(InvalidInputError):
    """Parameters that do not make a probability law."""


class InvalidMechanismError(InvalidInputError):
    """A law, a lattice and a query that do not fit together."""


class InvalidTableError(InvalidInputError):
    """A table, a column or a type that cannot be read as it was asked; nothing was spent."""


class NotPersonLocalError(InvalidInputError):
    """A query in which one person's rows may reach what is counted for another; `operation` and `reason` say why."""


class InvalidAnswerError(InvalidInputError):
    """A true answer that cannot be put on the lattice."""


class UncertifiedError(NoisewrightError, ValueError):
    """The verifier could not prove the claim, so nothing may be drawn."""


class EnclosureError(UncertifiedError, ArithmeticError):
    """Numbers are so extreme that no finite ball encloses a result, so nothing is proven; use another unit or scale."""


class MechanismFileError(NoisewrightError, ValueError):
    """A saved mechanism that cannot be read, or whose content was changed."""


class InfeasibleError(NoisewrightError, ValueError):
    """No mechanism whatever can do what was asked; the nearest requests that can be met are named."""


class UnreachableTargetError(NoisewrightError, ValueError):
    """No epsilon in the allowed range reaches the target accuracy."""


class BudgetExceeded(NoisewrightError, ValueError):  # noqa: N818 -- the word people use for it
    """A charge would pass the budget; it was not made. Its fields: `requested`, `remaining`, `largest_epsilon`."""


class LedgerError(NoisewrightError, RuntimeError):
    """A ledger cannot be read or written; the message says whether anything was charged."""


class LedgerExistsError(LedgerError):
    """A ledger was to be made where one is already; nothing was changed."""


class LedgerClosedError(LedgerError):
    """A budget was closed: nothing is charged to it, and it is not raised."""


class LedgerDamagedError(LedgerError):
    """The rows, the chain or the head of a ledger are not what was written; nothing in it is believed."""


class ReleaseFailedError(NoisewrightError, RuntimeError):
    """A release failed after its charge, which stays; only the kind of what went wrong is told, never its words."""


class StaleAnswerError(NoisewrightError, RuntimeError):
    """A stored answer is older than the files that it is about, and such answers were to be refused."""


class EngineError(NoisewrightError, RuntimeError):
    """An engine that is away, or failed in a query; its own words are left out, because they may repeat values."""


class InconsistentError(NoisewrightError, RuntimeError):
    """Two results that cannot both be true, a fault of this library; neither is told. `value` and `bound` are both."""


class SolverError(NoisewrightError, RuntimeError):
    """A numerical solver gave no usable answer."""
