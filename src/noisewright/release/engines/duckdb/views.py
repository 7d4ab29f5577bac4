"""What a view of DuckDB is made of: the tables and files that its definition names, as DuckDB itself takes it apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot.errors import SqlglotError

from noisewright.release.table.names import folded

_FILES = {"read_parquet", "parquet_scan", "read_csv", "read_csv_auto", "read_text", "read_blob"} | {
    f"read_{kind}{how}" for kind in ("json", "ndjson", "json_objects", "ndjson_objects") for how in ("", "_auto")
}
_NOTHING = {"range", "generate_series", "unnest", "repeat"}
"""Functions that stand in place of a table: those that read the files they name, and those that read none."""
_RELATIONS = {"BASE_TABLE", "TABLE_FUNCTION", "SUBQUERY", "JOIN", "EXPRESSION_LIST", "EMPTY", "PIVOT"}
_SERIALIZED = "SELECT json_serialize_sql($1)"

Ask = Callable[..., list[tuple[Any, ...]]]
"""A question to DuckDB about itself, with what is given to it."""
Name = tuple[str | None, str | None, str]
"""Database, schema and table, as far as they are said."""


class UnsureError(Exception):
    """What a view is made of cannot be found out; the words say why."""


def parts_of(definition: str, ask: Ask) -> Iterator[tuple[Name | None, list[str]]]:
    """The tables, each with the names that it goes by, and the files that the definition of a view names.

    A table whose name is that of a part of the query itself may be either, and is given as both.
    """
    own = {folded(name) for (name,) in ask("SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal")}
    tree = json.loads(ask(_SERIALIZED, _query(definition))[0][0])
    if tree.get("error", True):
        raise UnsureError("its definition cannot be taken apart")
    within = {folded(str(one["key"])) for node in _nodes(tree) for one in (node.get("cte_map") or {}).get("map", [])}
    for node in _nodes(tree):
        if folded(str(node.get("function_name", ""))) in own:
            raise UnsureError(f"it calls {node['function_name']}, which somebody has defined")
        if "class" in node or "query_location" not in node or "sample" not in node:
            continue
        if node["type"] not in _RELATIONS:
            raise UnsureError("it reads what is neither a table nor a file")
        if node["type"] == "BASE_TABLE":
            name = (node["catalog_name"] or None, node["schema_name"] or None, str(node["table_name"]))
            yield name, ["within"] if name[:2] == (None, None) and folded(name[2]) in within else []
        if node["type"] == "TABLE_FUNCTION":
            yield None, _read_by(node["function"], ask)


def _query(definition: str) -> str:
    """What stands behind AS in the definition of a view."""
    try:
        tokens = sqlglot.tokenize(definition, dialect="duckdb")
    except SqlglotError:
        raise UnsureError("its definition cannot be taken apart") from None
    depth = 0
    for token in tokens:
        kind = token.token_type.name
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        if kind == "ALIAS" and depth == 0:
            return definition[token.end + 1 :]
    raise UnsureError("its definition cannot be taken apart")


def _nodes(tree: object) -> Iterator[dict[str, Any]]:
    """Everything that a tree of JSON is made of."""
    todo = [tree]
    while todo:
        one = todo.pop()
        todo += one.values() if isinstance(one, dict) else one if isinstance(one, list) else []
        if isinstance(one, dict):
            yield one


def _read_by(function: dict[str, Any], ask: Ask) -> list[str]:
    """The files that a function reads which stands in place of a table."""
    name = folded(str(function.get("function_name", "")))
    if name in _NOTHING:
        return []
    if name not in _FILES or not function.get("children"):
        raise UnsureError(f"it calls {name}, of which nobody knows what it reads")
    return [file for pattern in _texts(function["children"][0]) for file in files(pattern, ask)]


def _texts(argument: dict[str, Any]) -> Iterator[str]:
    """The constant texts of an argument, one or a list."""
    if argument.get("class") == "CONSTANT" and isinstance(argument["value"].get("value"), str):
        yield argument["value"]["value"]
    elif argument.get("function_name") == "list_value" or argument.get("type") == "ARRAY_CONSTRUCTOR":
        for one in argument["children"]:
            yield from _texts(one)
    else:
        raise UnsureError("it reads files whose names are computed")


def files(pattern: str, ask: Ask) -> list[str]:
    """The files that a text in a view means now; a relative path means others in every folder."""
    if not Path(pattern).is_absolute():
        raise UnsureError("it reads what it does not name by an absolute path")
    found = [str(name) for (name,) in ask("SELECT file FROM glob($1)", pattern)]
    if not found:
        raise UnsureError("it reads files that are not there")
    return found
