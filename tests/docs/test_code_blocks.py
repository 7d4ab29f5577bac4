"""What the documentation shows is run as shown.

On each page the blocks run in order, in one empty directory: Python blocks share a namespace, console
blocks run their `$ noisewright ...` lines: here inside this process, in script/soak each in one of its own.
Blocks of any other language are not run. The programme of the page of Spark is submitted in a test of its own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import noisewright
from noisewright.app.cli import main
from noisewright.ledger.ledger import Ledger
from tests.docs.keeping import LEAST, released_with_shares
from tests.docs.pages import ROOT, Block, blocks, commands, pages, skeleton
from tests.postgres_server import PASSWORD
from tests.spark_session import linked_home

OUTDATED = "what is shown is not what the block before it prints; run docs/make_outputs.py"
LANGUAGES = {"python", "console", "text", "json", "bash", "toml"}


def _runnable(page: Path) -> bool:
    return any(block.language in {"python", "console"} for block in blocks(page.read_text(encoding="utf-8")))


RUNNABLE = [page for page in pages() if _runnable(page)]
SPARK = ROOT / "docs" / "spark.md"
WITH_COMMANDS = [page for page in RUNNABLE if page != SPARK and "\n$ noisewright " in page.read_text(encoding="utf-8")]


def _tool() -> str:
    tool = shutil.which("noisewright", path=sysconfig.get_path("scripts"))
    assert tool, "the command line is not installed beside this Python; script/test installs it"
    return tool


Run = Callable[[list[str]], tuple[int, str, str]]
"""Runs the command line with these words: its exit code, what it printed, what it complained about."""


def _in_a_process_of_its_own(words: list[str]) -> tuple[int, str, str]:
    done = subprocess.run([_tool(), *words], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def _in_this_process(words: list[str]) -> tuple[int, str, str]:
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = main(words)
    return code, out.getvalue(), err.getvalue()


def _run_console(block: Block, place: str, run: Run) -> str:
    shown = ""
    for command in commands(block):
        words = shlex.split(command, comments=True)
        if words[0] != "noisewright":
            continue
        code, out, err = run([os.path.expandvars(word) for word in words[1:]])
        assert code == 0, f"{place}: {command}\n{out}{err}"
        shown += out
    return shown


def _keep_file(block: Block, place: str) -> None:
    """Write a file of the page; its first line, a comment, is its name."""
    name = block.text.partition("\n")[0].removeprefix("# ")
    assert Path(name).name == name, f"{place}: the first line of a file is a comment with its name"
    assert name.endswith(".toml"), f"{place}: {name} is no name of a TOML file"
    Path(name).write_text(block.text, encoding="utf-8")


def _run_python(block: Block, page: Path, names: dict[str, object]) -> str:
    # Leading newlines make tracebacks point at the line of the page.
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    with redirect_stdout(StringIO()) as shown:
        exec(code, names)
    return shown.getvalue()


def _run_page(page: Path, folder: Path, run: Run) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page.read_text(encoding="utf-8")):
        place = f"{page.name}:{block.line}"
        if block.language == "python":
            printed = _run_python(block, page, names)
        elif block.language == "toml":
            _keep_file(block, place)
        elif block.language == "console":
            printed = _run_console(block, place, run)
        elif block.is_output:
            found = printed.replace(f"{folder}/", "")
            assert skeleton(block.text) == skeleton(found), f"{place}: {OUTDATED}\n{found}"
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """The empty folder that a page runs in, with what its reader has around it."""
    monkeypatch.chdir(tmp_path)
    if request.node.callspec.params["page"].name == "postgres.md":
        server = request.getfixturevalue("server")
        monkeypatch.setenv("CLINIC", f"postgresql://owner@127.0.0.1:{server.port}/postgres")
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
    if request.node.callspec.params["page"] == SPARK:
        request.getfixturevalue("spark")
        monkeypatch.setenv("CLINIC", str(tmp_path / "clinic"))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs_as_written_and_its_limits_keep_nearly_all_rows(page: Path, place: Path):
    with released_with_shares() as kept:
        _run_page(page, place, _in_this_process)
    assert min(kept, default=1) >= LEAST, f"shares of rows kept, by release: {kept}"


@pytest.mark.soak
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs_with_every_command_in_a_process_of_its_own(page: Path, place: Path):
    _run_page(page, place, _in_a_process_of_its_own)


def test_the_installed_tool_is_the_command_line_that_the_pages_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    version = (0, f"noisewright {noisewright.__version__}\n", "")
    assert _in_a_process_of_its_own(["--version"]) == _in_this_process(["--version"]) == version


@pytest.mark.soak
@pytest.mark.xdist_group("spark")
def test_the_programme_of_the_page_of_spark_is_submitted_to_two_workers(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
):
    spark = request.getfixturevalue("spark").session
    spark.range(900).selectExpr("id AS patient", "chr(65 + id % 3) AS ward").write.parquet(f"{tmp_path}/visits")
    found = list(blocks(SPARK.read_text(encoding="utf-8")))
    (programme,) = [block.text for block in found if block.text.startswith("# release_visits.py")]
    (submit,) = [line for block in found for line in commands(block) if line.startswith("spark-submit")]
    (tmp_path / "release_visits.py").write_text(programme, encoding="utf-8")
    tool = shutil.which("spark-submit", path=sysconfig.get_path("scripts"))
    assert tool
    here = submit.replace("--master yarn", "--master local-cluster[2,1,1024]").replace("memory=4g", "memory=1g")
    settings = ["--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1"]
    monkeypatch.setenv("CLINIC", str(tmp_path))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("SPARK_HOME", str(linked_home(tmp_path)))
    words = [tool, *settings, *shlex.split(here)[1:]]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    printed = [line.split() for line in done.stdout.splitlines() if " count " in line]
    assert [ward for row in printed for ward in row if ward in "ABC"] == ["A", "B", "C"], done.stdout
    assert Ledger.open(tmp_path / "clinic.ledger").remaining == 2


def test_the_first_page_and_the_manual_have_something_to_run():
    assert {"README.md", "getting-started.md", "command-line.md", "tutorial.md"} <= {page.name for page in RUNNABLE}


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_says_what_it_is(page: Path):
    for block in blocks(page.read_text(encoding="utf-8")):
        assert block.language in LANGUAGES, f"{page.name}:{block.line}: a block of language {block.language!r}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_scripts_named_in_console_blocks_exist(page: Path):
    for block in blocks(page.read_text(encoding="utf-8")):
        for command in commands(block) if block.language == "console" else ():
            first = shlex.split(command, comments=True)[0]
            if first.startswith("script/"):
                assert os.access(ROOT / first, os.X_OK), f"{page.name}:{block.line}: {first} cannot be run"


def test_a_fence_is_read_with_its_line_and_continuations():
    page = (
        "a\n\n```console\n$ noisewright design \\\n    --epsilon 1\noutput\n```\n\n    ```python\n    x = 1\n    ```\n"
    )
    console, python = blocks(page)
    assert (console.line, python.line) == (4, 10)
    assert [shlex.split(command) for command in commands(console)] == [["noisewright", "design", "--epsilon", "1"]]
    assert python.text == "x = 1\n"


def test_an_output_is_compared_by_its_words():
    assert skeleton("north   121  ±3\n------ ----\nmean -0.5") == skeleton("north 98 ±3\n--- --\nmean 1e-9")
    assert skeleton("north 121") != skeleton("south 121")
