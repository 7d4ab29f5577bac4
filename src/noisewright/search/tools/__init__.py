"""Numerical tools of the search, without a word about privacy.

- shares: splitting a budget, and numbers into blocks
- golden: golden section, and how fine a lattice is
- cache: where solved programmes are kept
"""
