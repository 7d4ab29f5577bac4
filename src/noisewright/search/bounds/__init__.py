"""What no mechanism can beat, proven from dual solutions.

- pure, approximate, chain, two_fold: one number
- vector, bounded, linear: several numbers, answers in bounds, linear questions
"""
