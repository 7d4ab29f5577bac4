"""Numerical tools of the search, without a word about privacy.

- shares: splitting a budget, and numbers into blocks
- golden, cache: golden section and how fine a lattice is; where solved programmes are kept
"""
