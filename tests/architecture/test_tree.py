"""What lies beside the files of the repository changes no test: a demo may be run before the tests, and after them."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, parse
from tests.tree import every, tracked

_LISTS = {"rglob", "glob", "iterdir", "walk", "scandir", "listdir"}
_ELSEWHERE = re.compile(r"tmp_path|\(tmp_path|folder\b|place\b|Path\('/|Path\(str\(pyspark|ast\b|self\b")
"""What a test may list by itself: folders of its own, of the machine, of another package; and trees of code."""


def listings(tree: ast.AST) -> list[str]:
    """What a file lists of the disk, unless it is surely not the repository."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = [ast.unparse(call) for call in calls if isinstance(call, ast.Attribute) and call.attr in _LISTS]
    return [text for text in found if not _ELSEWHERE.match(text)]


@pytest.mark.parametrize(
    ("code", "count"),
    [("sorted(ROOT.rglob('*.py'))", 1), ("os.walk(ROOT)", 1), ("(ROOT / 'docs').glob('*')", 1), ("ast.walk(x)", 0)],
)
def test_a_listing_of_the_repository_would_be_seen(code: str, count: int):
    assert len(listings(ast.parse(code))) == count


def test_tests_know_the_repository_by_the_files_that_git_keeps():
    found = {str(path.relative_to(ROOT)): listings(parse(path)) for path in tracked(ROOT / "tests", ".py")}
    assert {name: lists for name, lists in found.items() if lists} == {"tests/tree.py": ["os.walk"]}


def _repository(folder: Path) -> Path:
    shutil.copy(ROOT / ".gitignore", folder)
    (folder / "noisewright-demo").mkdir()
    (folder / "noisewright-demo" / "report.html").write_text("left by the demo", encoding="utf-8")
    (folder / "kept.py").touch()
    return folder


def test_files_that_git_does_not_keep_are_no_files_of_the_repository(tmp_path: Path):
    folder = _repository(tmp_path)
    for words in (["init", "-q"], ["add", "kept.py", ".gitignore"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    (folder / "forgotten.py").touch()
    (folder / "noisewright-demo" / "demo.py").touch()
    assert every(folder) == (folder / ".gitignore", folder / "kept.py")


def test_an_unpacked_archive_is_listed_without_what_the_demo_left(tmp_path: Path):
    folder = _repository(tmp_path)
    assert every(folder) == (folder / ".gitignore", folder / "kept.py")


def test_git_ignores_what_the_demo_writes_wherever_it_is_called_from(tmp_path: Path):
    folder = _repository(tmp_path)
    (written,) = set(re.findall(r"^(?:mkdir -p|cd) ([\w-]+)$", (ROOT / "script" / "demo").read_text(), re.M))
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    for place in (f"{written}/answers.csv", f"docs/{written}/report.html"):
        assert subprocess.run(["git", "check-ignore", "-q", place], cwd=folder, check=False).returncode == 0, place


def test_continuous_integration_runs_the_commands_of_the_readme_in_their_order(tmp_path: Path):
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / "script").mkdir()
    for name in ("demo", "test"):
        program = tmp_path / "script" / name
        program.write_text(f'#!/bin/sh\necho "script/{name} $@"\n', encoding="utf-8")
        program.chmod(0o755)
    done = subprocess.run([tmp_path / ".ci" / "run", "-x"], capture_output=True, text=True, check=True)
    told = re.findall(r"^\$ (script/\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)
    assert [line.split()[0] for line in done.stdout.splitlines()] == told == ["script/demo", "script/test"]
    assert done.stdout.splitlines()[1] == "script/test -x"
