"""Plans: what many releases together give away, added up in whole numbers and proven.

- compose, composition: the only maker of compositions; what they answer
- certificate: what was added up, and brackets around the truth
- releases, reading, words, events: what plans are made of, and what a person may type for it
- counts: how often a release is made, and how large a plan may be
- structure, evaluation: all together, or disjoint groups; the parts added up on one grid
- lattice, above, below: losses as whole numbers on a lattice, and moves that only raise or only lower them
- pairs: pairs of neighbours in closed form, for lower ends
- curve: delta(epsilon) read from losses
- grids: which lattice, by floats
- saved, shown: files, proven again; tables and pictures
- costs: what a plan brings to each sum that a ledger may keep

Floats choose lattices and where tails are cut; they are never evidence. What is chosen after seeing answers is not
composed here: that needs a filter.
"""
