from noisewright import (
    ask as ask,
    errors as errors,
    folds as folds,
    lab as lab,
    laws as laws,
    learn as learn,
    mechanisms as mechanisms,
    metrics as metrics,
)
from noisewright.accounting.composition import Composition as Composition, compose as compose
from noisewright.ledger.charge import Charge as Charge
from noisewright.ledger.ledger import Ledger as Ledger
from noisewright.problem.divergences import (
    ErrorEntropy as ErrorEntropy,
    HistogramEntropy as HistogramEntropy,
    KullbackLeibler as KullbackLeibler,
    Mallows as Mallows,
    Renyi as Renyi,
)
from noisewright.problem.errors import NoisewrightError as NoisewrightError
from noisewright.problem.linear import Linear as Linear, Universe as Universe
from noisewright.problem.privacy import (
    ApproxDP as ApproxDP,
    MetricPrivacy as MetricPrivacy,
    ProbabilisticDP as ProbabilisticDP,
    PureDP as PureDP,
    RenyiDP as RenyiDP,
    ZeroConcentratedDP as ZeroConcentratedDP,
)
from noisewright.problem.queries import Choice as Choice, Histogram as Histogram, Scalar as Scalar, Vector as Vector
from noisewright.problem.sensitivity import (
    Box as Box,
    Disjoint as Disjoint,
    Groups as Groups,
    L1Ball as L1Ball,
    L2Ball as L2Ball,
    LpBall as LpBall,
    Points as Points,
    Replace as Replace,
    Sparse as Sparse,
)
from noisewright.problem.utilities import (
    AbsoluteError as AbsoluteError,
    AverageVariance as AverageVariance,
    ErrorQuantile as ErrorQuantile,
    Expected as Expected,
    Growth as Growth,
    Huber as Huber,
    LargestError as LargestError,
    PowerError as PowerError,
    SquaredError as SquaredError,
    Usefulness as Usefulness,
    WorstVariance as WorstVariance,
)
from noisewright.problem.workload import Workload as Workload
from noisewright.proof.certify import Certificate as Certificate, certify as certify
from noisewright.release.ask.count import count as count
from noisewright.release.ask.histogram import histogram as histogram
from noisewright.release.ask.mean import mean as mean
from noisewright.release.ask.quantiles import quantiles as quantiles
from noisewright.release.ask.sum import sum as sum
from noisewright.release.dataset import Dataset as Dataset
from noisewright.release.plan.plan import Plan as Plan
from noisewright.release.table.keys import keys as keys
from noisewright.sample.certified import Certified as Certified
from noisewright.search.budget import Budget as Budget, BudgetRow as BudgetRow, budget_for as budget_for
from noisewright.search.design import design as design
from noisewright.search.report.report import Candidate as Candidate, Report as Report

__version__: str
