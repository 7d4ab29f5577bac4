"""From a question to ranked, certified candidates.

- scalar_pure, scalar_approximate: one number, purely private (also half-integers) or not
- two_fold: two-fold noise, on request
- plan: many releases of any of them, and what is said of them
- vector: several numbers, counts by bin
- bounded: answers in bounds
- choice: one of several candidates, and releases kept in bounds afterwards
- linear: linear questions under metric and ordinary privacy
- workload: linear questions about one table
"""
