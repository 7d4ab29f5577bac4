"""Linear and convex programmes: modelled, solved, and repaired to exact weights.

- approximate: one number with a delta
- bounded, layout, charges, feasible, repair: answers in bounds
- linear, pairs, block_descent: linear questions
"""
