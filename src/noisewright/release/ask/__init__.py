"""What can be asked of a table, one file a question (`nw.ask`): groups, aggregates, the estimate with its interval.

- question, within, linear: what every question answers; bounds of answers; questions about the cells of a group
- estimates: from noisy integers to answers with intervals
- count, persons, sum, mean, variance, proportion: questions about rows and about the values of a column
- histogram, top, quantiles, workload: questions about bins, categories and cells
- weighted: weighted counts under metric privacy
- registry: finds every question, so that files and specs can name them
"""
