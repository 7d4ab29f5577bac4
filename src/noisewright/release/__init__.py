"""Private answers from tables: what keeps the sensitivity true is in the last stage, and nothing is inferred before it.

- keys, groupings, times, ranges: listed groups, bins; values as whole numbers
- numbers, questions, histograms, registry: numbers of a group, what a person changes of them; what is asked (`nw.ask`)
- quantiles, ranking, linear: the questions about cells and categories
- layout: all outputs as one vector and the set of differences of one person (`Layout.sensitivity`)
- table: what is given as a table, where its rows are, frames, names of columns
- queries, dataset, budgets, checks: `Dataset`
- local, values: the person-local check of relations, and the functions of a row that are total, each with its reason
- kinds, growth: what may be compared with what, and constants; how long a text may become
- stage, limiting, aggregate, asking: rows to whole terms (once, over Ibis), limits of a person, the true vector, tried
- engines: what differs between engines, a folder each (`engines.base.Engine` is the interface)
- selecting, unlisted, splitting: groups that nobody listed: which are published and why that is proven, their true
  numbers by key, how the budget is split between the choice and the rest
- ways, bounded, cells, weighed: how a table is answered (group by group; within bounds, right on average; cells
  together by a strategy; weighted counts under metric privacy); what plans ask of a mechanism goes through it
- design, drawing, plain: which mechanism answers which numbers, proven together; the draw; plain noise beside it
- aims, targets, least: half-widths or budgets by output instead of one amount; the least epsilon that reaches targets
- plan, shown, selfcheck, bounding: `Plan`: printed, saved, released; the falsifier for owners; bounds nobody knows
- transaction, holding, estimates, counted: validate, charge, aggregate, draw, store; intervals, of which rows
- tidying, adding, totals, sums: answers made non-negative, whole or adding up, beside the raw ones; which numbers add
  up, the linear map, and how far weighted sums of noise are off

`Dataset.plan` -> `layout_of(questions, limits)` -> `designed(layout, privacy, ...)` -> `Plan`;
`Plan.release` -> `ledger.charge` -> `Dataset.aggregate` -> `drawn` -> `charge.answered` -> `frame_of`.
"""
