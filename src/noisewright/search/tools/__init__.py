"""Numerical tools of the search, without a word about privacy.

- shares: splitting a budget, and numbers into blocks
- golden, bracket, cache: golden section and how fine a lattice is; where a slow property turns; where solved programmes
  are kept
"""
