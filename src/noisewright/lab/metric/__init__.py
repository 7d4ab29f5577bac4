"""Metric privacy for linear questions: the d_X paper.

- reproduction, claims: Figures 2 to 5 and the elevation query; what the paper says, beside what was found
- policies: Figure 1, Example 1, budgets by attribute and Blowfish policies
- data, pictures: universes; pictures
- printed: algorithms and shares of budgets as the paper has them
- meta, metropolis: from ordinary privacy to its metric counterpart; a random walk, of which nothing is proven
"""
