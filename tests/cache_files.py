"""Files of the cache, read and changed as somebody would who knows how their digest is made."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from noisewright.problem.records import digest


def content_of(file: Path) -> Any:
    """What a file of the cache holds."""
    return json.loads(gzip.decompress(file.read_bytes()))["content"]


def write(file: Path, content: Any) -> None:
    """Write a content with its digest; what is no number cannot be sealed at all."""
    try:
        seal = digest(content)
    except ValueError:
        seal = ""
    file.write_bytes(gzip.compress(json.dumps({"content": content, "digest": seal}).encode("ascii")))
