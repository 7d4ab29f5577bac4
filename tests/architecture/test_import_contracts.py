"""The import contracts of pyproject.toml hold, and they are able to fail."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT, modules

_LINT = "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports(no_cache=True))"
LAYERS = [
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


def test_the_layers_name_every_package():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract for contract in contracts if contract["id"] == "layers")
    assert layers["layers"] == LAYERS[::-1]
    packages = {path.parent.name for path in modules() if path.name == "__init__.py" and path.parent.parent == PACKAGE}
    assert packages == set(LAYERS)


@pytest.mark.parametrize(
    ("package", "line", "contract"),
    [
        ("problem", "import noisewright.app", "layers"),
        ("laws", "def late():\n    import noisewright.sample", "layers"),
        ("proof", "from noisewright import search", "layers"),
        ("problem", "import numpy", "vocabulary"),
        ("search", "import random", "randomness"),
        ("laws", "from secrets import token_bytes", "randomness"),
        ("proof", "from scipy import optimize", "verifier"),
        ("ledger", "def late():\n    import ibis", "engines"),
    ],
)
def test_a_planted_import_is_caught(tmp_path: Path, package: str, line: str, contract: str):
    root = tmp_path / "planted" / "noisewright"
    for path in modules():
        (root / path.relative_to(PACKAGE)).parent.mkdir(parents=True, exist_ok=True)
        (root / path.relative_to(PACKAGE)).touch()
    configuration = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(configuration, encoding="utf-8")
    assert _lint(tmp_path, tmp_path / "planted").returncode == 0

    (root / package / "planted.py").write_text(line + "\n", encoding="utf-8")
    result = _lint(tmp_path, tmp_path / "planted")
    assert result.returncode == 1, result.stdout + result.stderr
    names = {entry["id"]: entry["name"] for entry in tomllib.loads(configuration)["tool"]["importlinter"]["contracts"]}
    assert f"{names[contract]} BROKEN" in " ".join(result.stdout.split())
