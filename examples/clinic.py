"""A table of 100,000 visits to a clinic that does not exist, the same each time: python examples/clinic.py visits.csv

Patients come several times, mostly to one ward; the young and the old come more often than others; charges depend on
the ward and are missing now and then.
"""

from __future__ import annotations

import csv
import sys
from datetime import date, timedelta
from pathlib import Path

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


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "visits.csv"))
