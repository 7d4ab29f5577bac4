"""Planted bugs as data: small wrong changes of one function, and the tests that must notice each of them.

A mutant names a function of a package and a piece of its syntax, not a file, a line or a quoted text: it survives
whatever moves, reformats or comments code. It applies if that syntax occurs in the function once (or `at` says which
one is meant) and the changed module compiles.
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
PACKAGE = "noisewright"
BREAKS = ("privacy", "numbers")
_OPTIONAL = {"at", "survives", "hangs"}
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Syntax = ast.expr | list[ast.stmt]


class DoesNotApplyError(Exception):
    """The source no longer has what a mutant would change; says what is missing."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted bug.

    `function` is the qualified name of a function or class of the package, in whichever
    of its modules it is. "module:name" says which where several have one, "module:" is code outside functions, and a
    module of another package is named in full, "noisewright.package.module:name". Where several functions of a module
    share a name, the syntax must occur once among them, or `name#2` picks the second.

    `replace` and `by` are an expression each, or statements each; a definition whose body is `...` stands for its
    first line alone. What occurs several times is told apart by `at`, counted from 1.
    """

    package: str
    name: str
    function: str
    replace: str
    by: str
    breaks: str
    tests: tuple[str, ...]
    at: int | None = None
    survives: str | None = None
    """Why no test can be expected to notice; only for survivors that are explained."""
    hangs: bool = False
    """Whether running out of time counts as noticed."""

    def __str__(self) -> str:
        return f"{self.package}: {self.name}"


def packages(folder: Path = FOLDER) -> list[str]:
    """The packages that have a file of mutants."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def read(package: str, folder: Path = FOLDER) -> list[Mutant]:
    """The mutants of one package; ValueError says what is wrong with the file."""
    entries = tomllib.loads((folder / f"{package}.toml").read_text(encoding="utf-8")).get("mutant", [])
    known = {field.name for field in fields(Mutant)} - {"package"}
    found: dict[str, Mutant] = {}
    for number, entry in enumerate(entries, 1):
        if unknown := set(entry) - known:
            raise ValueError(f"{package}.toml, mutant {number}: unknown keys {', '.join(sorted(unknown))}")
        if missing := known - set(entry) - _OPTIONAL:
            raise ValueError(f"{package}.toml, mutant {number}: missing keys {', '.join(sorted(missing))}")
        mutant = Mutant(package, **{**entry, "tests": tuple(entry["tests"])})
        if mutant.breaks not in BREAKS or not mutant.tests:
            raise ValueError(f"{mutant}: breaks one of {', '.join(BREAKS)}, and needs at least one test")
        if mutant.name in found:
            raise ValueError(f"{package}.toml has two mutants called {mutant.name}")
        found[mutant.name] = mutant
    return list(found.values())


def source(mutant: Mutant, root: Path = ROOT) -> Path:
    """The file that the mutant changes."""
    module, colon, name = mutant.function.rpartition(":")
    if colon:
        return _module(mutant.package, module, root)
    bare = name.partition("#")[0]
    found = [path for path in _modules(root / "src" / PACKAGE / mutant.package) if bare in _names(_text(path))]
    if not found:
        raise DoesNotApplyError(f"{mutant.package} has no function {bare}")
    if len(found) > 1:
        known = ", ".join(sorted(path.stem for path in found))
        raise DoesNotApplyError(f"{bare} is a function of {len(found)} modules ({known}); say which, as module:{bare}")
    return found[0]


def planted(mutant: Mutant, root: Path = ROOT) -> str:
    """The text of the module with the bug in it; DoesNotApplyError if it cannot be planted."""
    text, name = _text(source(mutant, root)), mutant.function.rpartition(":")[2]
    tree = ast.parse(text)
    old, new = _parsed(mutant.replace), _parsed(mutant.by)
    if isinstance(old, list) != isinstance(new, list):  # a call that is a statement by itself may become another one
        old, new = _statements(old), _statements(new)
    if _dumped(old) == _dumped(new):
        raise DoesNotApplyError("the changed module is the same programme")
    places = [place for scope in _scopes(tree, name) for place in _places(scope, old)]
    if len(places) != 1 and mutant.at is None:
        raise DoesNotApplyError(
            f"the syntax occurs {len(places)} times in {mutant.function}, not once; `at` says which"
        )
    if mutant.at is not None and (len(places) < 2 or not 1 <= mutant.at <= len(places)):
        raise DoesNotApplyError(f"the syntax occurs {len(places)} times in {mutant.function}, so not at {mutant.at}")
    _put(*places[(mutant.at or 1) - 1], old, new)
    changed = ast.unparse(ast.fix_missing_locations(tree))
    try:
        compile(changed, "planted", "exec")
    except SyntaxError as wrong:
        raise DoesNotApplyError(f"the changed module is no Python: {wrong}") from None
    return changed


