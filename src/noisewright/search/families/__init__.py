"""The best member of each family for a problem, in floats, calibrated by the verifier's own rules.

- calibration, composition: smallest scales; what many releases cost together
- staircase, tailored: one number, pure
- smooth, truncated_staircase, solved: one number, approximate
- two_fold, two_fold_laws: two-fold noise
- vector_pure, vector_approximate, vector_parts: several numbers
- shapes, central, bounded_optimum: answers in bounds
- exponential: candidates chosen by their distance, and releases kept in bounds afterwards
- linear, block_descent: linear questions
- strategies, optimal, residuals: workloads: trees and searched rows, the optimum, marginals
"""
