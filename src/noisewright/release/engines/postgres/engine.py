"""PostgreSQL: a table of a server, read only, one snapshot for each release; only aggregates leave the server.

What raises in PostgreSQL and is therefore never compiled as it is: casts of text that is no number or day, of numbers
that do not fit, and between truth values and numbers; doubles whose result is too large or too small (`arithmetic`).
`CASE` keeps an expression from being evaluated where its condition does not hold. Constants that are no whole numbers
would be decimals, so that each is written as a double. Texts of whatever type and collation are read as `text COLLATE
"C"`: equal are those of the same bytes. Tables are read behind a barrier: a condition is on a function of a
column, so that no index, constraint or partition is chosen by it, and none may be. Every name is looked up in
pg_catalog alone: tables are always written with their schema.

A connection is of one process, does one transaction at a time, and is made anew where it was lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlunsplit
from weakref import WeakSet, finalize

import ibis
import ibis.expr.operations as ops
import psycopg
import pyarrow as pa
import sqlglot.expressions as sge
from ibis.common.exceptions import IbisError, TableNotFound
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from sqlglot.transforms import eliminate_semi_and_anti_joins

from noisewright.ledger.stores import as_query, parts_of, without_password
from noisewright.problem.errors import EngineError, InvalidTableError
from noisewright.release.engines.barrier import behind_barrier, selection
from noisewright.release.engines.base import NOTHING_SPENT, Engine, Opened, Result, guarded
from noisewright.release.engines.postgres import arithmetic, catalog
from noisewright.release.engines.postgres.expressions import PostgresExpressions, listed, opaque, with_arrays
from noisewright.release.engines.registry import in_words
from noisewright.release.table.locations import Locations

if TYPE_CHECKING:
    import ibis.expr.types as ir
    from ibis.backends.postgres import Backend

_CONNECT = "10"
_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",  # named last, temporary tables hide nothing
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "extra_float_digits": "1",
    "client_encoding": "UTF8",  # what queries are written in
    "quote_all_identifiers": "off",  # types are known by their names
    "idle_in_transaction_session_timeout": "0",  # the ledger is asked meanwhile
    "constraint_exclusion": "off",  # nothing that is known of the values decides what is read
    "enable_partition_pruning": "off",
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "enable_bitmapscan": "off",
    "row_security": "off",  # a policy that would hide rows is an error
    "enable_mergejoin": "off",  # listed keys are few: sorting the table for them takes longer than all the rest
    "jit_optimize_above_cost": "100000",  # from a few million rows on, what is done with each is worth compiling well
}
_SESSIONS: WeakSet[Postgres] = WeakSet()
TIMEOUT = 3_600_000
"""Milliseconds that one query may take unless the address says otherwise with ?statement_timeout=..."""
_HASHING = 140_000
_LARGEST_TIMEOUT = 2**31 - 1
_LONGEST_NAME = 63
_WRONG = (
    "give postgresql://user@host:port/database/table or .../database/schema.table, with signs in names as %2F, %2E and"
    " so on, and the password in PGPASSWORD or a password file."
)


class Postgres(PostgresExpressions):
    """Tables of PostgreSQL through Ibis."""

    name = "postgres"
    in_process = False
    errors: tuple[type[Exception], ...] = (psycopg.Error, IbisError, TableNotFound)

    def __init__(self, backend: Backend, address: str | None = None, timeout: int = TIMEOUT) -> None:
        self.backend, self._address, self._timeout = backend, address, timeout
        self.steps = (0, 1)
        self._lock = vars(backend).setdefault("_noisewright_lock", RLock())
        self._inside, self._process = False, os.getpid()
        _SESSIONS.add(self)
        if self._one("SHOW server_encoding") != "UTF8":
            raise InvalidTableError(
                "the database does not hold its texts as UTF-8, so that bytes may mean other letters than elsewhere;"
                " copy the table into one that does. Nothing was spent."
            )

    @property
    def connection(self) -> Backend:
        return self.backend

    @classmethod
    def opened(cls, source: object, *, public: bool, beside: Engine | None) -> Opened:
        """The table of an address, or a table of Ibis with the schema of every table written out."""
        if not isinstance(source, str):
            table: ir.Table = source
            engine = cls.of(table.get_backend())
            return Opened(engine, guarded(engine, partial(engine.qualified, table), spent=NOTHING_SPENT))
        engine, schema, name, shown = cls.of_address(source, beside)
        found = guarded(engine, partial(engine.table, schema, name), spent=NOTHING_SPENT)
        return Opened(engine, found, shown, origin=source)

    @classmethod
    def of(cls, backend: Backend) -> Postgres:
        """The engine of a connection that was given."""
        problem = ""
        try:
            return cls(backend)
        except psycopg.Error as error:
            problem = type(error).__name__
        raise InvalidTableError(
            f"the connection of this Ibis table does not answer ({in_words(problem)}). Nothing was spent."
        )

    @classmethod
    def of_address(cls, url: str, beside: Engine | None = None) -> tuple[Postgres, str, str, str]:
        """The engine of an address, with the schema and name of its table and what is shown of it.

        A connection to the same database that is there already is used again.
        """
        address, schema, table, shown, timeout = split(url)
        if isinstance(beside, cls) and beside._address == address:
            return beside, schema, table, shown
        problem = ""
        try:
            return cls(backend_of(address), address, timeout), schema, table, shown
        except psycopg.Error as error:
            problem = type(error).__name__
        raise EngineError(
            f"{shown} cannot be opened ({problem}); see that the server runs, that the database and the user are there,"
            " and that the password is in PGPASSWORD or a password file. Nothing was spent.",
            engine=cls.name,
            problem=problem,
        )

    def table(self, schema: str, name: str) -> ir.Table:
        """A table or view of a schema."""
        if self.catalog("SELECT 1 FROM pg_class c WHERE c.oid = %(oid)s", schema, name) == []:
            seen = [f"{row[0]}.{row[1]}" for row in self.rows(catalog.TABLES)]
            raise InvalidTableError(
                f"there is no table {schema}.{name} in this database that this user sees; there are"
                f" {', '.join(seen) or 'none'}."
            )
        return self._opened(name, schema)

    def _opened(self, name: str, schema: str) -> ir.Table:
        """A table of a schema; its types are named as they are where it is checked."""
        problem = ""
        try:
            with self.snapshot():
                return self.backend.table(name, database=schema)
        except (ValueError, AttributeError, IbisError, TableNotFound) as error:  # a type that Ibis does not read
            problem = type(error).__name__
        for column, kind in self.catalog(catalog.TYPES, schema, name):
            if not self._reads(kind):
                raise InvalidTableError(
                    f"{column!r} of {schema}.{name} is of type {kind}, which is not read; make a table without that"
                    " column, or a view that is declared with local_views. Nothing was spent.",
                    column=column,
                )
        raise InvalidTableError(
            f"the table {schema}.{name} cannot be opened ({problem}): it was dropped meanwhile. Nothing was spent."
        )

    def _reads(self, kind: str) -> bool:
        """Whether Ibis knows what a type of PostgreSQL is."""
        try:
            self.backend.compiler.type_mapper.from_string(kind)
        except (ValueError, AttributeError, IbisError):
            return False
        return True

    def hold(self, tables: Collection[ops.DatabaseTable]) -> bool:
        # A table that is locked stays what it is: it cannot be renamed, and no view can take its name.
        if tables:
            names = [sql.Identifier(table.namespace.database, table.name) for table in tables]
            self.backend.con.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(sql.SQL(", ").join(names)))
        return True

    def qualified(self, table: ir.Table) -> ir.Table:
        """The same query with the schema of every table written out, as the session finds them now."""
        changed = {}
        for leaf in table.op().find(ops.DatabaseTable):
            if leaf.namespace.database is None:
                ((schema,),) = self.rows(catalog.SCHEMA, {"name": leaf.name}, local=False) or [(None,)]
                if schema is None:
                    raise InvalidTableError(f"there is no table {leaf.name!r} in this database.")
                changed[leaf] = self._opened(leaf.name, schema).op()
        return table.op().replace(changed).to_expr() if changed else table

    def known_as(self, name: str) -> str:
        # Names are told apart by their letters, of those that are not cut off.
        return name.encode()[:_LONGEST_NAME].decode(errors="ignore")

    def settled(self, query: ir.Table) -> ir.Table:
        return arithmetic.settled(query)

    def locations(self, table: ops.DatabaseTable) -> Locations:
        """A table and its parts, or what a view is made of, by their numbers; the server by what it says of itself.

        However the server is reached and by whomever: host, port, user and options of the address say nothing.
        """
        found = self.catalog(catalog.LOCATIONS, table.namespace.database, table.name)
        servers: set[tuple[str, ...]] = {("started", started, port) for _, _, started, port, _ in found}
        if self._one(catalog.MAY_SEE_CLUSTER):
            servers.add(("cluster", self._one(catalog.CLUSTER)))
        own = {(database, part) for part, database, *_ in found}
        unsure = next((f"of {table.name!r}, {why}" for *_, why in found if why), "" if found else "it is not there")
        return Locations(frozenset(("postgres", *server, *one) for server in servers for one in own), unsure=unsure)

    def is_view(self, table: ops.DatabaseTable) -> bool:
        return bool(self.catalog(catalog.NO_TABLE, table.namespace.database, table.name))

    def is_hidden(self, table: ops.DatabaseTable) -> bool:
        return False  # every table is written with its schema

    def replaced_functions(self) -> list[str]:
        return [str(row[0]) for row in self.rows(catalog.REPLACED)]

    def has_collation(self, table: ops.DatabaseTable) -> bool:
        return bool(self.catalog(catalog.COLLATED, table.namespace.database, table.name))

    def why_unsound(self, table: ops.DatabaseTable) -> str | None:
        """Row-level security, columns computed at reading, and columns that changed since the dataset was made."""
        schema, name = table.namespace.database, table.name
        if self.catalog(catalog.SECURED, schema, name):
            return "hides rows by row-level security, so that answers depend on the user; ask as its owner"
        if self.catalog(catalog.VIRTUAL, schema, name):
            return "has a generated column that is computed when it is read, and may fail there; make it STORED"
        with self.snapshot():
            found = self.backend.get_schema(name, database=schema)
        if not _alike(found, table.schema):
            return "has other columns or types than when the dataset was made; make it anew"
        return None

    def catalog(self, query: str, schema: str, name: str) -> list[tuple[Any, ...]]:
        """What a query about one table of the database gives."""
        found = self.rows(catalog.OID, {"schema": schema, "name": name})
        return self.rows(query, {"oid": found[0][0]}) if found else []

    def _one(self, query: str) -> Any:
        return self.rows(query)[0][0]

    def among(self, column: ir.Value, kind: str, values: Collection[Any]) -> ir.Value | None:
        # Older servers compare with the values of an array one after the other.
        return super().among(column, kind, values) if self.backend.con.info.server_version >= _HASHING else None

    def small_table(self, columns: Mapping[str, Any]) -> ir.Table:
        # A read-only session makes no tables: one constant for each column, taken apart by the server.
        data = pa.table(dict(columns))
        return ops.SQLQueryResult(
            query=listed(data), schema=ibis.Schema.from_pyarrow(data.schema), source=self.backend
        ).to_expr()

    def fetch(self, expression: ir.Expr) -> pa.Table:
        schema = expression.as_table().schema()
        query = written(self.backend, expression)
        with self.snapshot(), self.backend.con.cursor() as cursor:
            rows = cursor.execute(query.encode()).fetchall()
        kinds = schema.to_pyarrow()
        return pa.table([pa.array([row[i] for row in rows], one.type) for i, one in enumerate(kinds)], schema=kinds)

    def run(self, work: Callable[[], Result]) -> Result:
        return work()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One transaction, which reads one state of the database and writes nothing."""
        with self._lock:
            if self._inside:
                yield
                return
            self._ready()
            settings = {**_SETTINGS, "statement_timeout": str(self._timeout)}
            words = "; ".join(f"SET LOCAL {name} = {_value(name, value)}" for name, value in settings.items())
            with self._begun(f"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; {words}"):
                yield

    def rows(self, query: str, given: Mapping[str, Any] | None = None, *, local: bool = True) -> list[tuple[Any, ...]]:
        """What a query gives; unless `local`, by the settings that the session has by itself."""
        with self._lock, self.snapshot() if local else nullcontext(), self.backend.con.cursor() as cursor:
            found: list[tuple[Any, ...]] = cursor.execute(query.encode(), given).fetchall()
        return found

    @contextmanager
    def _begun(self, words: str) -> Iterator[None]:
        try:
            self._inside = True
            self._begin(words)
            yield
            self.backend.con.execute("COMMIT")
        except BaseException:
            self._undo()
            raise
        finally:
            self._inside = False

    def _undo(self) -> None:
        """Roll back. Ctrl-C amid a question may leave a connection that takes no more words: its locks end with it."""
        with ExitStack() as otherwise, suppress(psycopg.Error):
            otherwise.callback(self.backend.con.close)
            self.backend.con.execute("ROLLBACK")
            otherwise.pop_all()

    def _begin(self, words: str) -> None:
        """Begin a transaction. That a connection was lost while nobody used it shows here, and it is made anew."""
        try:
            self.backend.con.execute(words)
        except psycopg.OperationalError:
            if self._address is None:
                raise
            self.backend.con.close()
            self._ready()
            self.backend.con.execute(words)

    def _ready(self) -> None:
        """A connection of this process without a transaction; it is made anew where the address is known.

        What a parent process asked is never answered to its child, nor the other way round: a forked child does
        not touch the connection of its parent, and does not close it either.
        """
        connection, forked = self.backend.con, self._process != os.getpid()
        if forked and self._address is None:
            raise InvalidTableError(
                "the connection of this Ibis table was made in another process, which this one was forked from; connect"
                " here, and make the dataset anew. Nothing was spent."
            )
        if self._address is not None and (forked or connection.closed):
            self.backend.con = connection = connected(self._address, self.backend)
            self._process = os.getpid()
        if connection.closed:
            raise psycopg.InterfaceError("the connection that was given is closed")
        if not connection.autocommit or connection.info.transaction_status != TransactionStatus.IDLE:
            raise InvalidTableError(
                "the connection of this Ibis table has a transaction of its own, or begins one by itself; end it, or"
                " connect with autocommit, so that each release sees one state of the database. Nothing was spent."
            )

    def after_fork(self) -> None:
        """In a forked child no other thread holds the lock, whoever held it in the parent."""
        self._lock = vars(self.backend)["_noisewright_lock"] = RLock()
        self._inside = False


