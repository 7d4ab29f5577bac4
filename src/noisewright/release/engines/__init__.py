"""What differs between engines, a folder for each; everything else is written once, over Ibis.

- base: what an engine must offer, and what those that are here share
- barrier: the scan barrier, where a table enters a query
- duckdb, postgres, spark: the engines
"""
