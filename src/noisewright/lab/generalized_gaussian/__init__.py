"""The generalized-Gaussian paper: its figures, its three experiments and its claims, beside ours.

- reproduction, claims: everything at once; the claims one by one
- figures: Figures 1 to 5 from formulas, 6 to 12 over the whole grid
- counts, adult: histograms with noise; the histogram of people, and support vector machines
- named_rules: scales by the paper's own rules, as printed and corrected
- sensitivities, ranges: l_p sensitivities; noise that stays in a range
"""
