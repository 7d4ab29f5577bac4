"""A table of 100,000 visits to a clinic that does not exist, the same each time: python examples/clinic.py visits.csv

Patients come several times, mostly to one ward; the young and the old come more often than others; charges depend on
the ward and are missing now and then.

Because nobody was ever in it, the truth may be shown beside private answers, which of a real table nobody may do:
python examples/clinic.py --truth answers.csv visits.toml
"""

from __future__ import annotations

import csv
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from statistics import fmean

import numpy as np

VISITS = 100_000
WARDS = ("cardiology", "emergency", "maternity", "oncology", "orthopaedics", "paediatrics")
_PATIENTS = 30_000
_TYPICAL_CHARGE = (420, 260, 650, 900, 380, 150)
_FIRST_DAY = date(2025, 1, 1)
_SEED = 2025


def visits(count: int = VISITS) -> list[tuple[str, str, str, int, str]]:
    """Rows of (patient, day, ward, age, charge), in the order of days; a charge that is not known is empty."""
    chance = np.random.default_rng(_SEED)
    ages = np.clip(chance.normal(48, 24, _PATIENTS), 0, 99).astype(int)
    often = chance.gamma(1.5, 1.0, _PATIENTS) * (1 + np.abs(ages - 45) / 45)
    patients = chance.choice(_PATIENTS, count, p=often / often.sum())
    grown = chance.choice([0, 1, 3, 4], _PATIENTS, p=[0.25, 0.4, 0.15, 0.2])
    young = np.where((ages < 40) & (chance.random(_PATIENTS) < 0.2), 2, grown)
    usual = np.where(ages < 16, 5, young)
    wards = np.where(chance.random(count) < 0.85, usual[patients], 1)
    charges = np.array(_TYPICAL_CHARGE)[wards] * chance.lognormal(0, 0.6, count)
    known = chance.random(count) > 0.01
    days = np.sort(chance.integers(0, 365, count))
    return [
        (
            f"P{patients[i]:05d}",
            (_FIRST_DAY + timedelta(days=int(days[i]))).isoformat(),
            WARDS[wards[i]],
            int(ages[patients[i]]),
            f"{charges[i]:.2f}" if known[i] else "",
        )
        for i in range(count)
    ]


def write(path: Path, count: int = VISITS) -> None:
    """Write them as a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        lines = csv.writer(stream, lineterminator="\n")
        lines.writerow(("patient", "day", "ward", "age", "charge"))
        lines.writerows(visits(count))


def adults() -> list[tuple[str, str, str, int, str]]:
    """What examples/visits.toml asks about: visits of adults to the wards that it lists."""
    return [visit for visit in visits() if visit[3] >= 18 and visit[2] in WARDS[:5]]


def true_answers() -> dict[tuple[str, str], float]:
    """By question and ward, what is true of all these visits: nothing is left out, clamped or noisy."""
    found: dict[tuple[str, str], float] = {}
    for ward in WARDS[:5]:
        own = [visit for visit in adults() if visit[2] == ward]
        found["count", ward] = len(own)
        found["mean of age", ward] = fmean(age for *_, age, _ in own)
        found["mean of charge", ward] = fmean(float(charge) for *_, charge in own if charge)
    return found


def kept(rows_per_group: int, groups_per_person: int) -> dict[str, float]:
    """By ward, the share of these visits that limits keep, on average over the choice of rows."""
    every = Counter((visit[0], visit[2]) for visit in adults())
    wards = Counter(patient for patient, _ in every)
    left: defaultdict[str, float] = defaultdict(float)
    for (patient, ward), count in every.items():
        left[ward] += min(count, rows_per_group) * min(1, groups_per_person / wards[patient])
    return {ward: left[ward] / sum(n for (_, own), n in every.items() if own == ward) for ward in WARDS[:5]}


def beside_truth(answers: Path, spec: Path) -> Iterable[str]:
    """Private answers of a file beside the truth of the made-up table, and what the limits of a spec keep of it."""
    dataset = tomllib.loads(spec.read_text(encoding="utf-8"))["dataset"]
    shares = kept(dataset["rows_per_group"], dataset["groups_per_person"])
    yield f"{'question':<15} {'ward':<13} {'private':>9} {'± 95 %':>7} {'truth, all visits':>18} {'off by':>7}"
    true = true_answers()
    with answers.open(newline="", encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            question, ward = line["question"], line["ward"]
            if not line["value"]:
                continue  # too few to say
            value, width, truth = float(line["value"]), float(line["half_width"]), true[question, ward]
            digits = 0 if question == "count" else 1
            numbers = f"{value:>9,.{digits}f} {width:>7,.{digits}f} {truth:>18,.{digits}f}"
            yield f"{question:<15} {ward:<13} {numbers} {abs(value - truth):>7,.{digits}f}"
    yield ""
    yield "The table is made up, so its truth may stand here; of a real one nobody may show it."
    yield (
        f"Limits: at most {dataset['rows_per_group']} visits of a patient in a ward, in at most"
        f" {dataset['groups_per_person']} wards. They keep {100 * min(shares.values()):.1f} % or more of every ward;"
    )
    yield "the intervals are of those, and of ages and charges clamped to their bounds."


if __name__ == "__main__":
    if sys.argv[1:2] == ["--truth"]:
        print("\n".join(beside_truth(Path(sys.argv[2]), Path(sys.argv[3]))))
    else:
        write(Path(sys.argv[1] if len(sys.argv) > 1 else "visits.csv"))
