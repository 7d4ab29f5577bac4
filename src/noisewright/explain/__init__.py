"""What a certified mechanism gives away and how good it is, told to people: sentences, no mathematics of their own.

- summary: half a page in plain words
- odds: what can be learnt, as odds
- errors: how large the error of each kind of mechanism will be
"""
