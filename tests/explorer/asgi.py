"""The application of the explorer, asked in this process with whatever bytes a test likes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from noisewright.app.explorer.lanes import Lane
from noisewright.app.explorer.server import application, hosts_of

TOKEN = "5d" * 24
PORT = 8642
HOST = ("host", f"127.0.0.1:{PORT}")
JSON = ("content-type", "application/json")


class Echo(Lane):
    """A lane that computes nothing: what would be asked of the worker is said back."""

    async def ask(self, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        yield {"event": "asked", "request": request}
        yield {"event": "done"}


@dataclass
class Reply:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def data(self) -> Any:
        return json.loads(self.body)


def app() -> Any:
    """A fresh application that computes nothing."""
    return application(TOKEN, hosts_of(PORT), None, Echo)


def ask(
    application: Any,
    method: str,
    path: str,
    headers: tuple[tuple[str, str], ...] = (HOST,),
    body: bytes = b"",
    query: bytes = b"",
) -> Reply:
    """Send one request; it must be answered, whatever is in it."""
    reply = Reply()

    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not parts:
            await asyncio.Event().wait()  # whoever asked stays to hear the answer
        return parts.pop()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            reply.status = message["status"]
            reply.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
        else:
            reply.body += message.get("body", b"")

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "surrogatepass"),
        "query_string": query,
        "root_path": "",
        "headers": [(n.lower().encode("latin-1"), v.encode("latin-1", "replace")) for n, v in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", PORT),
    }
    asyncio.run(application(scope, receive, send))
    return reply


def post(application: Any, path: str, data: Any, *more: tuple[str, str], token: str | None = TOKEN) -> Reply:
    """A call as the page makes it."""
    own = () if token is None else (("x-noisewright-token", token),)
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    return ask(application, "POST", path, (HOST, JSON, *own, *more), body)
