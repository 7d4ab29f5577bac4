"""The only randomness: an entropy source, exact samplers, and what may be drawn.

- certified, drawers: a mechanism with its certificate, and how each kind is drawn
- containers, shapes, tables: lists, arrays, dicts and tables in, the same with labels and shape out
- explained, odds, half_widths, tails: half a page in plain words; what can be learnt, and how far off answers are
- uniform, refine: random bits, uniform integers, exact inversion of a distribution function
- sampler, table, segments, runs, folded, two_sided: noise for one number
- points: lattice points as the decimals that are released
- columns, vectors, histogram, shells, minkowski, linear: noise for several
- strategy, normal_rows, stream: workloads; rounded Gaussian noise of many variances; counts one at a time
- conditional, clamped, choice, synthetic: laws that depend on the answer
"""
