"""What will be spent and the errors to expect: the outputs as one vector, the mechanisms that answer it, and `Plan`.

- layout: all outputs as one vector, and the set of differences of one person; what a strategy of answering is
- strategies, arranging: how the aggregates of a table are answered; from questions to tables and their strategies
- noise: the mechanisms of a plan: their price together, the draw, how far each number is from the truth
- shares, splitting, design: the requirement shared among tables, or between the choice of groups and the rest; the best
- targets, smallest_budget: half-widths or budgets by output; the least epsilon that reaches targets
- expected_errors: the errors to expect, beside those of plain noise
- plan: `Plan`, printed, saved, proven when it is read
"""
