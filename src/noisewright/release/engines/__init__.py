"""What differs between engines, one small file for each; everything else is written once, over Ibis.

- base: what an engine must offer
- duckdb: files, frames and DuckDB databases
"""
