"""What differs between engines, one small file for each; everything else is written once, over Ibis.

- base: what an engine must offer
- duckdb: files, frames and DuckDB databases
- postgres: tables of a PostgreSQL server: connection, snapshot, SQL; beside it writing (expressions that cannot raise),
  arithmetic (doubles, and what else raises or differs there) and catalog (what the server is asked about its tables)
"""
