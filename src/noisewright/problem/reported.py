"""What can be handed over as a page: the one method of mechanisms, plans and ledgers that writes it."""

from __future__ import annotations

from pathlib import Path

from noisewright.door import write_page


class Reported:
    """Something with a page of its own."""

    __slots__ = ()

    def report(self, path: str | Path) -> None:
        """Write a page to hand over, one .html file with everything inside: promise, odds, proof, errors, cost.

        It has pictures, needs nothing from elsewhere and runs no script; it says how to verify what it holds.
        """
        write_page(self, path)
