"""What no mechanism can beat, proven from dual solutions.

- pure, approximate, chain, two_fold: one number
- vector, bounded, linear, choice: several numbers, answers in bounds, linear questions, choices
"""
