"""Linear and convex programmes: modelled, solved, and repaired to exact weights.

- approximate: one number with a delta
- bounded, layout, feasible, repair: answers in bounds
- linear, pairs: linear questions
- strategy, pure_strategy: workloads
"""
