"""One formula in two number systems: vectorised floats for search, Arb balls for proof.

- fields, balls: the two systems behind one face; the only module that imports python-flint; arrays of floats
- special: special functions, geometric sums, powers
- bisection: where a property turns, by ends that were checked
- distances, finite_components, pairs: metrics, where they are infinite, and every pair of a universe, floats first,
  exact where they do not decide
- integer_matrices, workloads: exact products of integers; what a workload does to arrays, axis by axis
- toeplitz_hankel: filters along a line with mirror images at its ends, never built; sums over all pairs of its cells
- lp: linear programmes; multiplicative weights
- remembered: what was computed about immutable things
"""
