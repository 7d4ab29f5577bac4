"""script/test as root names every service that it is about to install on the machine before it installs the first."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.tree import ROOT

_TOOLS = ("bash", "sed", "env", "cat")
_SCRIPT = """
set -euo pipefail
heading() { printf '\\n== %s ==\\n' "$*"; }
. "$1"
has_postgres() { false; }
has_java() { [ -n "${WITH_JAVA:-}" ]; }
has_chromium() { false; }
prepare_services
"""


def _told(folder: Path, user: int, **environment: str) -> list[str]:
    """What a machine with an apt-get that only says what it was asked for is told."""
    programs = {"apt-get": '#!/bin/sh\necho "apt-get $*" >> "$ASKED"\n', "id": f"#!/bin/sh\necho {user}\n"}
    folder.mkdir()
    for name, text in programs.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    for name in _TOOLS:
        (folder / name).symlink_to(str(shutil.which(name)))
    asked = folder / "asked"
    # What apt-get is asked and what people are told go into one file, in their order.
    command = ["bash", "-c", f"exec >>{asked} 2>&1\n{_SCRIPT}", "bash", str(ROOT / "script" / "services")]
    environment = {**environment, "PATH": str(folder), "ASKED": str(asked)}
    subprocess.run(command, env=environment, check=True)
    return asked.read_text(encoding="utf-8").splitlines()


def test_root_is_told_of_every_service_before_the_first_is_installed(tmp_path: Path):
    told = _told(tmp_path / "all", 0)
    before = "\n".join(told[: next(i for i, line in enumerate(told) if line.startswith("apt-get install"))])
    assert "PostgreSQL, Java 17, Chromium" in before
    assert sum(line.startswith("apt-get install") for line in told) == 3


def test_only_what_is_lacking_is_named_and_installed(tmp_path: Path):
    told = _told(tmp_path / "some", 0, WITH_JAVA="yes")
    assert any("PostgreSQL, Chromium." in line for line in told)
    assert not any("openjdk" in line or "Java" in line for line in told)


def test_nobody_but_root_installs(tmp_path: Path):
    told = _told(tmp_path / "none", 1000)
    assert len(told) == 3
    assert all("is not installed, and this user may not install it" in line for line in told)
