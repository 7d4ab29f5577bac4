"""The verifier: a claim is proven in rationals or balls, or refused; it does not know the search.

- certify: the only maker of certificates
- provers: which rule proves which requirement for which mechanism
- pure, approximate, probabilistic, renyi: one number, by kind of requirement
- twofold, mixtures: what those rules need of two-fold laws and of Gaussian mixtures
- dominance: second folds that cannot beat Laplace noise
- vectors, vector_gaussian, several, alike: several numbers, and histograms
- composed, moves, losses, whole_losses: privacy losses of independent noises, composed
- profiles, profiles_of, profiles_laws: what a profile is, and those of mechanisms and of laws
- profiles_*: profiles by kind of law, of several noises, and pairs of neighbours from below
- bounded, clamped: answers in bounds, and in wide ones
- strategy, strategy_moves: workloads; what several cells of one person and moves cost
- metric, linear, choice: metric privacy; linear questions under ordinary privacy; choices
- conversions: what one requirement implies about another
- costs: what a release brings to each sum that a ledger may keep

In the words of the literature: *reach* is the sensitivity, rounding included; the *profile*, the least delta at each
epsilon, is the hockey-stick divergence; a *log-ratio* is a privacy loss.
"""
