"""What no mechanism can beat, proven from dual solutions.

- pure, approximate, chain: one number; in pure also choices
- vector, bounded: several numbers and linear questions, answers in bounds
- line, unbiased: strategies for questions about a table or along a line, and every unbiased method
"""
