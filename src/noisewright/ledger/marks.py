"""The points between validation and answer, in their order: what must be true if the process ends at one of them."""

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


def reach(point: str) -> None:
    """Says that a point was reached. Nothing happens here; tests end the process at each."""
