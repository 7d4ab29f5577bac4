"""Linear and convex programmes: modelled, solved, and repaired to exact weights.

- approximate: one number with a delta
- bounded, layout, feasible: answers in bounds
- linear, pairs: linear questions
- strategy: workloads
"""
