"""`python -m noisewright` is the same as the command `noisewright`."""

from __future__ import annotations

import sys

from noisewright.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
