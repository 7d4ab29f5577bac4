"""The changelog has its changes under the headings of Keep a Changelog, and the version is that of the next release."""

from __future__ import annotations

import re
import tomllib

import noisewright
from tests.docs.pages import ROOT

KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
_RELEASE = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_VERSIONS = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]


def faults(version: str) -> list[str]:
    """What is wrong with the part of one version: a heading of no kind, kinds twice or out of order, a stray entry."""
    before, *parts = version.split("\n### ")
    kinds = [part.partition("\n")[0] for part in parts]
    found = [kind for kind in kinds if kind not in KINDS]
    found += [line for line in before.splitlines() if line.startswith("- ")]
    return found if kinds == [kind for kind in KINDS if kind in kinds] else [*found, "the order of the kinds"]


def test_changes_stand_under_their_kinds():
    assert [fault for version in _VERSIONS for fault in faults(version)] == []


def test_a_stray_entry_or_kind_is_found():
    assert faults("Unreleased\n\n### Added\n\n- a\n\n### Fixed\n\n- b\n") == []
    assert faults("Unreleased\n\n- a\n\n### Added\n\n- b\n") == ["- a"]
    assert faults("Unreleased\n\n### News\n\n- a\n") == ["News", "the order of the kinds"]
    assert faults("Unreleased\n\n### Fixed\n\n- a\n\n### Added\n\n- b\n") == ["the order of the kinds"]


def test_the_version_is_that_of_the_next_release():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert declared == noisewright.__version__
    unreleased, *numbered = [version.partition("\n")[0] for version in _VERSIONS]
    assert unreleased == "Unreleased"
    releases = [tuple(map(int, match.groups())) for name in numbered if (match := _RELEASE.match(name))]
    assert len(releases) == len(numbered)
    assert releases == sorted(releases, reverse=True)
    coming = _RELEASE.fullmatch(declared.removesuffix(".dev0"))
    assert coming is not None
    number = tuple(map(int, coming.groups()))
    assert number > releases[0] if declared.endswith(".dev0") else number == releases[0]
