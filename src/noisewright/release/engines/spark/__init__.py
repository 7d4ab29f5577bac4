"""Spark: tables and Parquet files of a cluster.

- registration: its addresses, frames and errors
- engine: queries over one state of the files, rehearsed before the charge
- sessions: a session beside the given one, its settings, and what its tables share
- scans: what a table is by its plan, and with which options its files are read
- expressions: expressions that cannot raise, and how they are written
- rows: what goes into Spark and what comes out of it
"""
