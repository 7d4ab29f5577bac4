"""What was computed about immutable things, kept beside them and forgotten with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import finalize

Found = TypeVar("Found")


class Remembered(Generic[Found]):
    """A dictionary for each thing, known by identity, so that neither its hash nor its equality is computed."""

    def __init__(self) -> None:
        self._kept: dict[int, dict[Any, Found]] = {}

    def of(self, thing: object) -> dict[Any, Found]:
        """What is remembered about a thing."""
        place = id(thing)
        if place not in self._kept:
            self._kept[place] = {}
            finalize(thing, self._kept.pop, place, None).atexit = False
        return self._kept[place]

    def latest(self, thing: object, key: Any, make: Callable[[], Found]) -> Found:
        """What is remembered about a thing under this key, made where it is not; other keys are forgotten."""
        kept = self.of(thing)
        if key not in kept:
            kept.clear()
            kept[key] = make()
        return kept[key]
