"""How PostgreSQL is known: by the addresses of its servers."""

from __future__ import annotations

from noisewright.ledger.stores import without_password
from noisewright.release.engines.registry import Registration

_LOST = "the connection was lost: see that the server runs and can be reached"

POSTGRES = Registration(
    name="postgres",
    title="PostgreSQL",
    implementation="noisewright.release.engines.postgres.engine:Postgres",
    needs="tables of PostgreSQL need psycopg, which is not installed: pip install 'noisewright[tables,postgres]'.",
    schemes=("postgresql://", "postgres://"),
    addresses=('"postgresql://user@host/database/table"',),
    shown=without_password,
    troubles={
        "AdminShutdown": "the server ended the connection: it was stopped, or somebody ended it",
        "CannotConnectNow": "the server is starting or stopping",
        "ConnectionTimeout": _LOST,
        "CrashShutdown": "the server ended all connections, because it was stopped at once or crashed",
        "InterfaceError": "the connection that was given is closed: connect again, and make the dataset anew",
        "OperationalError": _LOST,
        "QueryCanceled": "somebody stopped the query, or it took longer than statement_timeout",
    },
    answered=frozenset({"QueryCanceled"}),
)
