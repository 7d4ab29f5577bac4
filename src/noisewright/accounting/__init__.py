"""Plans: what many releases together give away, composed as privacy loss distributions (PLDs) in integers and proven.

- composition: `compose`, the only maker of compositions; what they answer; files, proven again
- certificate: what was composed, and brackets around the truth
- releases, parse: what plans are made of, and what a person may type for it
- structure: parts of plans: all together, or disjoint groups; how large a plan may be
- grids: which grid of losses, by floats
- loss_pmf: masses over privacy losses on a grid, and their products
- pessimistic, optimistic: dominating and dominated discretisations, which only raise or only lower a PLD
- curves: the parts composed on one grid, and delta(epsilon) read from that
- costs: what a plan costs in each sum that a ledger may keep
- render: tables and pictures

Floats choose grids and where tails are cut; they are never evidence. What is chosen after seeing answers is not
composed here: that needs a filter.
"""
