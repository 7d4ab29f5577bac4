"""What differs between engines, one small file for each; everything else is written once, over Ibis.

- base, barrier: what an engine must offer; the scan barrier, where a table enters a query
- duckdb, duckdb_files, duckdb_views, functions: files, frames and DuckDB databases; how files and folders are
  read; what a view is made of; functions of DuckDB that Ibis does not have
- postgres, postgres_session, catalog: tables of a PostgreSQL server; its connection; what it says of its tables
- writing, arithmetic: PostgreSQL: expressions that cannot raise; doubles, and what else raises or differs there
- spark, spark_relations, spark_homes: tables of Spark; what a table is by its plan; a session of its own
- spark_reading, spark_writing: one state for each release, rehearsals and queries; expressions that cannot raise
- spark_options, spark_rows, spark_threads: what files are read with; what goes in and comes out; work that Ctrl-C ends
"""
