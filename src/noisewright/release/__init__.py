"""Private answers from tables: what keeps the sensitivity true is in the last stage, and nothing is inferred before it.

- table: where rows are, keys, public tables, and the person-local check of what is done before the last stage
- engines: what differs between engines, a folder each (`engines.base.Engine` is the interface)
- stage: the last stage, from rows to sums of integers: clamped, limited by person, added up
- ask: what can be asked, one file a question (`nw.ask`)
- plan: all outputs as one vector, the mechanisms that answer it, their price and the errors to expect; `Plan`
- run: the release (validate, charge, aggregate, draw, store), what is done with answers afterwards
- dataset: `Dataset`: a table, the persons in it and their budget

`Dataset.plan` -> `layout_of(questions, limits)` -> `designed(layout, privacy, ...)` -> `Plan`;
`Plan.release` -> `ledger.charge` -> `Dataset.aggregate` -> `drawn` -> `charge.answered` -> `frame_of`.
"""
