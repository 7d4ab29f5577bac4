"""What will be spent and the errors to expect: the outputs as one vector, the mechanisms that answer it, and `Plan`.

- layout: all outputs as one vector and the set of differences of one person
- strategies: how the numbers of a table are answered
- design, splitting: which mechanism answers which numbers; the budget where groups are chosen privately
- noise: the draw, and how far each number is from the truth
- targets, smallest_budget: half-widths or budgets by output; the least epsilon that reaches targets
- plan, shown, plain: `Plan`, in words, beside plain noise
"""
