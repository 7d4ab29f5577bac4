"""The shape of the code stays what it became: no cycles, types, names, and one way past the import contract."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.shape import cycles, modules, parameters, plan
from tests.architecture.source import PACKAGE, parse

MOST_ANY = 60
DEEPEST = 26
LATE = {
    "door.py": "public names, and `RENDERED`",
    "problem/records.py": "the modules of a package, whose registries are asked for by kind",
    "app/cli/commands.py": "a command, when it is asked for",
    "release/engines/base.py": "an engine, by what its registration says",
    "lab/reproductions.py": "the papers, when one is reproduced",
}
"""Files that import what a string names, and what that is."""
_NAMED = re.compile(r"noisewright(\.\w+)+:\w+")
EVERY = modules()


def importers(tree: ast.AST) -> list[str]:
    """What a file does to import what a string names."""
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [getattr(call, "attr", getattr(call, "id", "")) for call in called]
    return [name for name in names if name in {"import_module", "__import__", "exec_module", "load_module"}]


def test_no_modules_reach_each_other_even_by_imports_in_functions_and_for_types():
    assert cycles() == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from noisewright import second", "import noisewright.first"),
        ("def late():\n    from noisewright.second import x", "import noisewright.first"),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import noisewright.second",
            "from . import first",
        ),
    ],
    ids=["plain", "in a function", "for types"],
)
def test_a_planted_cycle_is_seen(tmp_path: Path, first: str, second: str):
    folder = tmp_path / "noisewright"
    folder.mkdir()
    for name, code in (("__init__", ""), ("first", first), ("second", second), ("third", "import noisewright.first")):
        (folder / f"{name}.py").write_text(code + "\n", encoding="utf-8")
    assert cycles(tmp_path) == [["noisewright.first", "noisewright.second"]]


def test_what_the_tables_side_takes_has_a_type():
    release = [anything for module in EVERY if module.package == "release" for _, anything in parameters(module)]
    assert len(release) > 1000
    assert sum(release) < MOST_ANY


def test_every_function_has_a_name():
    assert [module.name for module in EVERY for function in module.functions() if function.name == "_"] == []


def test_what_strings_name_is_imported_in_few_places_that_say_so():
    found = {str(module.path.relative_to(PACKAGE)) for module in EVERY if importers(parse(module.path))}
    assert found == set(LATE)


def test_a_module_to_the_right_is_named_by_the_door_alone():
    named = {
        str(module.path.relative_to(PACKAGE))
        for module in EVERY
        for node in ast.walk(parse(module.path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAMED.fullmatch(node.value)
    }
    assert {name for name in named if not name.startswith("release/engines/")} == {"door.py"}


def test_a_plan_calls_no_deeper():
    assert plan(runs=1)["deepest stack of a plan"] <= DEEPEST
