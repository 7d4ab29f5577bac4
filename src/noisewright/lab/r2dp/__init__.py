"""R2DP: two-fold noise.

- reproduction: its figures 3 to 9 and 11, its tables 1 to 4, and its claims
- claims, curves: the claims one by one; utilities over epsilon
- tables: Tables 1 to 4, Table 3 with strategies for workloads
- classification, data: naive Bayes with each kind of noise; what it all runs on
"""
