"""Private answers from tables: what keeps the sensitivity true is in the last stage, and nothing is inferred before it.

- table: what is given as a table, keys, public tables, and the person-local check of what is done before the last stage
- engines: what differs between engines, a folder each (`engines.base.Engine` is the interface)
- stage: the last stage, from rows to sums of integers: clamped, limited by person, added up
- ask: what can be asked, one file a question (`nw.ask`)
- plan: all outputs as one vector, the mechanisms that answer it, their price and the errors to expect; `Plan`
- run: the release (validate, charge, aggregate, draw, store), what is done with answers afterwards
- dataset: `Dataset`: a table, the persons in it and their budget

Each imports what stands above it here and nothing below; tables and engines know each other.
`Dataset.plan` -> `layout_of(questions, limits)` -> `designed(layout, privacy, ...)` -> `Plan`; `Plan.release` ->
`run.transaction`: dry run -> charge -> true aggregates -> draw -> store -> `columns`.
"""
