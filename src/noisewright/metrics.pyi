from noisewright.numerics.distances import group_budget as group_budget
from noisewright.problem.attributes import PerAttribute as PerAttribute, PerValue as PerValue
from noisewright.problem.geometry import (
    Dates as Dates,
    Euclidean as Euclidean,
    Graph as Graph,
    GreatCircle as GreatCircle,
    SmoothThreshold as SmoothThreshold,
    Threshold as Threshold,
    TimeSeries as TimeSeries,
)
from noisewright.problem.metrics import (
    INFINITE as INFINITE,
    Hamming as Hamming,
    Matrix as Matrix,
    WithAbsent as WithAbsent,
)
