from noisewright.lab.generalized_gaussian.named_rules import corollary_nine_delta as corollary_nine_delta
from noisewright.lab.generalized_gaussian.ranges import (
    exponential_on_range as exponential_on_range,
    per_coordinate as per_coordinate,
    range_limited as range_limited,
)
from noisewright.lab.metric.metropolis import smalldb_by_metropolis as smalldb_by_metropolis
