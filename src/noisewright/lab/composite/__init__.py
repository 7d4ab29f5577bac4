"""The composite paper: bounded, unbiased answers.

- reproduction, claims: everything at once; the claims one by one, with the comparisons of Section 5.3
- parameters: height, width and base as the paper has them, and Tables 1 to 4
- data, errors, figures: columns, errors at the real answers, Figures 1 to 12
- own_shapes, columns: a person's own functions; several bounded columns at once
"""
