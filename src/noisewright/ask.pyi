from noisewright.release.ask.count import count as count
from noisewright.release.ask.histogram import histogram as histogram
from noisewright.release.ask.mean import mean as mean
from noisewright.release.ask.persons import persons as persons
from noisewright.release.ask.proportion import proportion as proportion
from noisewright.release.ask.quantiles import quantiles as quantiles
from noisewright.release.ask.sum import sum as sum
from noisewright.release.ask.top import top as top
from noisewright.release.ask.variance import variance as variance
from noisewright.release.ask.weighted import weighted as weighted
from noisewright.release.ask.workload import workload as workload
from noisewright.release.run.bounds import Bounds as Bounds
from noisewright.release.table.keys import Keys as Keys, keys as keys