def _module(package: str, name: str, root: Path) -> Path:
    """The file of a module: its name in full, or within the package of the mutant."""
    whole = name.split(".")[0] == PACKAGE
    path = root / "src" / Path(*(name if whole else f"{PACKAGE}.{package}.{name}").split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    raise DoesNotApplyError(f"there is no module {name}")


@lru_cache(maxsize=64)
def _modules(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(folder.rglob("*.py")))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@lru_cache(maxsize=1024)
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


@lru_cache(maxsize=1024)
def _names(text: str) -> frozenset[str]:
    return frozenset(name for name, _ in _definitions(_tree(text), ""))


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """Functions and classes by their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            yield prefix + child.name, child
            yield from _definitions(child, f"{prefix}{child.name}.")
        else:
            yield from _definitions(child, prefix)


def _scopes(tree: ast.Module, name: str) -> list[ast.AST]:
    """The functions or classes of a qualified name; the module itself for none."""
    if not name:
        return [tree]
    bare, _, number = name.partition("#")
    found = [node for known, node in _definitions(tree, "") if known == bare]
    if not found:
        raise DoesNotApplyError(f"there is no function {bare}")
    if not number:
        return found
    if not number.isdecimal() or not 1 <= int(number) <= len(found):
        raise DoesNotApplyError(f"there are {len(found)} functions called {bare}, so no {name}")
    return [found[int(number) - 1]]


def _parsed(text: str) -> _Syntax:
    """An expression, or statements; `return` and the like may stand alone."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        pass
    try:
        return ast.parse(text.strip("\n")).body
    except SyntaxError as wrong:
        raise DoesNotApplyError(f"this is no Python by itself: {wrong}") from None


def _statements(syntax: _Syntax) -> list[ast.stmt]:
    return syntax if isinstance(syntax, list) else [ast.Expr(syntax)]


def _dumped(syntax: _Syntax) -> str:
    """Syntax as text, whether it is read or written to, without places."""
    nodes = syntax if isinstance(syntax, list) else [syntax]
    dumped = "; ".join(map(ast.dump, nodes))
    return dumped.replace("ctx=Store()", "ctx=Load()").replace("ctx=Del()", "ctx=Load()")


def _is_header(syntax: _Syntax) -> bool:
    """Whether it stands for the first line of a definition alone."""
    if not isinstance(syntax, list) or len(syntax) != 1 or not isinstance(syntax[0], _Definition):
        return False
    body = syntax[0].body
    return len(body) == 1 and isinstance(body[0], ast.Expr) and _dumped(body[0].value) == _dumped(ast.Constant(...))


def _header(node: ast.AST) -> str:
    """A definition without its body."""
    return _dumped([_without_body(node)]) if isinstance(node, _Definition) else ""


def _without_body(node: ast.stmt) -> ast.stmt:
    bare = type(node)(**{name: value for name, value in ast.iter_fields(node) if name != "body"})
    bare.body = []  # type: ignore[attr-defined]
    return bare


_Place = tuple[ast.AST, str, int | None]
"""Where syntax stands: the node above it, the field of that node, and the place in it if it is a list."""


def _places(scope: ast.AST, old: _Syntax) -> Iterator[_Place]:
    """Where a piece of syntax stands in a scope, in the order of the text; a definition may be the scope itself."""
    if _is_header(old):
        assert isinstance(old, list)
        wanted = _header(old[0])
        yield from ((node, "", None) for node in ast.walk(scope) if _header(node) == wanted)
        return
    wanted, length = _dumped(old), len(old) if isinstance(old, list) else 0
    kind = type(old[0]) if isinstance(old, list) else type(old)
    stack: list[ast.AST] = [scope]
    while stack:
        node = stack.pop()
        below: list[ast.AST] = []
        for name, value in ast.iter_fields(node):
            held = value if isinstance(value, list) else [value]
            for place, child in enumerate(held):
                where = place if isinstance(value, list) else None
                found = held[place : place + length] if length else child
                if type(child) is kind and _dumped(found) == wanted:
                    yield node, name, where
                if isinstance(child, ast.AST):
                    below.append(child)
        stack.extend(reversed(below))


def _put(node: ast.AST, name: str, place: int | None, old: _Syntax, new: _Syntax) -> None:
    """Put other syntax where some stands."""
    if not name:
        assert isinstance(new, list)
        for field, value in ast.iter_fields(new[0]):
            if field != "body":
                setattr(node, field, value)
    elif isinstance(new, list):
        assert isinstance(old, list)
        held = getattr(node, name)
        held[place : (place or 0) + len(old)] = new
    elif place is None:
        setattr(node, name, _as(new, getattr(node, name)))
    else:
        held = getattr(node, name)
        held[place] = _as(new, held[place])


def _as(new: ast.expr, old: ast.expr) -> ast.expr:
    """An expression that is read or written to as another one was."""
    if hasattr(old, "ctx") and hasattr(new, "ctx"):
        new.ctx = old.ctx
    return new
