"""The import contracts of pyproject.toml hold, and they are able to fail."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT, modules

_LINT = "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports(no_cache=True))"
STREET = [
    *("problem", "drawing", "numerics", "laws", "mechanisms", "proof", "explain", "sample"),
    *("accounting", "search"),
    *("ledger", "release"),
    *("learn", "lab", "app"),
]


def _lint(folder: Path, source: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(source)!r}); {_LINT}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_every_contract_is_kept():
    result = _lint(ROOT, ROOT / "src")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


def test_the_street_names_every_room():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    street = next(contract for contract in contracts if contract["id"] == "street")
    assert street["layers"] == STREET[::-1]
    rooms = {path.parent.name for path in modules() if path.name == "__init__.py" and path.parent.parent == PACKAGE}
    assert rooms == set(STREET)


@pytest.mark.parametrize(
    ("room", "line", "contract"),
    [
        ("problem", "import noisewright.app", "street"),
        ("laws", "def late():\n    import noisewright.sample", "street"),
        ("proof", "from noisewright import search", "street"),
        ("problem", "import numpy", "vocabulary"),
        ("search", "import random", "randomness"),
        ("laws", "from secrets import token_bytes", "randomness"),
        ("proof", "from scipy import optimize", "verifier"),
        ("ledger", "def late():\n    import ibis", "engines"),
    ],
)
def test_a_planted_import_is_caught(tmp_path: Path, room: str, line: str, contract: str):
    package = tmp_path / "planted" / "noisewright"
    for path in modules():
        (package / path.relative_to(PACKAGE)).parent.mkdir(parents=True, exist_ok=True)
        (package / path.relative_to(PACKAGE)).touch()
    configuration = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(configuration, encoding="utf-8")
    assert _lint(tmp_path, tmp_path / "planted").returncode == 0

    (package / room / "planted.py").write_text(line + "\n", encoding="utf-8")
    result = _lint(tmp_path, tmp_path / "planted")
    assert result.returncode == 1, result.stdout + result.stderr
    names = {entry["id"]: entry["name"] for entry in tomllib.loads(configuration)["tool"]["importlinter"]["contracts"]}
    assert f"{names[contract]} BROKEN" in " ".join(result.stdout.split())
