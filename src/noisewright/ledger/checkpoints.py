"""The points of a charge and of a release, in their order: what must be true if the process ends at one of them."""

from __future__ import annotations

POINTS = (
    "validated",  # nothing is written
    "locked",  # nothing is written; the lock ends with the process
    "decided",  # nothing is written
    "appended",  # the row is not committed: the store drops it
    "committed",  # the charge is spent; the head may be one row behind
    "settled",  # the charge is spent and the head knows it
    "drawn",  # the answer is drawn, and nobody has seen it
    "answered",  # the answer is beside the charge
)
RELEASE = (
    "begun",  # nothing is spent
    "rehearsed",  # nothing is spent
    "charged",  # the charge is spent; whoever asks the same plan finishes it
    "aggregated",  # as before: nothing is drawn
    "drawing",  # nobody else finishes the charge
    "drawn",  # the answer is drawn, and nobody has seen it
    "stored",  # the answer is beside the charge
)
"""The points of a release of a plan over a table."""


def passed(point: str) -> None:
    """Says that a point was reached. Nothing happens here; tests end the process at each."""
