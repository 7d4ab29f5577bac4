"""The first numbers that a newcomer sees are near those of the table: of the demo, and of the README."""

from __future__ import annotations

import re
import runpy
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import Cli, assert_succeeded
from tests.tree import ROOT

CLINIC = runpy.run_path(str(ROOT / "examples" / "clinic.py"))
SPEC = ROOT / "examples" / "visits.toml"
LEAST = 0.95
_LINE = re.compile(r"(count|mean of \w+) +(\w+) +([\d,.]+) +([\d,.]+) +([\d,.]+) +([\d,.]+)")
LIMITS = tomllib.loads(SPEC.read_text(encoding="utf-8"))["dataset"]


def test_the_limits_of_the_demo_keep_nearly_all_visits_of_each_ward():
    shares: dict[str, float] = CLINIC["kept"](LIMITS["rows_per_group"], LIMITS["groups_per_person"])
    assert set(shares) == set(tomllib.loads(SPEC.read_text(encoding="utf-8"))["keys"]["ward"]["values"])
    assert min(shares.values()) >= LEAST, shares
    assert max(CLINIC["kept"](3, 2).values()) < 0.68, "limits that leave out a third are told apart"


def test_what_limits_keep_is_counted_by_hand():
    kept = CLINIC["kept"].__globals__
    rows = [("P1", "", "cardiology", 20, "")] * 5 + [("P1", "", "maternity", 20, "")] + [("P2", "", "oncology", 20, "")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(kept, "adults", lambda: rows)
        patch.setitem(kept, "WARDS", ("cardiology", "maternity", "oncology"))
        assert CLINIC["kept"](2, 1) == {"cardiology": 2 / 5 / 2, "maternity": 1 / 2, "oncology": 1}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the demo shows: the printed release, the truth beside it, and the page."""
    from noisewright.app.cli import main

    folder: Path = tmp_path_factory.mktemp("demo")
    CLINIC["write"](folder / "visits.csv")
    (folder / "visits.toml").write_text(SPEC.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["release", "visits.toml"]) in (0, None)
        lines = list(CLINIC["beside_truth"](folder / "answers.csv", folder / "visits.toml"))
    return lines, (folder / "report.html").read_text(encoding="utf-8")


def test_the_demo_shows_its_private_answers_beside_the_truth_and_near_it(told: Any):
    lines, _ = told
    rows = [row for line in lines if (row := _LINE.fullmatch(line))]
    counts = {row[2]: [float(cell.replace(",", "")) for cell in row.groups()[2:]] for row in rows if row[1] == "count"}
    visits = Counter(ward for _, _, ward, age, _ in CLINIC["visits"]() if age >= 18)
    assert {ward: truth for ward, (_, _, truth, _) in counts.items()} == {
        ward: visits[ward] for ward in CLINIC["WARDS"][:5]
    }
    # Noise is within five half-widths but for a few releases in a million.
    assert all(off <= 5 * width + 0.001 * truth for _, width, truth, off in counts.values()), counts
    assert len(rows) == 15
    text = "\n".join(lines)
    assert "made up" in text
    assert "at most 20 visits of a patient in a ward, in at most 2 wards" in text


def test_the_page_of_the_demo_says_what_its_lines_hold(told: Any):
    _, page = told
    assert "at most 20 rows of each patient in a group, in at most 2 groups" in page
    assert "hold the truth" not in page


def test_the_table_of_the_readme_is_near_the_truth_that_it_prints():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \|$", page, re.M)
    width = int(re.findall(r"private answer, ± (\d+)", page)[0])
    true = CLINIC["true_answers"]()
    shown = {ward: (int(answer.replace(",", "")), int(truth.replace(",", ""))) for ward, answer, truth in rows}
    assert {ward: truth for ward, (_, truth) in shown.items()} == {
        ward: true["count", ward] for ward in CLINIC["WARDS"][:5]
    }
    assert all(abs(answer - truth) <= 2 * width for answer, truth in shown.values())
    assert f"at most {LIMITS['rows_per_group']} visits of a patient in a ward" in " ".join(page.split())


def test_the_demo_prints_the_truth_by_the_programme_that_is_tested(cli: Cli, tmp_path: Path):
    script = (ROOT / "script" / "demo").read_text(encoding="utf-8")
    assert 'run python "$root/examples/clinic.py" --truth answers.csv visits.toml' in script
    CLINIC["write"](tmp_path / "visits.csv", 2000)
    (tmp_path / "visits.toml").write_text(SPEC.read_text(encoding="utf-8"), encoding="utf-8")
    outcome = cli("release", "visits.toml", "--json")
    assert_succeeded(outcome)
    assert all(one["counted"].startswith("at most 20 rows of each patient") for one in outcome.data)
    assert (tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()[0].split(",")[6] == "counted"
