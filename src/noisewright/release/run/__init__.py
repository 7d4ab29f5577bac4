"""The release of a plan, and what is done with its answers.

- transaction: validate, charge, aggregate, draw, store, in this order
- idempotence: of one plan one charge, however often it is asked for
- checked_table, checks: dry run and true aggregates; the falsifier for owners; what the schema shows wrong
- answers: which rows an answer is over
- post_processing, totals, noise_sums: answers made non-negative, whole or adding up
- bounds: bounds that nobody knows, from a noisy histogram
"""
