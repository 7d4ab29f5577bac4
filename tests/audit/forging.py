"""Files as someone forges them who knows the format and how the seals are made: one for each kind, place and seed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

from noisewright.problem.records import digest

NASTY: tuple[Any, ...] = (
    *("1e999999999", "1e-999999999", "9" * 5000, "9" * 1000, "1/" + "9" * 1000, "-" + "9" * 999 + "/7", "1/0", "0/0"),
    *(
        "0",
        "-1",
        "",
        " ",
        "nan",
        "inf",
        "-0",
        "1.5",
        "½",
        "٣",
        "\ud800",
        "\0",
        "x" * 10**5,
        "max",
        "l100",
        "l1000001/7",
    ),
    *(None, True, False, [], {}, [[]], {"kind": "box"}, 0, -1, 1, 2, 7, 100, 10**5, 10**6, 2**31, 2**40, 2**53, 2**63),
    *(10**30, -(10**18), 1.5, 1e308, -1e-308, 10**4000, "1" + "0" * 99, "1/1" + "0" * 99, "1/1" + "0" * 300),
)
"""Values that have no business where they are put."""
FACTORS = (2, 3, 10, 10**3, 10**6, 10**9, 10**12, 10**19, 10**40, 10**100, 10**300)
"""By how much a number is made larger or smaller, so that it still looks like one."""
Data = dict[str, Any]


def forged(data: Data, others: list[Data], random: Random) -> bytes:
    """A file: the content changed in one to three places, sealed again or not, then perhaps damaged as text."""
    if random.random() < 0.08:
        return _no_file(random)
    changed = copy.deepcopy(data)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        _CHANGES[random.randrange(len(_CHANGES))](changed, others, random)
    if random.random() < 0.9:
        changed = resealed(changed)
    text = json.dumps(changed, ensure_ascii=random.random() < 0.9)
    return _damaged(text, random) if random.random() < 0.15 else text.encode("utf-8", "surrogatepass")


def resealed(data: Any) -> Any:
    """The same with every seal renewed, from the innermost outwards."""
    if isinstance(data, list):
        return [resealed(one) for one in data]
    if not isinstance(data, dict):
        return data
    made = {key: resealed(value) for key, value in data.items()}
    try:
        if isinstance(made.get("certificate"), dict) and "mechanism" in made:
            made["certificate"]["mechanism"] = digest(made["mechanism"])
        if "digest" in made and "format" in made:
            made["digest"] = digest({key: value for key, value in made.items() if key != "digest"})
    except (ValueError, TypeError):
        pass  # what JSON cannot carry has no seal
    return made


def _places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path and path[-1] not in ("digest", "format") else []
    if isinstance(data, dict | list):
        for key, value in list(data.items() if isinstance(data, dict) else enumerate(data))[:60]:
            found += _places(value, (*path, key))
    return found


def _holder(data: Any, random: Random, wanted: Callable[[Any], bool]) -> tuple[Any, Any] | None:
    """Something that holds a value of the wanted sort, and its key there."""
    found = []
    for path in _places(data):
        holder = data
        for key in path[:-1]:
            holder = holder[key]
        if wanted(holder[path[-1]]):
            found.append((holder, path[-1]))
    return random.choice(found) if found else None


def _any(value: Any) -> bool:
    return True


def _number(value: Any) -> bool:
    if isinstance(value, str):
        return value.replace("/", "", 1).replace("-", "", 1).isdigit() and len(value) < 2000
    return isinstance(value, int) and not isinstance(value, bool)


def _container(value: Any) -> bool:
    return isinstance(value, dict | list)


def _put_nasty(data: Data, others: list[Data], random: Random) -> None:
    if found := _holder(data, random, lambda v: not _container(v)):
        found[0][found[1]] = copy.deepcopy(random.choice(NASTY))


def _scale(data: Data, others: list[Data], random: Random) -> None:
    """A number many times larger or smaller, still of its own form."""
    if found := _holder(data, random, _number):
        holder, key = found
        above, _, below = str(holder[key]).partition("/")
        factor, fewer = random.choice(FACTORS), random.random() < 0.5
        high, low = int(above) * (1 if fewer else factor), int(below or 1) * (factor if fewer else 1)
        text = f"{high}/{low}" if low > 1 else str(high)
        holder[key] = (
            text if isinstance(holder[key], str) else int(above) * factor if not fewer else int(above) // factor
        )


def _nudge(data: Data, others: list[Data], random: Random) -> None:
    if found := _holder(data, random, _number):
        holder, key = found
        held = holder[key]
        holder[key] = held + random.choice((-1, 1, 63, 1000)) if isinstance(held, int) else f"-{held}".replace("--", "")


def _drop(data: Data, others: list[Data], random: Random) -> None:
    if found := _holder(data, random, _any):
        del found[0][found[1]]


def _add(data: Data, others: list[Data], random: Random) -> None:
    if found := _holder(data, random, lambda v: isinstance(v, dict)):
        found[0][found[1]][random.choice(("extra", "kind", "digest", "", "rows"))] = random.choice(NASTY)


def _swap(data: Data, others: list[Data], random: Random) -> None:
    """A part of another file, where a part of this one was."""
    here = _holder(data, random, _container)
    there = _holder(random.choice(others), random, _container)
    if here and there:
        here[0][here[1]] = copy.deepcopy(there[0][there[1]])


def _same_key(data: Data, others: list[Data], random: Random) -> None:
    """What another file has under the same name."""
    here = _holder(data, random, _any)
    if here is None or not isinstance(here[1], str):
        return
    other = random.choice(others)
    for path in _places(other):
        if path[-1] == here[1]:
            for key in path:
                other = other[key]
            here[0][here[1]] = copy.deepcopy(other)
            return


def _repeat(data: Data, others: list[Data], random: Random) -> None:
    """A list many times as long."""
    if found := _holder(data, random, lambda v: isinstance(v, list) and 0 < len(v) < 200):
        holder, key = found
        holder[key] = holder[key] * random.choice((2, 10, 1000, 20_000))


def _empty(data: Data, others: list[Data], random: Random) -> None:
    if found := _holder(data, random, _container):
        found[0][found[1]] = type(found[0][found[1]])()


def _nest(data: Data, others: list[Data], random: Random) -> None:
    """A part inside itself, many times: as groups of groups, as lists of lists, as an object in its own field."""
    if found := _holder(data, random, _container):
        holder, key = found
        deep, way = holder[key], random.randrange(3)
        for _ in range(random.choice((3, 12, 60, 120))):
            if way == 0:
                deep = {"kind": "groups", "sets": [deep], "at_most": 1}
            elif way == 1:
                deep = [deep]
            else:
                deep = {**(holder[key] if isinstance(holder[key], dict) else {}), str(key): deep}
        holder[key] = deep


_CHANGES = (
    *(_put_nasty, _put_nasty, _scale, _scale, _scale, _scale, _nudge, _nudge, _drop, _add, _swap, _swap),
    *(_same_key, _same_key, _repeat, _repeat, _empty, _nest),
)


def _no_file(random: Random) -> bytes:
    """What is no file of any kind."""
    deep = random.choice((50, 500, 100_000))
    return random.choice(
        (
            random.randbytes(random.choice((0, 1, 100, 10_000))),
            b"[" * deep,
            b"[" * deep + b"]" * deep,
            b'{"a":' * deep + b"1" + b"}" * deep,
            b"[" + b"[]," * 400_000 + b"[]]",
            b"{" + b",".join(b'"%d":%d' % (i, i) for i in range(50_000)) + b"}",
            b'{"format": "noisewright mechanism, version 1", "format": "noisewright report, version 1"}',
            b"9" * 100_000,
            b"1e999999999",
            b'"' + b"x" * 10**6 + b'"',
            b"NaN",
            b"-Infinity",
            b"null",
            b"",
        )
    )


def _damaged(text: str, random: Random) -> bytes:
    """A text in another encoding, with a constant that JSON does not know, cut off, or with other bytes."""
    raw = text.encode("utf-8", "surrogatepass")
    place = random.randrange(len(raw))
    number = random.choice(("NaN", "Infinity", "-Infinity", "1e999999999", "9" * 10_000, "1E400", "-0", "01", "0x10"))
    first = next((part for part in ("1", "2", "3", "true", "null") if f": {part}" in text), None)
    return random.choice(
        (
            lambda: text.encode("utf-16"),
            lambda: text.encode("utf-8-sig", "surrogatepass"),
            lambda: text.encode("utf-32", "surrogatepass"),
            lambda: raw[:place],
            lambda: raw[:place] + random.randbytes(3) + raw[place + 3 :],
            lambda: raw[:place] + raw[place // 2 :],
            lambda: raw.replace(b": " + first.encode(), b": " + number.encode(), 1) if first else raw + raw,
            lambda: raw.replace(b"{", b'{"kind": "box", "kind": "box", ', 1),
            lambda: raw.replace(b"[", b"[" * 5000, 1),
            lambda: raw + b" " * 10**6 + b"x",
        )
    )()
