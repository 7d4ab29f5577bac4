"""What `design` returns and how it is shown.

- report, bounded_report, linear_report, vector_report: ranked candidates, the bound, and why the winner won
- ranking, tables, progress: order, text and HTML, the progress bar
- plots, bounded_plots, linear_plots, vector_plots: pictures
"""
