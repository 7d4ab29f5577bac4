"""Every sampler: loading them is what makes them known to `drawer_for`."""

from noisewright.problem.records import load_room

load_room("noisewright.sample")
