"""Executors die, jobs are cancelled, Ctrl-C is pressed, Spark's driver or the process is killed: charges stay right."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.release import failing_spark
from tests.release.failing import LOST, seen
from tests.spark_session import Sparks

pytestmark = pytest.mark.xdist_group("spark")


@pytest.mark.parametrize("how", ["cancel", "interrupt"])
def test_a_job_that_is_stopped_is_finished_without_a_second_charge(spark: Sparks, tmp_path: Path, how: str):
    path = failing_spark.written(tmp_path)
    harms = failing_spark.Harms(spark, workers=0)
    failed = failing_spark.harmed(harms, path, tmp_path / how, how, "aggregating")
    # A job may end in the moment in which it is cancelled; Ctrl-C is always heard.
    assert failed or how == "cancel"
    assert harms.done[how] == 1


def ran(*words: str | int | Path) -> tuple[int, Any, str]:
    """How the programme ends, what it found and what it wrote as it went."""
    told = [sys.executable, "-m", "tests.release.failing_spark", *map(str, words)]
    # What Spark leaves behind when it is killed is where the test's own files are.
    place = {**os.environ, "TMPDIR": str(words[2])}
    done = subprocess.run(told, capture_output=True, text=True, check=False, env=place)
    lines = done.stdout.splitlines()
    return done.returncode, json.loads(lines[-1]) if lines else None, done.stderr


@pytest.fixture
def _java(spark: Sparks) -> None:
    """Spark can run here; the programme has a session of its own."""


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("_java")
@pytest.mark.parametrize("how", ["executor", "cancel", "interrupt"])
def test_fifty_failures_of_each_kind(tmp_path: Path, how: str):
    code, found, told = ran(how, 50, tmp_path)
    assert code == 0, told
    assert found["done"] == {how: 50}
    if how == "executor":  # lost tasks are done again, and give the same
        assert sum(found["failed"].values()) == 0
    if how == "interrupt":
        assert sum(found["failed"].values()) == 50


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("_java")
def test_ctrl_c_at_very_many_moments(tmp_path: Path):
    code, found, told = ran("moment", 100, tmp_path)
    assert code == 0, told
    assert found["failed"]["moment"] > 50


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("_java")
def test_a_job_whose_executors_all_die_fails_and_is_finished(tmp_path: Path):
    code, found, told = ran("executors", 3, tmp_path, "aggregating")
    assert code == 0, told
    assert found["failed"]["aggregating"] > 0


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("_java")
@pytest.mark.parametrize(
    ("how", "point"), [("driver", "aggregating"), ("kill", "aggregating"), ("kill", "drawn"), ("kill", "stored")]
)
def test_another_process_finishes_what_a_dead_one_or_a_dead_driver_left(tmp_path: Path, how: str, point: str):
    code, _, told = ran(how, 1, tmp_path, point)
    assert code == (-signal.SIGKILL if how == "kill" else 0), told
    code, _, told = ran("finish", 1, tmp_path, point)
    assert code == 0, told
    rows, spent = seen(str(tmp_path / "0" / "visits.ledger"))
    assert spent == rows.count("charge") == (2 if point in LOST else 1)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("_java")
def test_ctrl_c_at_the_command_line_says_what_was_spent(tmp_path: Path):
    code, found, told = ran("command", 1, tmp_path, "rehearsed", "aggregating", "drawn", "stored")
    assert code == 0, told
    assert set(found.values()) == {130}
    assert "Traceback" not in told
    said = [" ".join(part.split()) for part in told.split("error: interrupted.")[1:]]
    assert said[0].startswith("Nothing was spent.")
    assert "is finished without another charge." in said[1]
    assert "--fresh charges again." in said[2]
    assert "The answers are stored: the same command gives them back at no cost." in said[3]
