"""The best member of each family for a problem, in floats, calibrated by the verifier's own rules.

- calibration, composition: smallest scales; what many releases cost together
- staircase, tailored: one number, pure
- smooth, truncated_staircase, solved: one number, approximate
- two_fold, two_fold_laws, gaussian_mixtures: two-fold noise, of Laplace and of Gaussian noise
- concentrated: what Rényi and concentrated privacy ask
- vector_pure, vector_approximate, vector_concentrated, vector_whole, vector_parts, together: several numbers
- shapes, central, bounded_optimum: answers in bounds
- exponential: candidates chosen by their distance, and releases kept in bounds afterwards
- linear, column_gaussian, block_descent: linear questions
- strategies, optimal, residuals: workloads: trees and searched rows, the optimum, marginals
"""
