"""What PostgreSQL is asked about its own tables: constants, so that nothing is put together from names.

A plain table, or one of partitions, is the union of the rows of its parts. Everything else, and a part that is a
foreign table, may be anything.
"""

from __future__ import annotations

OID = (
    "SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = %(schema)s AND c.relname = %(name)s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
)
SCHEMA = (
    "SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.oid = pg_catalog.to_regclass(pg_catalog.quote_ident(%(name)s))"
)
TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables"
    " WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2 LIMIT 20"
)
_FAMILY = (
    "WITH RECURSIVE family(oid) AS (SELECT %(oid)s::oid UNION SELECT i.inhrelid FROM pg_inherits i"
    " JOIN family f ON i.inhparent = f.oid)"
)
_RULE = "pg_rewrite r WHERE r.ev_class = {} AND r.ev_type = '1'"
"""What a view is made of is written down as a rule: the numbers of tables and functions stand in its text."""
LOCATIONS = (
    "WITH RECURSIVE made(oid) AS (SELECT %(oid)s::oid UNION SELECT part.oid FROM made m CROSS JOIN LATERAL"
    " (SELECT i.inhrelid AS oid FROM pg_inherits i WHERE i.inhparent = m.oid UNION ALL SELECT (regexp_matches("
    f"r.ev_action::text, ':relid ([0-9]+)', 'g'))[1]::oid FROM {_RULE.format('m.oid')}) part WHERE part.oid <> 0)"
    " SELECT m.oid::text, d.oid::text, pg_postmaster_start_time()::text, current_setting('port'),"
    " CASE WHEN m.oid < 16384 OR c.oid IS NULL THEN 'it reads what the server knows of other tables'"
    " WHEN c.relkind NOT IN ('r', 'p', 'v', 'm') THEN 'it reads a foreign table, or what is no table'"
    " WHEN EXISTS (SELECT 1 FROM (SELECT (regexp_matches(r.ev_action::text,"
    " ':(?:funcid|opfuncid|aggfnoid|winfnoid) ([0-9]+)', 'g'))[1]::oid AS oid"
    f" FROM {_RULE.format('m.oid')}) called LEFT JOIN pg_proc p ON p.oid = called.oid WHERE called.oid <> 0"
    " AND (called.oid >= 16384 OR p.provolatile IS DISTINCT FROM 'i'))"
    " THEN 'it is a view that calls a function which may read any table' ELSE '' END"
    " FROM made m LEFT JOIN pg_class c ON c.oid = m.oid, pg_database d WHERE d.datname = current_database()"
)
"""A table with its parts, or a view with all that it is made of, the database, what tells one running server from all
others, whoever asks, and why more may be read. Functions of the server that depend on nothing else read no table."""
MAY_SEE_CLUSTER = "SELECT has_function_privilege('pg_control_system()', 'execute')"
CLUSTER = "SELECT system_identifier::text FROM pg_control_system()"
"""What a server keeps when it is started anew, and shares with its replicas."""
TYPES = (
    "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %(oid)s AND attnum > 0"
    " AND NOT attisdropped ORDER BY attnum"
)
NO_TABLE = (
    f"{_FAMILY} SELECT 1 FROM family f JOIN pg_class c ON c.oid = f.oid WHERE c.relkind NOT IN ('r', 'p') LIMIT 1"
)
COLLATED = (
    "SELECT 1 FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
    " LEFT JOIN pg_collation l ON l.oid = a.attcollation"
    " WHERE a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped"
    " AND (l.collisdeterministic IS FALSE OR t.typname = 'citext') LIMIT 1"
)
"""Types that compare texts in their own way are not of pg_catalog; citext is the one that looks like text."""
SECURED = "SELECT 1 WHERE row_security_active(%(oid)s::oid)"
VIRTUAL = "SELECT 1 FROM pg_attribute WHERE attrelid = %(oid)s AND attgenerated = 'v' AND NOT attisdropped LIMIT 1"
REPLACED = """
SELECT name FROM (
  SELECT p.proname::text AS name FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.oid >= 16384
    AND EXISTS (SELECT 1 FROM pg_proc q WHERE q.proname = p.proname AND q.oid < 16384)
  UNION ALL
  SELECT o.oprname::text FROM pg_operator o WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oid >= 16384
  UNION ALL
  SELECT 'cast ' || format_type(c.castsource, NULL) || ' to ' || format_type(c.casttarget, NULL) FROM pg_cast c
    WHERE c.oid >= 16384 AND c.castsource < 16384 AND c.casttarget < 16384
) found ORDER BY name LIMIT 20
"""
"""What has a number from 16384 on was made after the database: functions, operators and casts of others."""
