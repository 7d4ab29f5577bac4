"""The server of the explorer: a page, its two files, and four calls that need the token."""

from __future__ import annotations

import hmac
import json
import socket
import webbrowser
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.resources import files
from threading import Thread
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from noisewright.app.explorer.form import NAMES, TABLE, EntryError, State, clean, read
from noisewright.app.explorer.lanes import BusyError, CancelledWorkError, Lane
from noisewright.app.explorer.page import page
from noisewright.app.explorer.recipes import number
from noisewright.problem.errors import InvalidInputError
from noisewright.sample.entropy import SystemEntropy

_ASSETS = {"explorer.css": "text/css", "explorer.js": "text/javascript", "icon.svg": "image/svg+xml"}
_MOST_KEPT, _LARGEST_KEPT = 24, 8 * 2**20
_MOST_QUESTIONS, _MOST_POINTS, _MOST_SETTLED = 64, 400, 1000
_WIDTHS = range(100, 4001)
Said = dict[str, Any]


class BadRequestError(Exception):
    """A call that this page never makes."""


class Explorer:
    """What the server holds: two lanes of work, the curves and amounts that were found, and the last mechanisms."""

    def __init__(self, spec: str | None, lane: type[Lane]) -> None:
        self.spec = spec
        self.lanes = {"look": lane(spec), "more": lane(spec)}
        self.points: OrderedDict[str, list[list[Any]]] = OrderedDict()
        self.settled: OrderedDict[tuple[str, str], str] = OrderedDict()
        self.mechanisms: OrderedDict[str, str] = OrderedDict()

    def keep(self, said: Said) -> Said:
        """Remember what later requests need, and leave only what the page shows."""
        if said.get("key") and said.get("points"):
            merged = dict([*self.points.get(said["key"], []), *said["points"]])
            self.points[said["key"]] = [list(pair) for pair in merged.items()][-_MOST_POINTS:]
            self.points.move_to_end(said["key"])
            while len(self.points) > _MOST_QUESTIONS:
                self.points.popitem(last=False)
        if said.get("key") and said.get("target"):
            self.settled[said["key"], said["target"]] = said["amount"]
            while len(self.settled) > _MOST_SETTLED:
                self.settled.popitem(last=False)
        if "mechanism" in said:
            text = json.dumps(said["mechanism"], indent=1)
            said["download"] = len(text) <= _LARGEST_KEPT
            if said["download"]:
                self.mechanisms[said["digest"]] = text
            while len(self.mechanisms) > _MOST_KEPT:
                self.mechanisms.popitem(last=False)
        return {name: value for name, value in said.items() if name not in ("points", "mechanism", "key")}


def application(token: str, hosts: frozenset[str], spec: str | None = None, lane: type[Lane] = Lane) -> ASGIApp:
    """The whole application; hosts are the names that it answers to, and a lane is where work is done."""
    explorer = Explorer(spec, lane)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        for lane in explorer.lanes.values():
            await lane.start()
        yield
        for lane in explorer.lanes.values():
            await lane.close()

    routes = [
        Route("/", _page(explorer), methods=["GET"]),
        Route("/static/{name}", _asset, methods=["GET"]),
        Route("/api/look", _work(explorer, "look"), methods=["POST"]),
        Route("/api/more", _work(explorer, "more"), methods=["POST"]),
        Route("/api/cancel", _cancel(explorer), methods=["POST"]),
        Route("/api/mechanism", _mechanism(explorer), methods=["POST"]),
    ]
    refusals = {BadRequestError: _bad, TooLargeError: _too_large}
    inner = Starlette(routes=routes, lifespan=lifespan, exception_handlers=refusals)
    return Guards(inner, hosts, token)


async def _bad(_: Request, error: Exception) -> Response:
    return JSONResponse({"message": str(error)}, 400)


async def _too_large(_: Request, __: Exception) -> Response:
    return JSONResponse({"message": "The request is too large."}, 413)


