"""The last stage, the only one whose sensitivity is proven: from rows to one vector of integers.

- ranges, times, groupings: values as integers within bounds; bins; the groups of an answer
- aggregates: what is summed in every group: what it reads, what a row adds, how far one person moves it
- expressions, rows: columns as integers, by total expressions; rows to terms and groups, written once over Ibis
- contribution_bounding: which rows and groups of a person stay
- vector: the true aggregates of tables of answers, of listed and of unknown groups
"""
