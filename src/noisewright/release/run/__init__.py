"""The release of a plan, and what is done with its answers.

- transaction: validate, charge, aggregate, draw, store, in this order
- idempotence: of one plan one charge, however often it is asked for; answers as a ledger keeps them
- checked_table: the table of a dataset: its dry run, its true aggregates, the falsifier for owners
- answers: released numbers as a tidy table, with the rows that each answer is over
- post_processing, totals, noise_sums: answers made non-negative, integers or adding up, and how far they are off
- bounds: bounds that nobody knows, from a noisy histogram
"""
