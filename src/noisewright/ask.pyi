from noisewright.release.ask.histogram import histogram as histogram
from noisewright.release.ask.quantiles import quantiles as quantiles
from noisewright.release.ask.question import (
    count as count,
    mean as mean,
    persons as persons,
    sum as sum,
    variance as variance,
)
from noisewright.release.ask.top import top as top
from noisewright.release.ask.weighted import weighted as weighted
from noisewright.release.ask.workload import workload as workload
from noisewright.release.run.bounds import Bounds as Bounds
from noisewright.release.table.keys import Keys as Keys, keys as keys
