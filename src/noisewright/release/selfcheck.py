"""The falsifier for owners: the sensitivity tried on the real table, person by person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noisewright.problem.errors import InvalidInputError, UncertifiedError
from noisewright.problem.fields import whole
from noisewright.sample.uniform import SystemEntropy

if TYPE_CHECKING:
    from noisewright.release.plan import Plan


def checked_on(plan: Plan, persons: int) -> str:
    """Leave persons out one at a time; raises UncertifiedError if a difference is not in the declared set.

    It is not private, and is never logged: the message says how many persons were tried and nothing of them.
    """
    count = whole(at_least=1, at_most=10_000).read(persons, "persons", InvalidInputError)
    dataset = plan.dataset
    if dataset is None:
        raise InvalidInputError("a plan from a file is checked by its dataset: dataset.load_plan(path).")
    words = SystemEntropy().stream().words(count + 1)
    salt, units = int(words[0]), dataset._units()
    chosen = list(dict.fromkeys(units[int(word) % len(units)] for word in words[1:])) if units else []
    everybody = dataset._aggregate(plan.layout, salt)
    for unit in chosen:
        without = dataset._aggregate(plan.layout, salt, leave_out=unit)
        difference = [a - b for a, b in zip(everybody, without, strict=True)]
        if not plan.layout.holds(difference):
            raise UncertifiedError(
                "leaving out one person changed the numbers by more than the plan allows; nothing may be released from"
                " it. Please report this problem, without data."
            )
    return f"held for {len(chosen)} persons; this is no proof, and not private: keep it to yourself."
