"""The scan barrier: the one place at which a table enters a query, on every engine.

Engines plan by what they know of the values that are there: least and greatest values, dictionaries, Bloom filters,
filters of joins, partitions. All of that is about other persons, and some of it is wrong: the extremes that Parquet
files have of a column leave NaN out, and a Bloom filter tells 0.0 from -0.0. So no query reads a table by its name.
Each table is read by a selection of its own, in which every column, private or public, stands inside an expression of
its row that no optimiser sees through; whatever is asked, is asked of that expression. `tests/engines/falsifier` tries
whether it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import ibis.expr.operations as ops
import sqlglot.expressions as sge

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir
    from ibis.backends.sql import SQLBackend

_STANDS_FOR = "noisewright_scan_"


def behind_barrier(
    expression: ir.Expr, backend: SQLBackend, scan: Callable[[ops.PhysicalTable], sge.Expression]
) -> sge.Expression:
    """A query of Ibis as a tree of sqlglot in which every table is what `scan` selects from it.

    Tables get names of their own before the query is written: one that is called like a part of the query would
    otherwise be taken for it.
    """
    query = expression.as_table().op()
    leaves = {f"{_STANDS_FOR}{place}": leaf for place, leaf in enumerate(query.find(ops.PhysicalTable))}
    named = {
        leaf: ops.DatabaseTable(name=name, schema=leaf.schema, source=backend, namespace=ops.Namespace())
        for name, leaf in leaves.items()
    }
    tree: sge.Expression = backend.compiler.to_sqlglot(query.replace(named).to_expr())
    tree = tree.copy()  # Ibis puts one table into several places
    for node in list(tree.find_all(sge.Table)):
        if node.name in leaves:
            node.replace(sge.Subquery(this=scan(leaves[node.name]), alias=node.args.get("alias")))
    return tree


def selection(leaf: ops.PhysicalTable, read: Callable[[str, dt.DataType], sge.Expression]) -> sge.Select:
    """A selection of every column of a table under its own name, each as `read` has it by name and type."""
    columns = [sge.alias_(read(name, kind), name, quoted=True) for name, kind in leaf.schema.items()]
    return sge.select(*columns).from_(_address(leaf))


def _address(leaf: ops.PhysicalTable) -> sge.Expression:
    """A table as it is called in its database."""
    space = getattr(leaf, "namespace", None) or ops.Namespace()
    catalog, database = (part and sge.to_identifier(part, quoted=True) for part in (space.catalog, space.database))
    return sge.Table(this=sge.to_identifier(leaf.name, quoted=True), db=database, catalog=catalog)


def column(name: str) -> sge.Column:
    """A column by its name as it is."""
    return sge.column(sge.to_identifier(name, quoted=True))
