"""How the numbers of a table are answered.

- by_group: group by group
- in_bounds: group by group, within bounds and right on average
- over_cells: the cells of a group together, by a strategy
- selection: groups that are chosen privately, and what is answered about those
"""
