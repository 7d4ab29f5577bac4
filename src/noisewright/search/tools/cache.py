"""Where solved programmes are kept between runs."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path | None:
    """NOISEWRIGHT_CACHE if set (nothing or "off": keep nothing), else noisewright in the user's cache folder."""
    named = os.environ.get("NOISEWRIGHT_CACHE")
    if named is not None:
        return None if named in ("", "off") else Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "noisewright"
    except RuntimeError:
        return None