def _page(explorer: Explorer) -> Any:
    async def show(request: Request) -> Response:
        # What the address says and the page does not know is left out: old links stay links.
        given = {name: text for name, text in request.query_params.items() if name in NAMES}
        try:
            state = clean(given)
        except EntryError:
            state = {}
        return HTMLResponse(page(state, spec=explorer.spec))

    return show


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _ASSETS:
        return JSONResponse({"message": "There is no such file."}, 404)
    held = files("noisewright.app.explorer").joinpath("static", name).read_bytes()
    return Response(held, media_type=_ASSETS[name])


async def _given(request: Request, names: set[str]) -> Said:
    """The table in the body, with exactly these names."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise BadRequestError("Calls are JSON.")
    try:
        found = json.loads(await request.body(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise BadRequestError("The call is no JSON.") from None
    if not isinstance(found, dict) or set(found) != names:
        raise BadRequestError(f"The call is a table with {', '.join(sorted(names))}.")
    return found


def _no_constant(_: str) -> Any:
    raise ValueError("not a number")


def _request(explorer: Explorer, task: str, given: Said) -> Said:
    """What the worker is asked, checked as far as that takes no work."""
    widths = given["widths"]
    if not isinstance(widths, list) or len(widths) != 2 or not all(type(w) is int and w in _WIDTHS for w in widths):
        raise BadRequestError("widths are two whole numbers of pixels.")
    state: State = clean(given["state"])
    request: Said = {"task": task, "state": state, "widths": widths, "known": []}
    if state.get("question") == TABLE:
        return request
    asked = read(state)
    request["known"] = explorer.points.get(asked.key, [])
    if asked.move == "accuracy" and asked.target is not None:
        request["settled"] = explorer.settled.get((asked.key, number(asked.target)))
    if task == "more":
        if not isinstance(given["slow"], bool):
            raise BadRequestError("slow is true or false.")
        if asked.amount is None:
            raise EntryError("say an amount.", "amount")
        request |= {"amount": str(asked.amount), "slow": given["slow"]}
    return request


def _work(explorer: Explorer, task: str) -> Any:
    names = {"state", "widths"} | ({"slow"} if task == "more" else set())

    async def work(request: Request) -> Response:
        given = await _given(request, names)
        try:
            wanted = _request(explorer, task, given)
        except EntryError as error:
            # A wrong entry is no broken call: it is said like everything else that the worker might say of it.
            return _events(_line({"event": "refused", "entry": error.entry, "message": error.message}))
        events = explorer.lanes[task].ask(wanted)
        try:
            first = await anext(events)
        except BusyError:
            return JSONResponse({"message": "Too many requests wait already; try again in a moment."}, 503)
        except CancelledWorkError as error:
            first = {"event": "refused", "entry": "", "message": str(error)}
        return _events(_streamed(explorer, first, events))

    return work


def _events(content: bytes | AsyncIterator[bytes]) -> Response:
    if isinstance(content, bytes):
        return Response(content, media_type="text/event-stream")
    return StreamingResponse(content, media_type="text/event-stream")


async def _streamed(explorer: Explorer, first: Said, events: AsyncIterator[Said]) -> AsyncIterator[bytes]:
    """Server-sent events; what ends them early is said as the last one."""
    yield _line(explorer.keep(first))
    try:
        async for said in events:
            yield _line(explorer.keep(said))
    except CancelledWorkError as error:
        yield _line({"event": "refused", "entry": "", "message": str(error)})


def _line(said: Said) -> bytes:
    return f"data: {json.dumps(said)}\n\n".encode()


def _cancel(explorer: Explorer) -> Any:
    async def cancel(request: Request) -> Response:
        await _given(request, set())
        for lane in explorer.lanes.values():
            lane.cancel()
        return JSONResponse({"message": "Cancelled."})

    return cancel


def _mechanism(explorer: Explorer) -> Any:
    async def download(request: Request) -> Response:
        given = await _given(request, {"digest"})
        text = explorer.mechanisms.get(given["digest"]) if isinstance(given["digest"], str) else None
        if text is None:
            return JSONResponse({"message": "This mechanism is no longer held; move a slider and try again."}, 404)
        headers = {"content-disposition": 'attachment; filename="mechanism.json"'}
        return Response(text + "\n", media_type="application/json", headers=headers)

    return download


# What every request passes: it comes to this machine by its own name, is small, and brings the token where it must.


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


# Starting and ending the server of the explorer: on loopback only, with a token that is made anew each time.


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
