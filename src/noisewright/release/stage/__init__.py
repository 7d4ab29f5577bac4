"""The last stage, the only one whose sensitivity is proven: from rows to one vector of integers.

- ranges, times, groupings: values as integers within bounds; bins of numbers and of times; the groups of an answer
- aggregates: what is summed in every group, and how far one person moves it
- rows: rows to terms and groups, written once over Ibis
- contribution_bounding: which rows and groups of a person stay
- vector: the true aggregates of a layout, of listed and of unknown groups
"""
