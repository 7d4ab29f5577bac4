"""Writes the layers into CONTRIBUTING.md, from the import contract of pyproject.toml: python docs/make_layers.py."""

from __future__ import annotations

import textwrap
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- layers: written by docs/make_layers.py -->\n\n```text\n", "```\n"


def layers() -> list[str]:
    """The packages below noisewright, lowest first, as the contract has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [one for one in settings["tool"]["importlinter"]["contracts"] if one.get("exhaustive_ignores")]
    return list(reversed(contract["layers"]))


def drawing() -> str:
    """The layers with arrows between them."""
    return "\n".join(textwrap.wrap(" → ".join(layers()), 88)) + "\n"


def with_layers(page: str) -> str:
    """The page with its drawing written anew."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + drawing() + rest[rest.index(END) :]


if __name__ == "__main__":
    PAGE.write_text(with_layers(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
