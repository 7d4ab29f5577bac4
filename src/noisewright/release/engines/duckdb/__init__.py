"""DuckDB, in this process: files, frames in memory and database files.

- registration: its files, frames and database files
- engine: the connection, its settings and its queries
- files, columns: which files and columns are meant and read, and by what fixed rules
- views: what a view is made of
- functions: functions of DuckDB that Ibis does not have
"""
