"""How laws answer a query: a mechanism maps a true answer to the law of the released one.

- base, registry, answers: what a mechanism is and what utilities ask of its errors, names in files, true answers
- rounding, places: many answers put on a lattice or a grid at once, exactly
- additive, per_coordinate, norm_shaped, linear_gaussian: noise for one number and for several
- conditional, composite, rows, truncated, blend, worst_cases: answers in bounds, and the worst of their errors
- clamped, levels, clamped_errors, clamped_sums: answers in wide bounds: noise in levels, and the worst of its errors
- settings: the composite paper's six functions by their own parameters
- linear, column_gaussian, selection, choice, metric_choice, exponential: linear questions, synthetic data, choices
- response: one person's own value, in the local model
- strategy, strategy_rows, strategy_filters, strategy_tables: workloads, their rows and tables
- strategy_values, strategy_runs, strategy_estimates: what these cost, question by question, and what they say
- expected, losses, numerical, whole_fold, linear_values, linear_widths: how each kind of error is computed
"""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
