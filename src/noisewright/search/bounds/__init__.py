"""What no mechanism can beat, proven from dual solutions.

- pure, approximate, chain, two_fold: one number; in pure also choices
- vector, bounded: several numbers and linear questions, answers in bounds
- line: strategies for questions about a table or along a line, and every unbiased method
"""
