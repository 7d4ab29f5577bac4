"""The vocabulary, exact at birth: what is asked, what must be protected, what counts as good.

- queries, histogram, linear, workload: one number, several, counts by bin, linear questions about a universe or a
  table, choices
- question_names: what the questions of a workload are called
- sensitivity: every difference that one person can make, as a set
- privacy, neighbours: requirements, and between which datasets they hold
- metrics, attributes, geometry, budgets: budgets for pairs of elements, finite or not
- utility, utilities, divergences: what a utility is, and all of them
- errors, remarks: the tree of errors, and warnings
- plain, deadlines: JSON that others wrote, within limits of size, depth and time
- records, fields, numbers, matrices, reported: how data are declared, read, checked, saved and handed over

In the words of the literature: a *difference* that one person can make is one between neighbouring or adjacent
datasets, its largest size the sensitivity; a *metric* requirement is d_X-privacy, on places geo-indistinguishability.
"""
