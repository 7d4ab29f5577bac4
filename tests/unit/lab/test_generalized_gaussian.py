"""The reproduction in a quick mode: every file, every claim, and the verdicts that do not depend on chance."""

from __future__ import annotations

import numpy as np

from noisewright.lab.generalized_gaussian.counts import CZECH, MILDEW, distances, sanitised
from noisewright.lab.generalized_gaussian.reproduction import reproduce
from noisewright.lab.reproductions import REPRODUCTIONS


def test_the_tables_are_those_the_paper_describes():
    assert (len(MILDEW), sum(MILDEW), sum(c > 0 for c in MILDEW)) == (64, 70, 22)
    assert (len(CZECH), sum(CZECH), sum(c == 0 for c in CZECH)) == (64, 1841, 1)


def test_a_quick_run_writes_every_figure_and_finds_what_the_verifier_finds(tmp_path, monkeypatch):
    monkeypatch.setenv("NOISEWRIGHT_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("NOISEWRIGHT_CACHE", "off")
    steps: list[str] = []
    result = reproduce(tmp_path, steps.append, repeats=4, people=300, quick=True)
    assert len(steps) == REPRODUCTIONS["generalized-gaussian"].steps
    drawn = {path.stem.split("-")[1] for path in tmp_path.glob("figure-*.png") if path.stat().st_size > 1000}
    assert drawn == {f"{number:02d}" for number in range(1, 13)}
    assert all(path.is_file() for path in result.files)
    verdicts = {claim.where: claim.verdict for claim in result.claims if claim.where != "Section 3"}
    assert verdicts["Claim 4"] == verdicts["Definition 7"] == verdicts["Section 2.6"] == "fails"
    assert verdicts["Corollary 9"] == verdicts["Proposition 12"] == "erratum"
    assert verdicts["Proposition 6"] == verdicts["Proposition 11"] == "holds"
    assert any("made by the package" in source for source in result.data)


def test_sanitised_counts_stay_in_bounds_and_keep_their_sum():
    counts = np.array([5.0, 0.0, 20.0])

    class Fixed:
        def draw(self, count):
            return np.resize([-9.0, 3.0, 400.0], count)

    released = sanitised(counts, Fixed(), 2)  # type: ignore[arg-type]
    assert released.shape == (2, 3)
    assert np.allclose(released.sum(axis=1), 25.0)
    assert (released >= 0).all()
    l1, divergence = distances(counts, np.array([counts, released[0]]))
    assert l1[0] == divergence[0] == 0
    assert l1[1] > 0
    assert divergence[1] > 0
