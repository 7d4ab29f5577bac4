"""How what `design` returns is shown.

- report: ranked candidates, the bound, and why the winner won
- render: how much better, in words; tables in text and HTML
- progress: the progress bar
- plots: pictures, and the figure that notebooks show
"""