def backend_of(address: str) -> Backend:
    """A backend of Ibis with a connection of its own."""
    connection = connected(address)
    backend = ibis.postgres.from_connection(connection)
    finalize(backend, _close, connection, os.getpid())
    return backend


def connected(address: str, backend: Backend | None = None) -> psycopg.Connection:
    """A new connection that only reads; it ends with the backend."""
    given = conninfo_to_dict(address)
    read_only = "-c default_transaction_read_only=on"
    connection = psycopg.connect(
        address,
        autocommit=True,
        client_encoding="UTF8",
        options=f"{given['options']} {read_only}" if given.get("options") else read_only,
        connect_timeout=given.get("connect_timeout") or os.environ.get("PGCONNECT_TIMEOUT", _CONNECT),
        application_name=str(given.get("application_name") or "noisewright"),
    )
    if backend is not None:
        finalize(backend, _close, connection, os.getpid())
    return connection


def _close(connection: psycopg.Connection, process: int) -> None:
    """Closing tells the server, so that only the process that connected may."""
    if process == os.getpid():
        connection.close()


def _value(name: str, value: str) -> str:
    """A setting as SQL; a search path is a list of names."""
    return value if name == "search_path" else f"'{value}'"


def _after_fork() -> None:
    for session in list(_SESSIONS):
        session.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _alike(one: ibis.Schema, other: ibis.Schema) -> bool:
    """Whether two schemas are the same; types that Ibis does not know have other names by another search path."""
    both = zip(one.values(), other.values(), strict=False)
    return one.names == other.names and all(a == b or (a.is_unknown() and b.is_unknown()) for a, b in both)


