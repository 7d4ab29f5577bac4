"""Hostile input to every endpoint: refused or escaped, and never an error that nobody meant."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from noisewright.app.explorer.form import KINDS, NAMES, PRIVACY, UTILITY, EntryError, clean, read
from noisewright.app.explorer.server import HEADERS, LARGEST_BODY, Explorer
from noisewright.app.explorer.worker import answered
from tests.explorer.asgi import HOST, JSON, PORT, TOKEN, Echo, app, ask, post

CALLS = ("/api/look", "/api/more", "/api/cancel", "/api/mechanism")
SCRIPT = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
LOOK = {"state": {}, "widths": [400, 800]}
Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
Texts = st.text(max_size=40) | st.sampled_from(
    ["", "1", "-1", "1e999", "1e-999", "nan", "1/0", "0x10", "1_000", SCRIPT]
)


@pytest.mark.parametrize("path", ["/", "/static/explorer.css", *CALLS])
@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"[::2]:{PORT}", ""]
)
def test_other_hosts_are_refused(path: str, host: str):
    method = "POST" if path in CALLS else "GET"
    reply = ask(app(), method, path, (("host", host), JSON, ("x-noisewright-token", TOKEN)), b"{}")
    assert reply.status == 421


def test_two_hosts_or_none_are_refused():
    for headers in ((), (HOST, HOST), (HOST, ("host", "evil.example"))):
        assert ask(app(), "GET", "/", headers).status == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_loopback_is_answered_with_a_strict_policy(host: str):
    reply = ask(app(), "GET", "/", (("host", f"{host}:{PORT}"),))
    assert reply.status == 200
    assert HEADERS.items() <= reply.headers.items()
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert b"style=" not in reply.body
    assert b"<script>" not in reply.body


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "file://"])
def test_other_origins_are_refused(origin: str):
    assert post(app(), "/api/look", LOOK, ("origin", origin)).status == 403


@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "0", TOKEN.upper()])
def test_calls_need_the_token(path: str, token: str | None):
    reply = post(app(), path, LOOK, token=token)
    assert reply.status == 401
    assert TOKEN not in reply.body.decode()


def test_two_tokens_are_refused():
    assert post(app(), "/api/look", LOOK, ("x-noisewright-token", TOKEN)).status == 401


@pytest.mark.parametrize("path", CALLS)
def test_large_bodies_are_refused_whatever_their_header_says(path: str):
    large = b'{"state": "' + b"x" * LARGEST_BODY + b'"}'
    assert post(app(), path, large).status == 413
    for length in ("99999999999999999999999", "-1", "1e3", "٣", str(LARGEST_BODY + 1)):
        assert post(app(), path, b"{}", ("content-length", length)).status == 413


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static//etc/passwd",
        "/static/%2e%2e/%2e%2e/cli.py",
        "/static/explorer.css/..",
        "/static/",
        "/etc/passwd",
        "/api",
        "/api/",
        "/.git/config",
        "//",
    ],
)
def test_paths_outside_are_not_found(path: str):
    assert ask(app(), "GET", path, (HOST, ("x-noisewright-token", TOKEN))).status == 404


@pytest.mark.parametrize("path", ["/", "/static/explorer.js", *CALLS])
@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "X" * 50])
def test_other_methods_are_refused(path: str, method: str):
    assert ask(app(), method, path, (HOST, JSON, ("x-noisewright-token", TOKEN)), b"{}").status == 405


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_calls_that_a_form_could_make_are_refused(kind: str):
    headers = (HOST, ("content-type", kind), ("x-noisewright-token", TOKEN))
    assert ask(app(), "POST", "/api/look", headers, json.dumps(LOOK).encode()).status == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"state": {}}',
        b'{"state": {}, "widths": [NaN, 1]}',
        b"[" * 5000,
        b"\xff\xfe",
        b"1" * 5000,
    ],
)
@pytest.mark.parametrize("path", ["/api/look", "/api/more", "/api/mechanism"])
def test_bodies_of_other_shapes_are_refused(path: str, body: bytes):
    assert post(app(), path, body).status == 400


@pytest.mark.parametrize(
    "widths", [None, [], [1], [400, 400, 400], [True, 400], ["400", 400], [400.0, 400], [-1, 400], [10**9, 1]]
)
def test_widths_are_two_whole_numbers(widths: Any):
    assert post(app(), "/api/look", {"state": {}, "widths": widths}).status == 400


def test_a_mechanism_that_was_not_designed_here_is_not_given():
    for digest in ("", "../server.py", None, 3, ["x"], "0" * 64):
        assert post(app(), "/api/mechanism", {"digest": digest}).status == 404


@pytest.mark.parametrize("name", sorted(NAMES))
def test_script_in_the_address_is_escaped(name: str):
    from urllib.parse import quote

    reply = ask(app(), "GET", "/", query=f"{name}={quote(SCRIPT)}".encode())
    assert reply.status == 200
    assert b"<script>alert" not in reply.body
    assert b"<img" not in reply.body


def test_script_in_a_field_never_comes_back_as_markup():
    """Errors are texts that the page writes as text; fragments of HTML are escaped where they are made."""
    for name in ("sensitivity", "integer", "confidence", "truth", "target", "amount", "question"):
        request = {"task": "look", "state": {name: SCRIPT}, "known": [], "widths": [400, 400]}
        for said in answered(request, None, _quiet):
            assert "<script" not in json.dumps(said.get("panels", {})), name
            assert "<img" not in json.dumps(said.get("panels", {})), name


def _quiet(*_: Any) -> None:
    pass


@settings(max_examples=80, deadline=None)
@given(path=st.sampled_from(CALLS), data=Json)
def test_any_json_is_answered(path: str, data: Any):
    assert post(app(), path, data).status in (200, 400, 404, 413)


@settings(max_examples=80, deadline=None)
@given(
    method=st.sampled_from(["GET", "POST", "HEAD", "FOO"]),
    path=st.text(max_size=40).map(lambda text: "/" + text),
    query=st.binary(max_size=60),
    body=st.binary(max_size=200),
    name=st.sampled_from(
        ["host", "origin", "content-type", "content-length", "x-noisewright-token", "cookie", "range"]
    ),
    value=st.text(max_size=40),
)
def test_any_request_is_answered(method: str, path: str, query: bytes, body: bytes, name: str, value: str):
    reply = ask(app(), method, path, (HOST, (name, value)), body, query)
    assert 200 <= reply.status < 500
    assert HEADERS.items() <= reply.headers.items()


@settings(max_examples=120, deadline=None)
@given(
    state=st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(sorted(NAMES - {"question", "privacy", "utility"}), Texts),
            "question": st.sampled_from(list(KINDS)),
            "privacy": st.sampled_from(list(PRIVACY)),
            "utility": st.sampled_from(list(UTILITY)),
        },
    )
)
def test_fields_are_read_or_refused_by_name(state: dict[str, str]):
    reply = post(app(), "/api/look", {"state": state, "widths": [400, 400]})
    assert reply.status == 200
    said = json.loads(reply.body.decode().splitlines()[0].removeprefix("data: "))
    if said["event"] == "refused":
        assert said["entry"] in NAMES
        assert said["message"]
    else:
        assert read(clean(state)).key == read(clean(said["request"]["state"])).key


def test_what_is_held_stays_small():
    explorer = Explorer(None, Echo)
    for i in range(200):
        points = [[str(j), {"values": {"x": 1.0}, "bound": None}] for j in range(50)]
        explorer.keep({"event": "look", "key": str(i), "points": points, "digest": str(i), "mechanism": {"i": i}})
        explorer.keep({"event": "curve", "key": "same", "points": [[f"{i}/7", points[0][1]] for _ in range(9)]})
    assert len(explorer.points) <= 64
    assert len(explorer.mechanisms) <= 24
    assert all(len(points) <= 400 for points in explorer.points.values())
    huge = explorer.keep({"event": "look", "digest": "huge", "mechanism": {"x": "y" * (9 * 2**20)}})
    assert huge["download"] is False
    assert "huge" not in explorer.mechanisms


@pytest.mark.parametrize(
    "bad",
    [{"unknown": "1"}, {"amount": 1}, {"amount": None}, {"amount": "1" * 500}, {"amount": "1\n2"}, [], "x", None],
    ids=repr,
)
def test_unknown_fields_and_other_types_are_refused(bad: Any):
    with pytest.raises(EntryError):
        clean(bad)
