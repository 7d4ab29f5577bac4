"""PostgreSQL: tables of a server.

- registration: its addresses and errors
- engine: the connection, its settings and its queries
- catalog: what the server is asked about its own tables
- expressions, arithmetic: expressions that cannot raise; doubles, and what else raises or differs there
"""
