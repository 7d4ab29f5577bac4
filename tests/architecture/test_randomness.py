"""Randomness lives in one package, and rigorous balls in one module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, dotted, imported, modules, parse

SOURCES = ("random", "secrets", "cryptography", "numpy.random", "os.urandom", "os.getrandom", "uuid", "scipy.stats")


def _is_source(name: str) -> bool:
    return any(name == source or name.startswith(source + ".") for source in SOURCES)


def _aliases(tree: ast.Module) -> dict[str, str]:
    """What each local name stands for: `import numpy as np` gives np -> numpy."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                names[local] = alias.name if alias.asname else local
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def randomness(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Every import or use of a source of randomness, with its line."""
    for name, line in imported(tree):
        if _is_source(name):
            yield name, line
    aliases = _aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (chain := dotted(node)) is not None:
            first, _, rest = chain.partition(".")
            full = f"{aliases.get(first, first)}.{rest}"
            if _is_source(full):
                yield full, node.lineno


def _packages_but_sample() -> list[Path]:
    return [path for path in modules() if path.relative_to(PACKAGE).parts[0] != "sample"]


def _allowed(path: Path, name: str) -> bool:
    """The lab makes data up and splits data sets; its noise comes from certified mechanisms like everyone's."""
    return path.relative_to(PACKAGE).parts[0] == "lab" and name.startswith("numpy.random")


@pytest.mark.parametrize("path", _packages_but_sample(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_randomness_outside_the_package_sample(path: Path):
    assert [(name, line) for name, line in randomness(parse(path)) if not _allowed(path, name)] == []


def test_the_package_sample_draws_from_the_operating_system_alone():
    found = {name for path in modules(PACKAGE / "sample") for name, _ in randomness(parse(path))}
    assert found, "the package sample has no entropy"
    insecure = {name for name in found if name.split(".")[0] in {"random", "numpy", "uuid", "scipy"}}
    assert insecure == set()


@pytest.mark.parametrize(
    "text",
    [
        "import random",
        "from random import Random",
        "import numpy.random",
        "from numpy.random import default_rng",
        "from numpy import random",
        "import numpy as np\nx = np.random.default_rng(0)",
        "import os\nx = os.urandom(8)",
        "from os import urandom",
        "import os as system\nx = system.urandom(8)",
        "def f():\n    import secrets",
        "from cryptography.hazmat.primitives.ciphers import Cipher",
        "from scipy import stats",
    ],
)
def test_the_detector_sees_every_spelling(text: str):
    assert list(randomness(ast.parse(text)))


@pytest.mark.parametrize("text", ["import os\nx = os.path", "import numpy as np\nx = np.exp(1)", "random_walk = 1"])
def test_the_detector_is_quiet_otherwise(text: str):
    assert not list(randomness(ast.parse(text)))


def test_flint_is_imported_in_one_file():
    users = {
        str(path.relative_to(PACKAGE).as_posix())
        for path in modules()
        for name, _ in imported(parse(path))
        if name.partition(".")[0] == "flint"
    }
    assert users == {"numerics/balls.py"}
