"""Linear and convex programmes: modelled, solved, and repaired to exact weights.

- approximate: one number with a delta
- bounded, layout: answers in bounds
- linear: linear questions
- strategy: workloads
"""
