"""A small table of visits and a spec for it, as a person would write them."""

from __future__ import annotations

from pathlib import Path

VISITS = "patient,day,ward,age,charge\n" + "".join(
    f"p{i % 60},2025-01-{1 + i % 28:02d},{'ABC'[i % 60 % 3]},{20 + i % 60},{10 + i % 7}.50\n" for i in range(240)
)
"""Sixty patients, four visits each, twenty patients in each ward."""

SPEC = """\
[dataset]
source = "visits.csv"
unit = "patient"
budget = { epsilon = 30 }
ledger = "visits.ledger"
rows_per_group = 4

[dataset.types]
age = "number"
charge = "number"

[privacy]
epsilon = 10

[keys.ward]
columns = "ward"
values = ["A", "B", "C", "<b>$D"]

[[ask]]
kind = "count"
by = "ward"

[[ask]]
kind = "mean"
column = "age"
bounds = [0, 100]
by = "ward"
"""


def write(folder: Path, *changes: tuple[str, str], table: str = VISITS) -> Path:
    """The table and the spec in a folder, with parts of the spec replaced."""
    text = SPEC
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    (folder / "visits.csv").write_text(table, encoding="utf-8")
    (folder / "visits.toml").write_text(text, encoding="utf-8")
    return folder / "visits.toml"
