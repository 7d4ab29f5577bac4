"""Numerical tools of the search, without a word about privacy.

- shares, partition: splitting a budget, and numbers into blocks
- lattices: how fine a lattice is
- golden, cache: golden section; where solved programmes are kept
"""
