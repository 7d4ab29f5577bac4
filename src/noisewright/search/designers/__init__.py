"""From a question to ranked, certified candidates.

- scalar_pure, scalar_approximate: one number, purely private or under any other requirement
- halves, two_fold, plan: half-integers, two-fold noise, many releases
- vector, histogram: several numbers, counts by bin
- bounded: answers in bounds
- choice: one of several candidates
- linear: linear questions under metric and ordinary privacy
- scalar_budget: what a target costs for one number under pure privacy
- workload: linear questions about one table
"""
