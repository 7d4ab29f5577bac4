"""Examples of docstrings on the pages of the reference: code, with a blank line above and below."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> (?:.+\n?)+", re.M)


def fenced(text: str) -> str:
    """A docstring with its examples between fences."""
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)


class Doctests(griffe.Extension):
    """Put every run of lines that starts with `>>>` between fences; as text it would be a quotation of a quotation."""

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
