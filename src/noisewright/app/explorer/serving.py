"""Starting and ending the server of the explorer: on loopback only, with a token that is made anew each time."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn

from noisewright.app.explorer.server import application, hosts_of
from noisewright.problem.errors import InvalidInputError
from noisewright.sample.entropy import SystemEntropy

HOST = "127.0.0.1"
_BACKLOG = 1024
_MOST_AT_ONCE = 300
_GOODBYE = 2


def new_token() -> str:
    """192 bits from the operating system, as text that fits into an address."""
    return SystemEntropy().stream().words(3).tobytes().hex()


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """A socket on loopback; port 0 is any free one."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((HOST, port))
        except OSError as error:
            raise InvalidInputError(
                f"--port is {port}, which cannot be used ({error.strerror}); give another, or 0 for any free one."
            ) from None
        found.listen(_BACKLOG)
        yield found


def address_of(port: int, token: str) -> str:
    """Where the page is. The token stands behind the hash, which browsers do not send."""
    return f"http://{HOST}:{port}/#token={token}"


def serve(listener: socket.socket, token: str, spec: str | None, *, browser: bool) -> None:
    """Serve until interrupted."""
    port = listener.getsockname()[1]
    app = application(token, hosts_of(port), spec)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_AT_ONCE,
        timeout_graceful_shutdown=_GOODBYE,
        ws="none",
    )
    if browser:
        Thread(target=webbrowser.open, args=(address_of(port, token),), daemon=True).start()
    uvicorn.Server(config).run(sockets=[listener])
