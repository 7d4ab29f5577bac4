"""What every request passes: it comes to this machine by its own name, is small, and brings the token where it must."""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "x-noisewright-token"
LARGEST_BODY = 16 * 1024
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""What every answer carries."""


def hosts_of(port: int) -> frozenset[str]:
    """The names under which this page may be asked for. Another name is another site that points here."""
    return frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))


class Guards:
    """Around the application: refuses what is not meant for it, before anything is read or computed."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], token: str) -> None:
        self._app, self._hosts, self._token = app, frozenset(hosts), token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it; every answer gets the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(Headers(scope=scope), scope["path"])
        if refusal is not None:
            await refusal(scope, receive, sent)
            return
        await self._app(scope, _limited(receive), sent)

    def _refusal(self, headers: Headers, path: str) -> Response | None:
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return PlainTextResponse("This page answers to 127.0.0.1 and localhost only.\n", 421)
        origins = headers.getlist("origin")
        if any(origin.removeprefix("http://") not in self._hosts for origin in origins):
            return PlainTextResponse("Requests from other sites are refused.\n", 403)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > LARGEST_BODY:
            return JSONResponse({"message": f"At most {LARGEST_BODY // 1024} KiB are read."}, 413)
        if path.startswith("/api/") and not self._known(headers.getlist(TOKEN_HEADER)):
            return JSONResponse({"message": "The token is missing or wrong: use the address that was printed."}, 401)
        return None

    def _known(self, given: list[str]) -> bool:
        return len(given) == 1 and hmac.compare_digest(given[0].encode(), self._token.encode())


class TooLargeError(Exception):
    """A body that is larger than it may be, whatever its header says."""


def _limited(receive: Receive) -> Receive:
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > LARGEST_BODY:
            raise TooLargeError
        return message

    return limited
