"""The front door: few names, each written once, and a word for those that moved."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import noisewright as nw
from noisewright.door import REPLACED, homes, moved, namespaces
from tests.docs.pages import ROOT
from tests.tree import tracked

EXPORTED: list[str] = getattr(nw, "__all__")  # noqa: B009  # the stub need not list it
SPACES = ["noisewright", *namespaces()]
OLD = re.findall(
    r"\w+",
    """
    AbsoluteError Additive ApproxDP Atoms AverageVariance Blend Bounded BoundedReport Box Budget BudgetRow
    Candidate Certificate Certified Choice ColumnPlan Composite CoordinateUsefulness Dates DiscreteGaussian
    DiscreteLaplace Disjoint Ensemble ErrorEntropy ErrorQuantile Euclidean Expected FormulaFold GAUSSIAN
    GammaFold Gaussian GaussianMixture GeneralizedGaussian Graph GreatCircle Growth HalfIntegers Hamming
    HistogramEntropy InfeasibleError InvalidAnswerError InvalidInputError InvalidLawError InvalidLossError
    InvalidMechanismError InvalidNumberError InvalidPrivacyError InvalidQueryError InvalidUtilityError
    KullbackLeibler L1Ball L2Ball LOGISTIC Laplace LargestError LargestErrorQuantile Lattice Linear
    LinearElliptical LinearGaussian LinearLaplace LinearReport LocalMean Logistic Mallows Matrix
    MechanismFileError MetricExponential MetricMWEM MetricPrivacy MetricSmallDB MinkowskiExponential
    NoisewrightError NoncentralChiSquaredFold NormBlock NormShaped PerAttribute PerCoordinate PerValue Piecewise
    Plateau Points PowerError ProbabilisticDP PureDP Quartic RandomExponential RangedNoise RangedScalar
    RayleighFold Renyi RenyiDP Replace Report Rows Scalar Sine SmoothThreshold SolverError Sparse SquaredError
    Steps Tabulated Tent Threshold TimeSeries TotalAbsoluteError TotalSquaredError Truncated TruncatedLaplace
    TruncatedNormalFold TwoFold UncertifiedError UniformFold Universe UnreachableTargetError Usefulness Vector
    VectorReport WithAbsent WorstVariance ZeroConcentratedDP approximate_delta budget_for calibrated
    calibrated_many certify composed_delta composed_epsilon composite_from corollary_nine_delta design
    design_bounded exact_lp_sensitivity exponential_mechanism exponential_on_range exponential_over
    generalized_gaussian group_budget half_integers implied_bound local_mean loss_programme lp_sensitivity
    lp_sensitivity_from_bounds metric_private mwem_mechanism per_coordinate plan_columns point_fold
    ranged_mechanism release_within renyi_divergence skewed_staircase smalldb_by_metropolis smalldb_mechanism
    staircase two_point_fold
    """,
)
"""Every public name of version 0.1."""


def _in_a_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_person_can_learn_the_names_at_the_door():
    assert len(set(EXPORTED) - set(REPLACED)) <= 60
    assert set(namespaces()) == {
        f"noisewright.{name}" for name in ("ask", "laws", "folds", "mechanisms", "metrics", "errors", "learn", "lab")
    }


def test_no_name_is_written_twice():
    written = [name for space in SPACES for name in homes(space)]
    twice = sorted(name for name in set(written) if written.count(name) > 1)
    assert twice == ["count", "keys", "mean"], "the questions that are asked most"
    assert all(getattr(nw, name) is getattr(nw.ask, name) for name in twice)


@pytest.mark.parametrize("space", SPACES)
def test_the_stub_and_the_module_agree(space: str):
    module = import_module(space)
    stub = homes(space)
    assert set(dir(module)) == set(stub) | ({"__version__"} if module is nw else set())
    for name, home in stub.items():
        value = getattr(module, name)
        assert value is vars(module)[name], "found again without asking"
        assert value is (import_module(f"{space}.{name}") if home == space else getattr(import_module(home), name))


@pytest.mark.parametrize("space", SPACES)
def test_a_name_does_not_hide_a_file_of_its_room(space: str):
    place = ROOT.joinpath("src", *space.split("."))
    files = {path.relative_to(place).parts[0].partition(".")[0] for path in tracked(place)}
    assert files & {name for name, home in homes(space).items() if home != space} == set()


def test_a_star_brings_the_names_but_not_the_namespaces():
    code = "from noisewright import *; print(*(name for name in dir() if not name.startswith('_')))"
    assert _in_a_new_process(code).split() == EXPORTED
    assert not any(isinstance(getattr(nw, name), ModuleType) for name in EXPORTED)


def test_importing_and_asking_for_names_loads_nothing_heavy():
    code = "import sys, noisewright as nw; dir(nw); nw.PureDP(1); nw.laws; nw.lab; nw.learn; print(*sys.modules)"
    assert {"numpy", "scipy", "flint", "sklearn", "matplotlib"} & set(_in_a_new_process(code).split()) == set()


@pytest.mark.parametrize("name", [name for name in OLD if name not in dir(nw)])
def test_an_old_name_says_where_it_went(name: str):
    place = moved(name)
    assert place is not None
    message = f"nw.{name} is now {place}."
    assert not hasattr(nw, name)
    with pytest.raises(nw.errors.MovedNameError) as refusal:
        getattr(nw, name)
    assert (str(refusal.value), refusal.value.now) == (message, place)
    with pytest.raises(ImportError) as unknown:
        __import__("noisewright", fromlist=[name])
    assert str(unknown.value) == message


@pytest.mark.parametrize("name", OLD)
def test_what_an_old_name_points_to_is_there(name: str):
    place = re.match(r"[\w.]+", moved(name) or f"nw.{name}")
    assert place is not None
    value: object = nw
    for part in place[0].split(".")[1:]:
        value = getattr(value, part)


@pytest.mark.parametrize("name", ["composed_delta", "composed_epsilon"])
def test_what_left_a_namespace_says_where_it_went(name: str):
    with pytest.raises(nw.errors.MovedNameError, match=rf"nw.mechanisms.{name} is now nw.compose\(") as refusal:
        getattr(nw.mechanisms, name)
    assert refusal.value.now.startswith("nw.compose(")


def test_a_name_that_never_was_is_unknown_as_usual():
    with pytest.raises(AttributeError, match="module 'noisewright' has no attribute 'Lapalce'") as unknown:
        _ = nw.Lapalce  # type: ignore[attr-defined]
    assert type(unknown.value) is AttributeError
    with pytest.raises(AttributeError, match=r"module 'noisewright\.laws' has no attribute 'Additive'"):
        _ = nw.laws.Additive  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'Lapalce'"):
        from noisewright import Lapalce  # type: ignore[attr-defined]  # noqa: F401


def test_the_migration_page_lists_every_name_that_left():
    page = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
    told = {}
    for names, now in re.findall(r"^\| (`.*`) \| (.*) \|$", page, re.M):
        place = now.replace("`", "")
        inside = place.replace("nw", "noisewright") in namespaces()
        told.update({name: f"{place}.{name}" if inside else place for name in re.findall(r"`(\w+)`", names)})
    assert told == {name: moved(name) for name in OLD if moved(name)}
