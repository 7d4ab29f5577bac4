"""Privacy profiles: delta(epsilon), the hockey-stick divergence, of one release, as it is composed.

- base: what a profile and a pair of neighbours are; Gaussian noise, pairs (epsilon, delta), the least and the largest
- laplace, integers, cells, smooth: laws by kind: Laplace, on the integers, constant on cells, falling outward
- joint: several independent noises
- renyi, choice: from Renyi divergences; the exponential mechanism
- lower: one pair of neighbours from below
- laws: which of them a law has
- certified: the profile of a mechanism with a certificate
"""