def split(url: str) -> tuple[str, str, str, str, int]:
    """The address of the database, the schema and name of the table, what is shown, and milliseconds for a query."""
    parts = parts_of(url)
    path = parts.path.split("/")
    if len(path) != 3 or not path[1] or not path[2]:
        raise InvalidTableError(f"the address names no table of a database; {_WRONG}")
    schema, dot, name = path[2].partition(".")
    schema, name = (unquote(schema), unquote(name)) if dot else ("public", unquote(schema))
    if not schema or not name or "\0" in schema + name or "." in path[2].partition(".")[2]:
        raise InvalidTableError(f"the address names no table of a database; {_WRONG}")
    if max(len(one.encode()) for one in (schema, name)) > _LONGEST_NAME:
        raise InvalidTableError(
            f"a name in the address is longer than {_LONGEST_NAME} bytes, at which it would be cut."
        )
    pairs = parse_qsl(parts.query)
    given = [value for key, value in pairs if key == "statement_timeout"]
    timeout = given[0] if given else str(TIMEOUT)
    if not timeout.isdecimal() or not 0 < int(timeout) <= _LARGEST_TIMEOUT:
        raise InvalidTableError(
            f"statement_timeout is {timeout[:20]!r}; give whole milliseconds, such as ?statement_timeout=60000."
        )
    rest = as_query([(key, value) for key, value in pairs if key != "statement_timeout"])
    address = urlunsplit(parts._replace(path=f"/{path[1]}", query=rest))
    return address, schema, name, without_password(urlunsplit(parts._replace(query=rest))), int(timeout)


def written(backend: Backend, expression: ir.Expr) -> str:
    """The query as SQL: doubles written as doubles, texts and hashes compared by bytes, listed keys as arrays."""
    tree = with_arrays(behind_barrier(expression, backend, partial(selection, read=opaque)))
    for select in reversed(list(tree.find_all(sge.Select))):
        # PostgreSQL has no semi joins; of several in a row the rule passes over every second one.
        for _ in list(select.args.get("joins") or []):
            eliminate_semi_and_anti_joins(select)
    for node in list(tree.find_all(sge.Literal)):
        if not node.is_string and not node.this.isdecimal():
            node.replace(sge.cast(sge.Literal.string(node.this), "double precision", dialect="postgres"))
    for hashed in list(tree.find_all(sge.MD5)):
        collation = sge.to_identifier("C", quoted=True)
        hashed.replace(sge.Paren(this=sge.Collate(this=hashed.copy(), expression=collation)))
    return str(tree.sql("postgres"))
