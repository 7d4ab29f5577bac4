"""What can be asked of a table, one file a question (`nw.ask`).

- question: what every question answers; counts, sums, means and variances
- histogram, top, quantiles, workload, weighted: the other questions
- estimates: from noisy integers to answers with intervals
- registry: every kind of question
"""
