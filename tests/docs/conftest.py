"""The site, built once for all tests that look at it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.docs.pages import ROOT
from tests.explorer.conftest import browser as browser


@dataclass(frozen=True)
class Built:
    """The folder of the site, and what the programme that built it said."""

    folder: Path
    status: int
    told: str


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Every page, with warnings as errors; the one that script/test has built, if it did."""
    if built := os.environ.get("NOISEWRIGHT_SITE"):
        return Built(Path(built), 0, "")
    tool = shutil.which("mkdocs", path=sysconfig.get_path("scripts"))
    assert tool, "mkdocs is not installed beside this Python; script/test installs it"
    folder: Path = tmp_path_factory.mktemp("site")
    words = [tool, "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return Built(folder, done.returncode, done.stdout + done.stderr)


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many files

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def address(site: Built) -> Iterator[str]:
    """Where the site is served, on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site.folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()
