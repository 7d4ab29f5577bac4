from noisewright.release.bounding import Bounds as Bounds
from noisewright.release.histograms import histogram as histogram
from noisewright.release.keys import Keys as Keys, keys as keys
from noisewright.release.linear import workload as workload
from noisewright.release.quantiles import quantiles as quantiles
from noisewright.release.questions import (
    count as count,
    mean as mean,
    persons as persons,
    sum as sum,
    variance as variance,
)
from noisewright.release.ranking import top as top
from noisewright.release.weighed import weighted as weighted
