"""How the aggregates of a table are answered; a question names its strategy, and `plan.arranging` finds it.

- by_group: group by group, a box of numbers in each
- in_bounds: group by group, within bounds and right on average
- over_cells: the cells of a group together, by a strategy of linear questions
- by_weights: weighted counts under metric privacy, all at once
- selection: groups that are chosen privately, and what is answered about those
"""
