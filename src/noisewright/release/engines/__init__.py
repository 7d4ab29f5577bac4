"""What differs between engines, one small file for each; everything else is written once, over Ibis.

- base: what an engine must offer
- duckdb, functions: files, frames and DuckDB databases; functions of DuckDB that Ibis does not have
- postgres, catalog: tables of a PostgreSQL server: connection, snapshot, SQL; what it is asked about its tables
- writing, arithmetic: PostgreSQL: expressions that cannot raise; doubles, and what else raises or differs there
- spark, spark_relations, spark_writing: tables of Spark: one state for each release; a session of its own, and what a
  table is by its plan; expressions that cannot raise, and their SQL
- spark_options, spark_rows, spark_threads: what files are read with; what goes in and comes out; work that Ctrl-C ends
"""
