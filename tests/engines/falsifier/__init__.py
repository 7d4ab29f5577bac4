"""The falsifier of the table side: the answer over a table is the union over persons of the answers over each alone.

- worlds: tables of hostile values, in which nearly everybody has the same and one person something else
- queries: random queries that may stand before a private answer
- forms: the same rows as files, frames and tables of each kind, written by each writer
- hunting: a query over the whole table and over each person's rows alone, compared; what differs is told
"""
