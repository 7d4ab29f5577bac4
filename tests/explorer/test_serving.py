"""The real server: a thousand requests at once, Ctrl-C, and what the command refuses."""

from __future__ import annotations

import asyncio
import json
import socket
from collections import Counter
from pathlib import Path
from urllib.request import Request, urlopen

from tests.e2e.command import Cli, assert_failed
from tests.explorer.served import Served, served

_TOGETHER = 1000


async def _sent(port: int, request: bytes) -> int:
    """The status of one request on a connection of its own; 0 where the connection was refused or cut."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        await writer.drain()
        line = await asyncio.wait_for(reader.readline(), 60)
        await reader.read(1 << 16)
        writer.close()
        return int(line.split()[1]) if line else 0
    except (OSError, IndexError, ValueError):
        return 0


def _raw(explorer: Served, method: str, path: str, body: bytes = b"", token: str = "", host: str = "") -> bytes:
    at = explorer.base.removeprefix("http://").rstrip("/")
    lines = [f"{method} {path} HTTP/1.1", f"host: {host or at}", "connection: close", f"content-length: {len(body)}"]
    lines += ["content-type: application/json", f"x-noisewright-token: {token or explorer.token}", "", ""]
    return "\r\n".join(lines).encode() + body


def test_a_thousand_requests_at_once_leave_it_standing(explorer: Served):
    look = json.dumps({"state": {"move": "privacy", "amount": "0.9"}, "widths": [400, 400]}).encode()
    kinds = [
        _raw(explorer, "GET", "/"),
        _raw(explorer, "GET", "/static/explorer.js"),
        _raw(explorer, "POST", "/api/look", look),
        _raw(explorer, "POST", "/api/look", look, token="wrong"),
        _raw(explorer, "GET", "/", host="evil.example"),
        _raw(explorer, "POST", "/api/mechanism", b'{"digest": "none"}'),
        _raw(explorer, "GET", "/static/../../../secret"),
        b"\x16\x03\x01 nonsense \x00\xff\r\n\r\n",
    ]
    port = int(explorer.base.rstrip("/").rpartition(":")[2])

    async def everything() -> list[int]:
        return list(await asyncio.gather(*(_sent(port, kinds[i % len(kinds)]) for i in range(_TOGETHER))))

    found = Counter(asyncio.run(everything()))
    assert set(found) <= {0, 200, 400, 401, 404, 421, 503}, found
    assert explorer.process.poll() is None
    body = json.dumps({"state": {"move": "privacy", "amount": "1"}, "widths": [400, 400]}).encode()
    headers = {"content-type": "application/json", "x-noisewright-token": explorer.token}
    with urlopen(Request(f"{explorer.base}api/look", body, headers), timeout=60) as answer:
        assert b'"event": "look"' in answer.read()


def test_it_is_reached_on_loopback_only(explorer: Served):
    port = int(explorer.base.rstrip("/").rpartition(":")[2])
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1"}:
        if str(address).startswith("127."):
            continue
        with socket.socket() as other:
            other.settimeout(2)
            assert other.connect_ex((address, port)) != 0, address


def test_ctrl_c_ends_it_cleanly(tmp_path: Path):
    with served(tmp_path) as found:
        process = found.process
        assert process.stderr is not None
        assert "Ctrl-C ends the explorer" in process.stderr.readline()
    assert process.returncode in (0, 130)


def test_what_cannot_be_served_is_refused_in_one_line(cli: Cli, tmp_path: Path):
    assert_failed(cli("explore", "--port", "many"), 2, "--port is 'many'", "0 to 65535")
    assert_failed(cli("explore", "--port", "70000"), 2, "0 to 65535")
    assert_failed(cli("explore", "--spec", "none.toml"), 2, "none.toml")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert_failed(cli("explore", "--port", str(taken.getsockname()[1])), 2, "cannot be used", "--port")
