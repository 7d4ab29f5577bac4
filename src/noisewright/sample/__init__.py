"""The only randomness: an entropy source, exact samplers, and what may be drawn.

- certified, drawers: a mechanism with its certificate, and how each kind is drawn
- containers: lists, arrays, dicts and tables in, the same with labels and shape out
- entropy, inversion: random bits and uniform integers; exact inversion of a distribution function
- sampler, integer_noise: noise for one number; discrete Laplace and rounded Gaussian noise of any size
- points: lattice points as the decimals that are released
- vectors, norm_shaped, linear: noise for several
- strategy, stream: workloads; counts one at a time
- bounded, selection: laws that depend on the answer
"""
