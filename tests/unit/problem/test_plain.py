"""What is read of text that others wrote: JSON within limits of size, number and depth, and nothing twofold."""

from __future__ import annotations

from pathlib import Path

import pytest

from noisewright.problem.untrusted import plain_of, text_in


def test_what_json_says_is_read():
    assert plain_of('{"a": [1, "2/3", null, {"b": true}]}') == {"a": [1, "2/3", None, {"b": True}]}
    deepest = "[" * 100 + "]" * 100
    assert str(plain_of(deepest)) == deepest


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "b": {"c": 2, "c": 2}}', "names a key twice"),
        ("[NaN]", "holds NaN"),
        ('{"a": -Infinity}', "holds -Infinity"),
        ("[" * 101 + "]" * 101, "more than 100 levels"),
        ('{"a":' * 101 + "1" + "}" * 101, "more than 100 levels"),
        ("[" * 10**5 + "]" * 10**5, "too deep"),
        ("[" + "1," * 2_000_000 + "1]", "more than 2000000 values"),
        ("9" * 5000, "4300"),
        ("[1", "delimiter"),
        ("\ufeff{}", "BOM"),
    ],
    ids=lambda text: text[:12],
)
def test_what_nothing_here_writes_is_refused_with_its_reason(text: str, reason: str):
    with pytest.raises(ValueError, match=reason):
        plain_of(text)


def test_a_file_is_read_up_to_its_limit_whatever_its_size_is_said_to_be(tmp_path: Path):
    path = tmp_path / "text"
    path.write_bytes(b"x" * 2**20)
    assert text_in(path, 1) == "x" * 2**20
    path.write_bytes(b"x" * (2**20 + 1))
    endless = Path("/dev/zero")
    assert endless.stat().st_size == 0
    for large in (path, endless):
        with pytest.raises(ValueError, match="larger than 1 MiB"):
            text_in(large, 1)
    path.write_bytes("é".encode("latin-1"))
    with pytest.raises(ValueError, match="not text"):
        text_in(path)


def test_running_out_of_memory_is_a_reason_and_no_crash(monkeypatch: pytest.MonkeyPatch):
    def none_left(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("json.loads", none_left)
    with pytest.raises(ValueError, match="too large"):
        plain_of("[]")
