"""What every test relies on: no window is ever opened, and Hypothesis takes its time without a deadline."""

from __future__ import annotations

import os

from hypothesis import settings

os.environ["MPLBACKEND"] = "Agg"

# Building tables takes unevenly long on a shared machine; a deadline per example would measure the machine.
settings.register_profile("noisewright", deadline=None)
settings.load_profile("noisewright")
