"""Non-identical additive noise: the paper's six figures, its claims, and norm-shaped blocks beside them.

- curves: sensitivity profiles, and errors for them as closed forms
- claims: the claims one by one
- reproduction: figures and claims at once
"""
