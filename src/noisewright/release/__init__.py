"""Private answers from tables: what keeps the sensitivity true is in the last stage, and nothing is inferred before it.

- keys, groupings, ranges: listed groups, bins of a column; bounds of a value and the whole numbers that stand for it
- numbers, questions: the whole numbers of a group and what a person changes of them; what is asked (`nw.ask`)
- quantiles, ranking, linear: the questions about cells and categories; kinds: all of them, registered
- layout: all outputs as one vector and the set of differences of one person (`Layout.sensitivity`)
- sources, dataset, checks: files, frames and databases as Ibis tables; `Dataset`; what the schema shows wrong
- local, values: the person-local check of relations, and the functions of a row that are total, each with its reason
- stage, limiting, aggregate: rows to whole terms (once, over Ibis), the limits of a person, the true vector
- engines: what differs between engines, one file each (`engines.base.Engine` is the interface)
- ways, cells: how the numbers of a table are answered, group by group or cells together by a strategy; what plans ask
  of a mechanism goes through it
- design, drawing, plain: which mechanism answers which numbers, proven together; the draw; plain noise beside it
- plan, shown, selfcheck: `Plan`: printed, saved, verified, released; the falsifier for owners
- transaction, estimates, frames: validate, charge, aggregate, draw, store; answers with intervals; tidy frames
- schemas, progress: what spec files and the command line ask of a source: its columns, how far a query has come

`Dataset.plan` -> `layout_of(questions, limits)` -> `designed(layout, privacy, ...)` -> `Plan`;
`Plan.release` -> `ledger.charge` -> `Dataset.aggregate` -> `drawn` -> `charge.answered` -> `frame_of`.
"""
