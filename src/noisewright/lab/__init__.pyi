from noisewright.lab.metropolis import smalldb_by_metropolis as smalldb_by_metropolis
from noisewright.lab.paper_bounds import corollary_nine_delta as corollary_nine_delta
from noisewright.lab.ranges import (
    exponential_on_range as exponential_on_range,
    per_coordinate as per_coordinate,
    range_limited as range_limited,
)
