"""Planted bugs as data: small wrong changes of one function, and the tests that must notice each of them.

A mutant names a function, not a line, so it survives whatever moves lines about. It applies if its text occurs
exactly once in that function and the changed module still compiles to something else.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
BREAKS = ("privacy", "numbers")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class DoesNotApplyError(Exception):
    """The source no longer has what a mutant would change; says what is missing."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted bug.

    `function` is "module:qualified name" (a class, or a function inside another, may be named too), or only the
    module for code outside functions. Where several functions share a name, as those registered for a single
    dispatch do, the text must occur once among all of them, or `name#2` picks the second.
    """

    room: str
    name: str
    function: str
    replace: str
    by: str
    breaks: str
    tests: tuple[str, ...]
    survives: str | None = None
    """Why no test can be expected to notice; only for survivors that are explained."""
    hangs: bool = False
    """Whether running out of time counts as noticed."""

    def __str__(self) -> str:
        return f"{self.room}: {self.name}"


def rooms(folder: Path = FOLDER) -> list[str]:
    """The rooms that have a file of mutants."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def read(room: str, folder: Path = FOLDER) -> list[Mutant]:
    """The mutants of one room; ValueError says what is wrong with the file."""
    entries = tomllib.loads((folder / f"{room}.toml").read_text(encoding="utf-8")).get("mutant", [])
    known = {field.name for field in fields(Mutant)} - {"room"}
    found: dict[str, Mutant] = {}
    for number, entry in enumerate(entries, 1):
        if unknown := set(entry) - known:
            raise ValueError(f"{room}.toml, mutant {number}: unknown keys {', '.join(sorted(unknown))}")
        if missing := known - set(entry) - {"survives", "hangs"}:
            raise ValueError(f"{room}.toml, mutant {number}: missing keys {', '.join(sorted(missing))}")
        mutant = Mutant(room, **{**entry, "tests": tuple(entry["tests"])})
        if mutant.breaks not in BREAKS or not mutant.tests:
            raise ValueError(f"{mutant}: breaks one of {', '.join(BREAKS)}, and needs at least one test")
        if mutant.name in found:
            raise ValueError(f"{room}.toml has two mutants called {mutant.name}")
        found[mutant.name] = mutant
    return list(found.values())


def source(mutant: Mutant, root: Path = ROOT) -> Path:
    """The file that the mutant changes."""
    path = root / "src" / Path(*mutant.function.partition(":")[0].split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    raise DoesNotApplyError(f"there is no module {mutant.function.partition(':')[0]}")


def planted(mutant: Mutant, root: Path = ROOT) -> str:
    """The text of the module with the bug in it; DoesNotApplyError if it cannot be planted."""
    path = source(mutant, root)
    text = path.read_text(encoding="utf-8")
    name = mutant.function.partition(":")[2]
    spans = _spans(text, name) if name else [(0, len(text))]
    places = [(start, end) for start, end in spans if mutant.replace in text[start:end]]
    count = sum(text[start:end].count(mutant.replace) for start, end in places)
    if count != 1:
        raise DoesNotApplyError(f"the text occurs {count} times in {mutant.function}, not once")
    start = text.index(mutant.replace, places[0][0])
    changed = text[:start] + mutant.by + text[start + len(mutant.replace) :]
    if _same(text, changed, line=text.count("\n", 0, start) + 1):
        raise DoesNotApplyError("the changed module is the same programme")
    return changed


def _same(text: str, changed: str, line: int) -> bool:
    """Whether two texts are one programme, comments and line breaks aside; the first difference is in this line."""
    before, after = _tree(text).body, _compiled(changed).body
    if len(before) != len(after):
        return False
    # The changed statement is the last that begins before the line ends; it settles most pairs at once.
    pairs = list(zip(before, after, strict=True))
    pairs.sort(key=lambda pair: pair[0].lineno > line or -pair[0].lineno)
    return all(ast.dump(a) == ast.dump(b) for a, b in pairs)


@lru_cache(maxsize=256)
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


def _compiled(text: str) -> ast.Module:
    try:
        tree = ast.parse(text)
        compile(tree, "planted", "exec")
    except SyntaxError as wrong:
        raise DoesNotApplyError(f"the changed module is no Python: {wrong}") from None
    return tree


def _spans(text: str, name: str) -> list[tuple[int, int]]:
    """Where in the text the functions or classes of a qualified name stand, decorators included."""
    bare, _, number = name.partition("#")
    found = [span for known, span in _definitions(text) if known == bare]
    if not found:
        raise DoesNotApplyError(f"there is no function {bare}")
    if not number:
        return found
    if not number.isdecimal() or not 1 <= int(number) <= len(found):
        raise DoesNotApplyError(f"there are {len(found)} functions called {bare}, so no {name}")
    return [found[int(number) - 1]]


@lru_cache(maxsize=256)
def _definitions(text: str) -> tuple[tuple[str, tuple[int, int]], ...]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, tuple[int, int]]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Definition):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                assert child.end_lineno is not None
                yield prefix + child.name, (starts[first - 1], starts[child.end_lineno])
                yield from walk(child, f"{prefix}{child.name}.")
            else:
                yield from walk(child, prefix)

    return tuple(walk(_tree(text), ""))
