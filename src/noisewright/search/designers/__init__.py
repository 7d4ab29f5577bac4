"""From a question to ranked, certified candidates.

- scalar_pure, scalar_approximate: one number, purely private (and what a target costs there) or not
- halves, two_fold, plan: half-integers, two-fold noise, many releases
- vector: several numbers, counts by bin
- bounded: answers in bounds
- choice: one of several candidates, and releases kept in bounds afterwards
- linear: linear questions under metric and ordinary privacy
- workload: linear questions about one table
"""
