"""A figure that notebooks show by itself; imported where a picture is drawn, since matplotlib takes its time."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

_DOTS_PER_INCH = 100


class Picture(Figure):
    """A figure that belongs to no window system and shows itself in a notebook, without any magic words."""

    def _repr_png_(self) -> bytes:
        held = BytesIO()
        self.savefig(held, format="png", dpi=_DOTS_PER_INCH)
        return held.getvalue()
