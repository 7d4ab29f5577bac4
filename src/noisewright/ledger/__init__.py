"""The ledger: what was spent on whom, exact, durable, serialised, and valid for questions that depend on answers.

- ledger: the ledger as people use it: charge, release, sub-budgets
- charge: a charge that was made, and the answer or failure beside it
- idempotence: the charges of one thing: one at the same instant, and one of which nothing was drawn finished by others
- rules: privacy filters: which sums are valid under adaptivity, and how large they may become, proven
- costed, deciding: what can be charged, and which neighbours it speaks of; what is granted and written
- state: what the last row says: totals, budgets, what is closed, what remains
- chain: rows, their digests, the head
- stores, sqlite, postgres: the store interface and the two stores
- checking: the whole chain verified
- render: what the remainder buys, tables, the burn-down
- checkpoints: the points between validation and answer that a failure is tried at
"""
