"""How many lines of the package make data exact, check them, write them to files and read them back.

    python benchmarks/birth_lines.py BEFORE AFTER [--shared] [--list]

BEFORE and AFTER are source trees, such as `src/noisewright` of two checkouts. The same rules read both:

- modules: the modules that do nothing else (`MODULES`), whole, whichever of them a tree has
- serialisers: functions whose names say that they write or read plain data (`SERIALISERS`), and tables of readers
- births: `__post_init__`, and the constructors of frozen classes
- fields: the declarations of fields (not of constants) in frozen classes, since a declaration may check
- helpers: functions that nothing but counted code uses
- checks: everywhere else, each `raise` of an error about what was given (`ERRORS`), with the `if` or `except` above it

Lines are counted twice: as they stand, and those that hold code (no blank line, comment or docstring). A module that
counts whole brings its imports and blank lines, a method of a class does not, so the second figure is the fairer one.

`--shared` leaves out what only one of the trees has: classes and functions of which the other knows neither the name
nor, by the table of docs/migration.md, the successor (private names are matched within their room). Modules that count
whole always stay, and a helper stays if anything that stays uses it. So what later issues added is not set against what
an earlier one removed. The laboratory is left out: it holds the papers' tables, not the package's data.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MODULES = (
    "problem/records.py", "problem/fields.py", "problem/matrices.py", "problem/numbers.py",
    "laws/registry.py", "mechanisms/registry.py", "mechanisms/digest.py",
)  # fmt: skip
SERIALISERS = re.compile(r"(\w+_)?(to|from)_(dict|texts?)|_?digest|__reduce__|__(set|get)state__|read_file|verified")
ERRORS = re.compile(r"Invalid\w+|MechanismFileError|TypeError|ValueError|KeyError")
SORTS = ("modules", "serialisers", "births", "fields", "helpers", "checks")
_FREEZES = re.compile(r"(dataclasses\.)?dataclass\(.*frozen=True|record\(")
_MOVED = re.compile(r"^\| `(\w+)` \| `(?:\w+\.)+(\w+)", re.MULTILINE)
_MIGRATION = Path(__file__).parent.parent / "docs" / "migration.md"
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip


class Place(NamedTuple):
    """A function, a class's fields or a whole module."""

    module: str
    name: str

    @property
    def owner(self) -> str:
        """The class, or the function that belongs to none; private ones with their room."""
        name = self.name.partition(".")[0]
        return f"{self.module.partition('/')[0]} {name}" if name.startswith("_") else name


