"""Every sampler: loading them is what makes them known to `drawer_for`."""

from noisewright.sample import choice, conditional, linear, selection, synthetic, vectors

SAMPLERS = (choice, conditional, linear, selection, synthetic, vectors)
"""The rooms' modules that register samplers and descriptions."""
