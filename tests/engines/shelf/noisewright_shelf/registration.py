"""How a shelf is known: by addresses of its own, and by tables of Ibis on its backend."""

from __future__ import annotations

from noisewright.release.engines.registry import Registration

SHELF = Registration(
    name="shelf",
    title="a shelf",
    implementation="noisewright_shelf.engine:ShelfEngine",
    needs="tables of a shelf need pyarrow, which is not installed.",
    schemes=("shelf:",),
    addresses=('"shelf:/folder/table"',),
    troubles={"ShelfError": "the shelf cannot be reached: see that its folder is mounted"},
)
