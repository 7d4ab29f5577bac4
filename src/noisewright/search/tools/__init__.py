"""Numerical tools of the search, without a word about privacy.

- shares, partition: splitting a budget, and numbers into blocks
- scaling, cache: units of the sensitivity; where solved programmes are kept
"""
