"""The repository names no machine and no download host, and nothing in it is unfinished."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT, modules
from tests.tree import tracked

MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:work|tmp|root|home|Users|opt|var)(?:/|\b)")
REGISTRY = re.compile(r"pypi\.org|pythonhosted\.org|anaconda\.org|npmjs\.(?:org|com)|--(?:extra-)?index-url")
UNFINISHED = re.compile("|".join(("NotImplemented" + "Error", r"\bTO" + r"DO\b", r"\bFIX" + r"ME\b", r"\bX" + r"XX\b")))
_MAKING = ("re" + r"view(?:s|ed|ers?)?", "ref" + "erees?", "sit" + "tings?", "lines of co" + "de", "is" + r"sue #?\d+")
MAKING = re.compile(rf"\b(?:{'|'.join(_MAKING)})\b", re.IGNORECASE)
LOCK_FILES = {"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "package-lock.json", "yarn.lock"}


def _text(path: Path) -> str | None:
    raw = path.read_bytes()
    return None if b"\0" in raw else raw.decode("utf-8")


def test_no_file_names_a_machine_or_a_registry():
    hits = []
    for path in tracked():
        text = _text(path)
        for number, line in enumerate((text or "").splitlines(), 1):
            if MACHINE_PATH.search(line) or REGISTRY.search(line):
                hits.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert hits == []


def test_no_file_speaks_of_how_it_was_made():
    hits = []
    for path in tracked():
        place = path.relative_to(ROOT).as_posix()
        for line in [place.replace("_", " "), *(_text(path) or "").replace("_", " ").splitlines()]:
            if MAKING.search(line):
                hits.append(f"{place}: {line.strip()[:100]}")
    assert hits == []


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()


def test_there_are_no_lock_files():
    assert [path.name for path in tracked() if path.name in LOCK_FILES] == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_left_unfinished(path: Path):
    assert UNFINISHED.findall(path.read_text(encoding="utf-8")) == []


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_constraints_are_exact_and_cover_every_declared_dependency():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [re.fullmatch(r"([\w.-]+)==[\w.+!]+", line) for line in lines if not line.startswith("#")]
    assert all(pins), "every line is name==version"
    pinned = {_canonical(pin[1]) for pin in pins if pin}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = list(project["project"]["dependencies"]) + project["build-system"]["requires"]
    for extra in project["project"]["optional-dependencies"].values():
        declared += extra
    names = {_canonical(match[0]) for entry in declared if (match := re.match(r"[\w.-]+", entry))}
    assert names <= pinned


@pytest.mark.parametrize("line", ["see /ho" + "me/someone/x", "'/wo" + "rk/main'", "in /tm" + "p/x", "`/ro" + "ot`"])
def test_a_machine_path_would_be_seen(line: str):
    assert MACHINE_PATH.search(line)


@pytest.mark.parametrize("line", ["docs/wo" + "rk/x", "a/tm" + "p", "http://host/ro" + "ot", "~/ho" + "me"])
def test_other_slashes_are_left_alone(line: str):
    assert not MACHINE_PATH.search(line)