class Tree:
    """One source tree: what counts in it, by place and sort."""

    def __init__(self, root: Path) -> None:
        self.found: dict[Place, tuple[str, set[int]]] = {}
        self.users: dict[str, set[Place]] = defaultdict(set)
        self.code: dict[str, set[int]] = {}
        self.names: set[str] = set()
        self._functions: dict[Place, ast.FunctionDef] = {}
        self._modules = {
            str(path.relative_to(root)): path.read_text(encoding="utf-8")
            for path in sorted(root.rglob("*.py"))
            if path.relative_to(root).parts[0] != "lab"
        }
        if not self._modules:
            raise SystemExit(f"{root} holds no modules; give the folder of the package, such as src/noisewright.")
        trees = {module: ast.parse(text) for module, text in self._modules.items()}
        self._frozen = _frozen(trees)
        for module, tree in trees.items():
            self.code[module] = _code(self._modules[module], tree)
            self._look(module, tree, "", frozen=False)
            self._uses(tree, Place(module, ""))
        self._helpers()
        for module, tree in trees.items():
            if module in MODULES:
                self.found[Place(module, "")] = "modules", set(range(1, len(self._modules[module].splitlines()) + 1))
            else:
                self._tables(module, tree)
                self._checks(tree, Place(module, ""))

    def _look(self, module: str, node: ast.AST, within: str, *, frozen: bool) -> None:
        """Find every function and the fields of every frozen class."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                place = Place(module, within + child.name)
                self._functions[place] = child
                self.names.add(place.owner)
                if module not in MODULES and (sort := _sort(child.name, frozen=frozen)):
                    self.found[place] = sort, _lines(child)
            elif isinstance(child, ast.ClassDef):
                self.names.add(Place(module, within + child.name).owner)
                declared = [s for s in child.body if isinstance(s, ast.AnnAssign) and not _of_class(s)]
                if module not in MODULES and child.name in self._frozen and declared:
                    self.found[Place(module, f"{within}{child.name}.:")] = "fields", set().union(*map(_lines, declared))
                self._look(module, child, f"{within}{child.name}.", frozen=child.name in self._frozen)
            elif isinstance(child, ast.If | ast.Try):
                self._look(module, child, within, frozen=frozen)

    def _uses(self, node: ast.AST, user: Place) -> None:
        """Note who uses which name."""
        for child in ast.iter_child_nodes(node):
            inside = user
            if isinstance(child, ast.FunctionDef) and not user.name.endswith(")"):
                inside = Place(user.module, f"{user.name.removesuffix(':')}{child.name}()")
            elif isinstance(child, ast.ClassDef):
                inside = Place(user.module, f"{user.name}{child.name}.")
            elif isinstance(child, ast.AnnAssign) and user.name.endswith(".") and not _of_class(child):
                inside = Place(user.module, f"{user.name}:")
            if isinstance(child, ast.Name | ast.Attribute):
                known = child.id if isinstance(child, ast.Name) else child.attr
                self.users[known].add(Place(user.module, user.name.removesuffix("()")))
            self._uses(child, inside)

    def _helpers(self) -> None:
        """Functions that only counted code uses, until there are no more.

        A private name means the function of its own module; a public one must have been given once.
        """
        given = Counter(node.name for node in self._functions.values())
        while True:
            more = {}
            for place, node in self._functions.items():
                private = node.name.startswith("_")
                if place in self.found or place.module in MODULES or node.name.startswith("__"):
                    continue
                users = {u for u in self.users[node.name] - {place} if not private or u.module == place.module}
                counted = users and all(u in self.found or u.module in MODULES for u in users)
                if counted and (private or given[node.name] == 1):
                    more[place] = "helpers", _lines(node)
            if not more:
                return
            self.found.update(more)

    def _tables(self, module: str, tree: ast.Module) -> None:
        """Tables that say how each kind is read back."""
        for statement in tree.body:
            value = getattr(statement, "value", None)
            if isinstance(value, ast.Dict) and value.values and all(map(_reader, value.values)):
                self.found[Place(module, f"table {statement.lineno}")] = "serialisers", _lines(statement)

    def _checks(self, node: ast.AST, place: Place) -> None:
        """Find what refuses, in functions that do not count whole."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside = Place(place.module, f"{place.name}{child.name}{'.' * isinstance(child, ast.ClassDef)}")
                if inside not in self.found:
                    self._checks(child, inside)
                continue
            if isinstance(child, ast.Raise) and ERRORS.fullmatch(_raised(child)):
                lines = _lines(child)
                if isinstance(node, ast.If | ast.ExceptHandler):
                    lines |= set(range(node.lineno, node.body[0].lineno))
                _, known = self.found.get(Place(place.module, f"{place.name}.!"), ("", set()))
                self.found[Place(place.module, f"{place.name}.!")] = "checks", known | lines
            self._checks(child, place)

    def shared(self, other: set[str]) -> set[Place]:
        """What concerns a class or a function that the other tree has too, and the helpers that such code uses."""
        kept = {
            p
            for p, (sort, _) in self.found.items()
            if sort == "modules" or p.owner in other or p.name.startswith("table ")
        }
        while True:
            more = {
                place
                for place, (sort, _) in self.found.items()
                if sort == "helpers" and place not in kept and self.users[place.name.rpartition(".")[2]] & kept
            }
            if not more:
                return kept
            kept |= more

    def sums(self, kept: set[Place] | None) -> dict[str, tuple[int, int]]:
        """Lines as they stand, and lines of code, of each sort."""
        totals = dict.fromkeys(SORTS, (0, 0))
        for place, (sort, lines) in self.found.items():
            if kept is None or place in kept:
                stand, code = totals[sort]
                totals[sort] = stand + len(lines), code + len(lines & self.code[place.module])
        return totals


