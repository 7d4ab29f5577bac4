"""What `design` returns and how it is shown.

- designer: proposals measured, certified, compared with the bound, ranked
- budget: what `budget_for` returns
- report: ranked candidates, the bound, and why the winner won
- words: how much better, in words; numbers whose errors should not be added up without weights
- shown: tables in text and HTML, the progress bar
- plots: pictures, and the figure that notebooks show
"""
