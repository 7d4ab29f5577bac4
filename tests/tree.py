"""The files of the repository: those that git keeps, so that no test minds what a demo or a person left beside them."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "noisewright"
_NOT_OURS = {".git", ".venv", "venv", "build", "dist", "site", "__pycache__", "node_modules", "noisewright-demo"}


def tracked(folder: Path = ROOT, *endings: str) -> list[Path]:
    """The files below a folder that git keeps, in order, of any of these endings if some are given."""
    return [
        path for path in every(ROOT) if path.is_relative_to(folder) and (not endings or path.name.endswith(endings))
    ]


@cache
def every(root: Path) -> tuple[Path, ...]:
    """Every file that git keeps; without git, as in an unpacked archive, what is neither a cache nor an environment."""
    known = _listed(root) or _walked(root)
    return tuple(sorted(path for path in known if path.is_file()))


def _listed(root: Path) -> list[Path]:
    # A hook that runs the tests hands its own repository down in the environment.
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=root, env=outside, capture_output=True, check=False)
    except OSError:
        return []
    return [root / os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def _walked(root: Path) -> list[Path]:
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [
            f for f in folders if f not in _NOT_OURS and not f.endswith(("_cache", ".egg-info", ".hypothesis"))
        ]
        found += [Path(folder, name) for name in names]
    return found
