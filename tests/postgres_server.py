"""A real PostgreSQL server for the tests: made in a folder of its own, on loopback, asked for a password, stopped."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

PASSWORD = "a:secret word/with@signs"
_PATIENCE = 60


def programs() -> Path | None:
    """The folder of initdb and postgres, wherever the package puts them; None if there is none."""
    places = [Path(found).resolve().parent for found in (shutil.which("initdb"), shutil.which("postgres")) if found]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None)


def _account() -> dict[str, str | int]:
    """Whom to run as: the server refuses root."""
    if os.geteuid():
        return {}
    known = {entry.pw_name for entry in pwd.getpwall()}
    name = "postgres" if "postgres" in known else "nobody"
    return {"user": name, "group": pwd.getpwnam(name).pw_gid}


class Server:
    """One server; `url` is how to reach it, password included."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="noisewright-postgres-"))
        self._programs = folder
        self._as = _account()
        if self._as:
            shutil.chown(self._folder, self._as["user"])
        self._data = self._folder / "data"
        secret = self._folder / "password"
        secret.write_text(PASSWORD + "\n", encoding="utf-8")
        options = ["-U", "owner", "-A", "scram-sha-256", "--pwfile", str(secret), "--no-locale", "-E", "UTF8"]
        if self._as:
            shutil.chown(secret, self._as["user"])
        self._run(str(folder / "initdb"), "-D", str(self._data), *options)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """With the password, percent-encoded."""
        return f"postgresql://owner:a%3Asecret%20word%2Fwith%40signs@127.0.0.1:{self.port}/postgres"

    def another(self) -> Server:
        """A second server of the same programs."""
        return Server(self._programs)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = [str(self._programs / "postgres"), "-D", str(self._data), "-p", str(self.port)]
        words += ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self._data}"]
        words += ["-c", "max_connections=60"]
        log = (self._folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(words, stdout=log, stderr=log, cwd=self._folder, **self._as)  # type: ignore[call-overload]
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > end or self._process is None or self._process.poll() is not None:
                    raise RuntimeError((self._folder / "log").read_text(encoding="utf-8", errors="replace")) from None
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End every connection and the server."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_PATIENCE)
            self._process = None

    def remove(self) -> None:
        """Stop it and remove its folder."""
        self.stop(signal.SIGQUIT)  # nothing in it is needed any more
        shutil.rmtree(self._folder, ignore_errors=True)

    def execute(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """What somebody with full rights does to the database."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def _run(self, *words: str) -> None:
        done = subprocess.run(words, cwd=self._folder, capture_output=True, text=True, check=False, **self._as)  # type: ignore[call-overload]
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
