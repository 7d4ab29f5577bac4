"""The best member of each family for a problem, in floats, calibrated by the verifier's own rules.

- calibration: smallest scales, also under Rényi and concentrated privacy
- composition, planned, planned_table: what many releases cost together, and laws for a plan of them
- staircase, tailored: one number, pure
- approximate: one number with a delta: smooth noise, staircases that end, solved programmes
- two_fold, two_fold_laws: two-fold noise, of Laplace and of Gaussian noise
- vector_pure, vector_approximate, vector_parts, together: several numbers
- shapes, bounded_optimum, wide: answers in bounds
- linear: linear questions
- strategies, optimal: workloads: trees and searched rows, the optimum, marginals
"""
