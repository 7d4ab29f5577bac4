"""What `design` returns and how it is shown.

- designer: proposals measured, certified, compared with the bound, ranked
- report: ranked candidates, the bound, and why the winner won
- shown: tables in text and HTML, the progress bar
- plots, workload_plots: pictures
"""
