"""Finding the best mechanism: a bug here may cost accuracy, never privacy.

- design, designer: `design`, and what a designer is: proposals measured, certified, compared with the bound, ranked
- budget: `budget_for` and what it returns
- saved: reports in files
- designers: one for each kind of question and requirement: candidates, bound, remarks
- families: the best member of a family for a problem
- bounds: what nothing can beat
- programmes: linear and convex programmes
- golden_section, cache: one-dimensional search and how fine a lattice is; where solved programmes are kept
- report: printing: ranked candidates, sentences, tables, pictures
"""
