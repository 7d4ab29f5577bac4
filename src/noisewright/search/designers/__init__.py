"""From a question to ranked, certified candidates.

- scalar_pure, scalar_approximate, scalar_concentrated: one number
- halves, two_fold, plan: half-integers, two-fold noise, many releases
- vector: several numbers
- bounded, columns: answers in bounds, one or several
- choice: one of several candidates
- linear: linear questions under metric privacy
"""
