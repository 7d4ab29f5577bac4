"""The vocabulary, exact on construction: what is asked, what must be protected, what counts as good.

- queries, linear, workload: one number, several, counts by bin, choices; linear questions about a universe or a table
- sensitivity: every difference that one person can make, as a set
- privacy: requirements, and between which datasets they hold (adjacency)
- metrics, attributes, geometry: budgets for pairs of elements, finite or not
- utilities, divergences: what a utility is, and all of them
- errors, warnings: the tree of errors, and warnings
- untrusted: JSON that others wrote, within limits of size, depth and time
- records, fields, numbers, matrices: how data are declared, read, checked and saved

In the words of the literature: a *difference* that one person can make is one between neighbouring or adjacent
datasets, its largest size the sensitivity; a *metric* requirement is d_X-privacy, on places geo-indistinguishability.
"""
