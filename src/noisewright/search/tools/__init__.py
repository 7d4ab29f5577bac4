"""Numerical tools of the search, without a word about privacy.

- shares: splitting a budget, and numbers into blocks
- golden: golden section, how fine a lattice is, where a slow property turns
- cache: where solved programmes are kept
"""
