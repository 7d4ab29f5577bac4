"""The best member of each family for a problem, in floats, calibrated by the verifier's own rules.

- calibration: smallest scales, also under Rényi and concentrated privacy, and of numbers that move together
- planned: what many releases cost together, and laws for a plan of them
- scalar_pure: one number, pure: Laplace, staircase, tailored
- approximate: one number with a delta: smooth noise, staircases that end, solved programmes
- two_fold: two-fold noise, of Laplace and of Gaussian noise, and the proof of its optimum
- vector, vector_parts: several numbers, and their shares of a budget
- shapes, bounded_optimum: answers in bounds
- linear: linear questions
- strategies: workloads: trees and searched rows, the optimum, marginals
"""
