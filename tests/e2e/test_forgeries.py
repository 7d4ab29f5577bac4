"""Files that were damaged, edited or made up: each command refuses them with one line and exit code 1."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noisewright.problem.records import digest
from tests.e2e.command import Cli, assert_failed, assert_succeeded

Data = dict[str, Any]
USES = (("verify",), ("describe",), ("explain",), ("answer", "--value", "1"))


@pytest.fixture(params=USES, ids=lambda words: words[0])
def use(request: pytest.FixtureRequest, cli: Cli) -> Callable[[], Any]:
    """Each command that reads a mechanism, on file.json."""
    command, *rest = request.param
    return lambda: cli(command, "file.json", *rest)


def _sign(data: Data) -> Data:
    """What somebody would do who knows how the digests are made."""
    data["certificate"]["mechanism"] = digest(data["mechanism"])
    content = {key: value for key, value in data.items() if key != "digest"}
    return {**content, "digest": digest(content)}


def _with(data: Data, *path: str, value: Any) -> Data:
    changed = json.loads(json.dumps(data))
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


def test_the_forger_can_sign(cli: Cli, mechanism: Path, tmp_path: Path):
    data = json.loads(mechanism.read_text(encoding="utf-8"))
    assert _sign(data) == data
    (tmp_path / "file.json").write_text(json.dumps(_sign(data)), encoding="utf-8")
    assert_succeeded(cli("verify", "file.json"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"[]",
        b"[1, 2]",
        b"null",
        b"3",
        b"{}",
        b'{"format": "noisewright"}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
    ids=["empty", "text", "list", "numbers", "null", "number", "object", "half", "binary", "deep"],
)
def test_what_is_no_mechanism_is_refused(use: Callable[[], Any], tmp_path: Path, content: bytes):
    (tmp_path / "file.json").write_bytes(content)
    assert_failed(use(), 1)


def test_a_missing_file_and_a_folder_are_refused(use: Callable[[], Any], tmp_path: Path):
    assert_failed(use(), 1, "cannot read file.json")
    (tmp_path / "file.json").mkdir()
    assert_failed(use(), 1, "cannot read file.json")


@pytest.mark.parametrize("field", ["format", "mechanism", "certificate", "digest"])
def test_a_missing_field_is_named(use: Callable[[], Any], mechanism: Path, tmp_path: Path, field: str):
    data = json.loads(mechanism.read_text(encoding="utf-8"))
    del data[field]
    (tmp_path / "file.json").write_text(json.dumps(data), encoding="utf-8")
    assert_failed(use(), 1, field)


def test_an_edited_file_does_not_match_its_digest(use: Callable[[], Any], mechanism: Path, tmp_path: Path):
    data = json.loads(mechanism.read_text(encoding="utf-8"))
    edited = _with(data, "mechanism", "law", "rate", value="1/2")
    (tmp_path / "file.json").write_text(json.dumps(edited), encoding="utf-8")
    assert_failed(use(), 1, "does not match its digest")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("mechanism", "law", "rate"), "11/10"),
        (("mechanism", "query", "sensitivity"), "2"),
        (("certificate", "requirement", "epsilon"), "9/10"),
        (("certificate", "bound"), "9/10"),
        (("certificate", "rule"), "pure/laplace"),
        (("certificate", "requirement", "kind"), "perfect"),
        (("certificate", "requirement", "epsilon"), "nan"),
        (("certificate", "requirement", "epsilon"), 1),
        (("certificate", "requirement"), None),
        (("certificate", "because"), "I say so"),
        (("mechanism", "law", "rate"), "1e999999999"),
        (("mechanism", "law", "breaks"), []),
        (("mechanism", "law", "left_cells"), -1),
        (("mechanism", "law", "kind"), "uniform"),
        (("mechanism", "law"), {}),
        (("mechanism", "lattice", "step"), "1/0"),
        (("mechanism", "lattice", "step"), "1/7"),
        (("mechanism", "query", "integer"), True),
        (("mechanism", "comment"), "harmless"),
        (("format",), "noisewright mechanism, version 2"),
        (("signature",), "\x1b[31mtrust me"),
    ],
)
def test_a_false_claim_is_refused_even_if_it_is_signed(
    use: Callable[[], Any], mechanism: Path, tmp_path: Path, path: tuple[str, ...], value: Any
):
    data = json.loads(mechanism.read_text(encoding="utf-8"))
    forged = _sign(_with(data, *path, value=value))
    (tmp_path / "file.json").write_text(json.dumps(forged), encoding="utf-8")
    outcome = use()
    assert_failed(outcome, 1)
    assert "\x1b" not in outcome.err


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("mechanism", "law", "scale"), "1/64", "e^64"),
        (("mechanism", "query", "sensitivity"), "2", "e^64"),
        (("certificate", "requirement", "epsilon"), "31", "epsilon = 31 was claimed"),
    ],
)
def test_too_little_noise_is_refused_with_the_reason(
    use: Callable[[], Any], sure_integer: Path, tmp_path: Path, path: tuple[str, ...], value: str, reason: str
):
    data = json.loads(sure_integer.read_text(encoding="utf-8"))
    forged = _sign(_with(data, *path, value=value))
    (tmp_path / "file.json").write_text(json.dumps(forged), encoding="utf-8")
    assert_failed(use(), 1, "refused", reason)
