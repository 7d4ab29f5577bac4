"""What only shows in a process of its own: exit codes, pipes, signals, full disks, terminals, start-up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import noisewright
from tests.e2e.command import DESIGN, assert_failed, assert_succeeded, process

FULL = Path(os.sep, "dev", "full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes behave differently elsewhere")


def test_the_whole_way_from_a_question_to_an_answer(tmp_path: Path):
    written = process(*DESIGN, "--json", "--save", "m.json", "--plot", "m.png", folder=tmp_path)
    assert_succeeded(written)
    assert json.loads(written.out)["candidates"][0]["name"] == "staircase"
    assert written.err.splitlines() == ["The mechanism (staircase) is in m.json.", "The picture is in m.png."]
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    assert_succeeded(process("verify", "m.json", folder=tmp_path))
    assert_succeeded(process("describe", "m.json", folder=tmp_path))
    answer = process("answer", "m.json", "--value", "-3.5", folder=tmp_path)
    assert_succeeded(answer)
    assert abs(float(answer.out) + 3.5) < 45


def test_exit_codes_reach_the_shell(tmp_path: Path):
    assert process("--version", folder=tmp_path).out == f"noisewright {noisewright.__version__}\n"
    assert_failed(process("verify", "missing.json", folder=tmp_path), 1, "cannot read missing.json")
    assert_failed(process("design", "--epsilon", "-1", *DESIGN[3:], folder=tmp_path), 2, "epsilon is -1")
    assert_failed(process("design", "--bogus", folder=tmp_path), 2, "--bogus")


def test_help_loads_nothing_heavy(tmp_path: Path):
    code = (
        "import sys; from noisewright.app.cli import main; assert main(['--help']) == 0;"
        " heavy = {'numpy', 'scipy', 'flint', 'highspy', 'matplotlib', 'cryptography', 'pydantic'} & set(sys.modules);"
        " sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_has_no_colours_where_there_is_no_terminal(tmp_path: Path):
    plain = dict.fromkeys(("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"), "")
    assert "\x1b" not in process("--help", folder=tmp_path, environment=plain).out


def test_a_terminal_without_line_characters_gets_hyphens(tmp_path: Path):
    outcome = process(*DESIGN, folder=tmp_path, environment={"PYTHONIOENCODING": "ascii"})
    assert_succeeded(outcome)
    assert "\n---" in outcome.out


def test_bash_completion_can_be_shown(tmp_path: Path):
    outcome = process(folder=tmp_path, environment={"_NOISEWRIGHT_COMPLETE": "source_bash"})
    assert_succeeded(outcome)
    assert "complete -o default -F _noisewright_completion noisewright" in outcome.out


SWEEP = ("sweep", "--sensitivity", "1", "--utility", "squared-error", "--epsilons", "1,2")
IGNORING = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
    " os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])"
)


def _interrupted(begin: str, folder: Path, *, ignored: bool) -> subprocess.CompletedProcess[str]:
    """A sweep that interrupts itself at its first design, in a process that did or did not ignore interruptions.

    The signal comes from inside, once the sweep is under way, so that no waiting time has to be guessed.
    """
    code = (
        f"import os, signal, sys; {begin}; from noisewright.app import cli; import noisewright.search.design as sweep;"
        " design = sweep.design;"
        " sweep.design = lambda *a, **k: (os.kill(os.getpid(), signal.SIGINT), design(*a, **k))[1];"
        f" sys.exit(cli.main({list(SWEEP)!r}))"
    )
    words = ["-c", IGNORING, code] if ignored else ["-c", code]
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False)


@posix
@pytest.mark.parametrize("ignored", [False, True], ids=["in the foreground", "whatever started the tests"])
def test_an_interruption_ends_quietly(tmp_path: Path, ignored: bool):
    # As if started from a terminal: whoever runs these tests may ignore the signal, as background jobs do.
    done = _interrupted("signal.signal(signal.SIGINT, signal.default_int_handler)", tmp_path, ignored=ignored)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGINT, "", "")


@posix
def test_a_job_in_the_background_is_not_interrupted(tmp_path: Path):
    done = _interrupted("pass", tmp_path, ignored=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "staircase" in done.stdout


@posix
def test_a_reader_that_leaves_early_is_no_reason_to_complain(tmp_path: Path):
    command = [sys.executable, "-m", "noisewright", *DESIGN, "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        complaint = running.stderr.read()
    assert complaint == b""
    assert running.returncode == 1


@needs_full
def test_a_full_disk_is_one_line(tmp_path: Path):
    command = [sys.executable, "-m", "noisewright", *DESIGN]
    with FULL.open("w") as full:
        done = subprocess.run(
            command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


@needs_full
@pytest.mark.parametrize("option", ["--save", "--csv"])
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, option: str):
    words = DESIGN if option == "--save" else ("sweep", *DESIGN[3:], "--epsilons", "1")
    outcome = process(*words, option, str(FULL), folder=tmp_path)
    assert outcome.code == 1
    assert len(outcome.err.splitlines()) == 1
    assert outcome.err.startswith(f"error: {FULL}: cannot be written")


@posix
def test_a_person_at_a_terminal_sees_progress(tmp_path: Path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    words = ("sweep", *DESIGN[3:], "--epsilons", "1,2")
    impatient = (
        "from noisewright.search.report import progress; progress.PATIENCE = 0; import noisewright.__main__ as m"
    )
    command = [sys.executable, "-c", f"{impatient}; m.main()", *words]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True, check=False)
    os.close(theirs)
    shown = os.read(ours, 65536).decode("utf-8")
    os.close(ours)
    assert done.returncode == 0
    assert "sweep: epsilon = " in shown
    assert "\x1b" not in done.stdout
