"""What differs between engines, a folder for each; everything else is written once, over Ibis.

- registry: how an engine is known before it is loaded, and whose a source is
- base, expressions: what an engine must offer; the expressions that engines have in common
- barrier: the scan barrier, where a table enters a query
- duckdb, postgres, spark: the engines
"""
