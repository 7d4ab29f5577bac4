"""Linear questions about a histogram, under metric privacy and else.

- noise: integer columns, and integer noise on their sums
- errors: what it costs, and half-widths
- synthetic: the exponential mechanism, SmallDB and MWEM over histograms
"""
