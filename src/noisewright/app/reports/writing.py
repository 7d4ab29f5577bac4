"""The page of whatever is asked for, written to a file; `noisewright.door` brings it to the objects' own methods."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any

from noisewright.app.reports.blocks import Page
from noisewright.app.reports.designs import design_page, mechanism_page
from noisewright.app.reports.embedded import checked
from noisewright.app.reports.ledgers import ledger_page
from noisewright.ledger.ledger import Ledger
from noisewright.problem.errors import InvalidInputError
from noisewright.sample.certified import Certified
from noisewright.search.report.report import Report


@singledispatch
def page_of(thing: Any, name: str) -> Page:
    """The page of a thing that will be in a file of this name."""
    from noisewright.app.reports.plans import plan_page  # which needs what reads tables

    return plan_page(thing, name)


page_of.register(Report)(design_page)
page_of.register(Certified)(mechanism_page)
page_of.register(Ledger)(ledger_page)


def write(thing: Any, path: str | Path) -> None:
    """Write the page of a report, a mechanism, a plan or a ledger; refuses names that a browser would not open."""
    place = checked(path)
    text = page_of(thing, place.name).html()
    try:
        place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"the report cannot be written to {place}: {error.strerror or error}.") from None
