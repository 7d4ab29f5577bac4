"""The falsifier: the answer over a table is the union over persons of the answers over each person's rows alone."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from noisewright.release.engines.barrier import column
from tests.engines.falsifier import forms, large
from tests.engines.falsifier.hunting import Found, hunt

_SOAK = {"duckdb": 910, "postgres": 750, "pyspark": 100, "by spark": 100}
"""How many queries of each form one part of the soak asks."""


def require_none(found: Found, count: int) -> None:
    """No query differed; most of those that were made were asked, and had rows."""
    assert found.differences == []
    assert found.asked == count
    assert found.refused < found.asked
    assert found.rows > found.asked or not found.rows


@pytest.mark.parametrize("form", forms.FORMS)
def test_an_answer_is_the_union_over_persons(form: str, tmp_path: Path):
    require_none(hunt(forms.FORMS[form], tmp_path, 5, 10), 10)


def test_an_answer_of_postgres_is_the_union_over_persons(server: Any, tmp_path: Path):
    with forms.in_postgres(server.url) as form:
        require_none(hunt(form, tmp_path, 6, 12), 12)


@pytest.mark.xdist_group("spark")
def test_an_answer_of_spark_is_the_union_over_persons(spark: Any, tmp_path: Path):
    require_none(hunt(forms.in_spark(spark.session), tmp_path, 7, 6), 6)
    require_none(hunt(forms.by_spark(spark.session), tmp_path, 8, 6), 6)


def _as_it_is(name: str, kind: Any) -> Any:
    """A column that an engine sees through."""
    return column(name)


def _nothing(*given: Any) -> None:
    """A guard that is not there."""


_DUCKDB = "engines.duckdb.engine"
FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "no barrier, no settings": ("parquet by duckdb", {f"{_DUCKDB}._opaque": _as_it_is, f"{_DUCKDB}._SETTINGS": {}}),
    "names that the engine does not tell apart": ("arrow", {"table.person_local.require_distinct": _nothing}),
}
"""What is wrong, in which form it is looked for, and what stands for what."""


@pytest.mark.parametrize("fault", FAULTS)
def test_the_falsifier_would_notice(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    form, changed = FAULTS[fault]
    for name, other in changed.items():
        monkeypatch.setattr(f"noisewright.release.{name}", other)
    assert hunt(forms.FORMS[form], tmp_path, 1, 60).differences


def _large(folder: Path, seed: int, size: int) -> None:
    whose = {"all": lambda person: True, "one": lambda person: person == 0, "others": lambda person: person > 0}
    answers = {}
    for name, own in whose.items():
        large.written(folder / f"{name}.csv", Random(seed), size, own)
        answers[name] = large.numbers(folder / f"{name}.csv")
    assert answers["one"][0] > 0
    assert answers["all"] == [a + b for a, b in zip(answers["one"], answers["others"], strict=True)]


def test_line_ends_of_one_person_over_every_border_of_a_file_change_nothing_of_others(tmp_path: Path):
    _large(tmp_path, 1, 9 * large.MEGABYTE)


@pytest.mark.soak
@pytest.mark.timeout(2700)
@pytest.mark.parametrize("seed", range(4))
def test_large_files(seed: int, tmp_path: Path):
    for place, size in enumerate((9, 17, 35, 70)):
        _large(tmp_path, 10 * seed + place, size * large.MEGABYTE)


@pytest.mark.soak
@pytest.mark.timeout(2700)
@pytest.mark.parametrize("form", forms.FORMS)
def test_thousands_of_queries(form: str, tmp_path: Path):
    count = _SOAK["duckdb"]
    require_none(hunt(forms.FORMS[form], tmp_path, 100, count), count)


@pytest.mark.soak
@pytest.mark.timeout(2700)
@pytest.mark.parametrize("seed", range(2))
def test_thousands_of_queries_of_postgres(server: Any, seed: int, tmp_path: Path):
    count = _SOAK["postgres"]
    with forms.in_postgres(server.url) as form:
        require_none(hunt(form, tmp_path, 200 + seed, count), count)


@pytest.mark.soak
@pytest.mark.timeout(2700)
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("seed", range(3))
def test_hundreds_of_queries_of_spark(spark: Any, seed: int, tmp_path: Path):
    count = _SOAK["pyspark"]
    require_none(hunt(forms.in_spark(spark.session), tmp_path, 300 + seed, count), count)


@pytest.mark.soak
@pytest.mark.timeout(2700)
@pytest.mark.xdist_group("spark")
def test_hundreds_of_queries_of_files_of_spark(spark: Any, tmp_path: Path):
    count = _SOAK["by spark"]
    require_none(hunt(forms.by_spark(spark.session), tmp_path, 400, count), count)
