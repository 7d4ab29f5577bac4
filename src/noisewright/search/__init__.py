"""Finding the best mechanism: a bug here may cost accuracy, never privacy.

- design, budget, saved: the doors
- designers: one for each kind of question and requirement: candidates, bound, remarks
- families: the best member of a family for a problem
- bounds: what nothing can beat
- programmes: linear and convex programmes
- tools: shares, partitions, units and the cache: no privacy
- report: ranking, tables, pictures
"""
