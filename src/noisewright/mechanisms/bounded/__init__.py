"""Answers in bounds: one finite law of outputs for each true answer, and the worst of its errors.

- conditional: what they share, and laws as integer weights
- composite: a bump that moves with the answer on a base that stays
- truncated, clamped: noise cut off or gathered at the ends; noise whose clamped mean is right
- worst_cases, clamped_errors, clamped_sums: the worst errors over all true answers, between proven ends
- positions: many answers located between the inputs of a grid at once
"""
