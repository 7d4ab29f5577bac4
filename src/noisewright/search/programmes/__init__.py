"""Linear and convex programmes: modelled, solved, and repaired to exact weights.

- approximate: one number with a delta
- convex: several numbers
- bounded, layout, feasible, repair, memory: answers in bounds
- linear, pairs, block_descent: linear questions
"""
