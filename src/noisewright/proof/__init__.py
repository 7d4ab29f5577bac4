"""The verifier: a claim is proven in rationals or balls, or refused; it does not know the search.

- certify: the only maker of certificates
- provers: which rule proves which requirement for which mechanism
- pure, approximate, probabilistic, renyi: one number, by kind of requirement
- mixtures: what those rules need of Gaussian mixtures and two-fold laws; second folds that cannot beat Laplace noise
- vectors, vector_gaussian, per_coordinate: several numbers, and histograms
- composed, losses: privacy losses of independent noises, composed
- profiles: delta(epsilon) of laws and of mechanisms, and pairs of neighbours from below
- bounded: answers in bounds, and in wide ones
- strategies: workloads; what several cells of one person and moves cost
- metric, linear, choice: metric privacy; linear questions under ordinary privacy; choices
- conversions: what one requirement implies about another
- costs: what a release costs in each sum that a ledger may keep

The *sensitivity* includes rounding; the *profile*, the least delta at each epsilon, is the hockey-stick divergence; a
*log-ratio* is a privacy loss.
"""