def _sort(name: str, *, frozen: bool) -> str | None:
    if SERIALISERS.fullmatch(name):
        return "serialisers"
    return "births" if name == "__post_init__" or (frozen and name == "__init__") else None


def _frozen(trees: dict[str, ast.Module]) -> set[str]:
    """The classes that are frozen dataclasses or records, and those made from them."""
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {node.name for node in classes if any(_FREEZES.match(ast.unparse(d)) for d in node.decorator_list)}
    while more := {c.name for c in classes if found & {ast.unparse(base) for base in c.bases}} - found:
        found |= more
    return found


def _of_class(node: ast.AnnAssign) -> bool:
    """Whether a declaration is of a constant that all members of the class share."""
    return ast.unparse(node.annotation).startswith("ClassVar")


def _reader(node: ast.expr) -> bool:
    """Whether an entry of a table reads a thing from plain data."""
    if isinstance(node, ast.Lambda):
        return [a.arg for a in node.args.args][:1] == ["data"]
    return ast.unparse(node).endswith("from_dict")


def _raised(node: ast.Raise) -> str:
    made = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return "" if made is None else ast.unparse(made).rpartition(".")[2]


def _lines(node: ast.AST) -> set[int]:
    starts = [node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]  # type: ignore[attr-defined]
    return set(range(min(starts), node.end_lineno + 1))  # type: ignore[attr-defined]


def _code(text: str, tree: ast.Module) -> set[int]:
    """The lines that hold code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = {line for t in tokens if t.type not in _NO_CODE for line in range(t.start[0], t.end[0] + 1)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found -= _lines(node)
    return found


def compared(before: Tree, after: Tree, *, shared: bool) -> Iterator[str]:
    """A line for each sort, one for what is written by hand (all but the modules), and one for everything."""
    renamed = _MOVED.findall(_MIGRATION.read_text(encoding="utf-8"))
    old = before.shared(after.names | {a for a, b in renamed if b in after.names}) if shared else None
    new = after.shared(before.names | {b for a, b in renamed if a in before.names}) if shared else None
    left, right = before.sums(old), after.sums(new)
    rows = {sort: (*left[sort], *right[sort]) for sort in SORTS}
    rows["by hand"] = _sum([rows[sort] for sort in SORTS[1:]])
    rows["together"] = _sum([rows["modules"], rows["by hand"]])
    yield f"{'':12}{'lines':>8}{'':>8}{'':>8}   {'of code':>8}"
    for name, (a, code_a, b, code_b) in rows.items():
        yield f"{name:12}{a:8}{b:8}{b - a:+8}   {code_a:8}{code_b:8}{code_b - code_a:+8}"


def _sum(rows: list[tuple[int, int, int, int]]) -> tuple[int, int, int, int]:
    a, b, c, d = (sum(column) for column in zip(*rows, strict=True))
    return a, b, c, d


def main() -> None:
    """Print the comparison, of everything or of what both trees have."""
    asked = argparse.ArgumentParser(description="Lines that check, write and read data, in two source trees.")
    asked.add_argument("before", type=Path)
    asked.add_argument("after", type=Path)
    asked.add_argument("--shared", action="store_true", help="only classes and functions that both trees have")
    asked.add_argument("--list", action="store_true", help="also every place that counts in AFTER, the longest first")
    given = asked.parse_args()
    before, after = Tree(given.before), Tree(given.after)
    print("\n".join(compared(before, after, shared=given.shared)))
    if given.list:
        for place, (sort, lines) in sorted(after.found.items(), key=lambda item: -len(item[1][1])):
            print(f"{len(lines):5} {sort:12}{place.module} {place.name}")


if __name__ == "__main__":
    main()
