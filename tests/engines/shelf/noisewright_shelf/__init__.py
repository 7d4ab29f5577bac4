"""Shelf: tables of a folder, one Arrow file each.

- registration: how a shelf is known
- engine: how a table of it is opened and asked
"""
