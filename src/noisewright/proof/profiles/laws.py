"""Which profile noise has under all shifts up to the sensitivity, and which pair of neighbours bounds it from below.

Everything is stated in units of the sensitivity, so that laws which differ by a scale alone have one profile.
"""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch

from noisewright.laws.base import LogConcave, SmoothLaw
from noisewright.laws.gaussian import DiscreteGaussian, Gaussian, GaussianMixture, GeneralizedGaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace, TruncatedLaplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.registry import NoiseLaw
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.two_fold import TwoFold
from noisewright.problem.errors import UncertifiedError
from noisewright.proof.approximate import integer_sensitivity
from noisewright.proof.profiles.base import GaussianProfile, LowerPair, PairProfile, Profile
from noisewright.proof.profiles.cells import PiecewiseProfile, TabulatedProfile, worst_shifts
from noisewright.proof.profiles.integers import DiscreteGaussianProfile, DiscreteLaplaceProfile
from noisewright.proof.profiles.laplace import LaplaceProfile
from noisewright.proof.profiles.lower import LevelsPair, SymmetricPair
from noisewright.proof.profiles.smooth import SmoothProfile
from noisewright.proof.pure import pure_bound

_ONE = Fraction(1)


@singledispatch
def law_profile(law: NoiseLaw, sensitivity: Fraction) -> Profile:
    """The profile of noise under all shifts up to `sensitivity`; laws without a rule are known by their pure bound.

    Raises UncertifiedError for a law that has neither.
    """
    return _from_pure(law, sensitivity)


def _from_pure(law: NoiseLaw, sensitivity: Fraction) -> Profile:
    bound, rule = pure_bound(law, sensitivity)
    return PairProfile(bound, rule=f"profile/{rule}")


@law_profile.register
def _profile_of_smooth_law(law: SmoothLaw, sensitivity: Fraction) -> Profile:
    """Log-concave laws by the place where their loss passes epsilon, others by their pure bound."""
    return (
        SmoothProfile(law.scaled(1 / sensitivity), _ONE)
        if isinstance(law, LogConcave)
        else _from_pure(law, sensitivity)
    )


@law_profile.register(TwoFold)
@law_profile.register(GaussianMixture)
def _profile_of_mixture(law: TwoFold | GaussianMixture, sensitivity: Fraction) -> Profile:
    """By the places where their loss passes epsilon: it does so more than once."""
    return SmoothProfile(law.scaled(1 / sensitivity), _ONE)


@law_profile.register
def _profile_of_gaussian(law: Gaussian, sensitivity: Fraction) -> Profile:
    return GaussianProfile((sensitivity / law.std) ** 2)


@law_profile.register
def _profile_of_generalized_gaussian(law: GeneralizedGaussian, sensitivity: Fraction) -> Profile:
    """Power 1 is Laplace noise, power 2 is Gaussian of variance scale^2 / 2."""
    if law.power == 1:
        return LaplaceProfile(sensitivity / law.scale)
    if law.power == 2:
        return GaussianProfile(2 * (sensitivity / law.scale) ** 2)
    return SmoothProfile(law.scaled(1 / sensitivity), _ONE)


@law_profile.register
def _profile_of_laplace(law: Laplace, sensitivity: Fraction) -> Profile:
    return LaplaceProfile(sensitivity / law.scale)


@law_profile.register
def _profile_of_truncated_laplace(law: TruncatedLaplace, sensitivity: Fraction) -> Profile:
    return LaplaceProfile(sensitivity / law.scale, law.bound / law.scale)


@law_profile.register
def _profile_of_discrete_laplace(law: DiscreteLaplace, sensitivity: Fraction) -> Profile:
    return DiscreteLaplaceProfile(1 / law.scale, integer_sensitivity(sensitivity))


@law_profile.register
def _profile_of_discrete_gaussian(law: DiscreteGaussian, sensitivity: Fraction) -> Profile:
    return DiscreteGaussianProfile(law, integer_sensitivity(sensitivity))


@law_profile.register
def _profile_of_tabulated(law: Tabulated, sensitivity: Fraction) -> Profile:
    return TabulatedProfile(law.scaled(1 / law.width), sensitivity / law.width)


@law_profile.register
def _profile_of_piecewise(law: Piecewise, sensitivity: Fraction) -> Profile:
    """By its levels; by its pure bound where they are too many to be compared at every shift."""
    scaled = law.scaled(1 / sensitivity)
    try:
        worst_shifts(scaled, _ONE)
    except UncertifiedError:
        return _from_pure(law, sensitivity)
    return PiecewiseProfile(scaled, _ONE)


@singledispatch
def lower_pair(law: NoiseLaw, sensitivity: Fraction, lattice: Lattice | None = None) -> LowerPair | None:
    """Noise, rounded to a lattice if there is one, against itself moved by the sensitivity; None without a rule."""
    if not isinstance(law, LogConcave | TwoFold | GaussianMixture):
        return None
    return SymmetricPair(SmoothProfile(law.scaled(1 / sensitivity), _ONE), _in_units(lattice, sensitivity))


def _in_units(lattice: Lattice | None, unit: Fraction) -> Lattice | None:
    return None if lattice is None else Lattice(lattice.step / unit, lattice.edge)


@lower_pair.register
def _lower_pair_of_generalized_gaussian(
    law: GeneralizedGaussian, sensitivity: Fraction, lattice: Lattice | None = None
) -> LowerPair | None:
    """Power 1 is Laplace noise, whose losses have atoms."""
    if law.power == 1:
        return lower_pair(Laplace(law.scale), sensitivity, lattice)
    return SymmetricPair(SmoothProfile(law.scaled(1 / sensitivity), _ONE), _in_units(lattice, sensitivity))


@lower_pair.register(Laplace)
@lower_pair.register(TruncatedLaplace)
def _lower_pair_of_laplace(
    law: Laplace | TruncatedLaplace, sensitivity: Fraction, lattice: Lattice | None = None
) -> LowerPair | None:
    bound = law.bound / law.scale if isinstance(law, TruncatedLaplace) else None
    return SymmetricPair(LaplaceProfile(sensitivity / law.scale, bound), _in_units(lattice, law.scale))


@lower_pair.register
def _lower_pair_of_discrete_laplace(
    law: DiscreteLaplace, sensitivity: Fraction, lattice: Lattice | None = None
) -> LowerPair | None:
    return SymmetricPair(DiscreteLaplaceProfile(1 / law.scale, integer_sensitivity(sensitivity)))


@lower_pair.register
def _lower_pair_of_discrete_gaussian(
    law: DiscreteGaussian, sensitivity: Fraction, lattice: Lattice | None = None
) -> LowerPair | None:
    return SymmetricPair(DiscreteGaussianProfile(law, integer_sensitivity(sensitivity)))


@lower_pair.register
def _lower_pair_of_tabulated(law: Tabulated, sensitivity: Fraction, lattice: Lattice | None = None) -> LowerPair | None:
    """At the largest shift of whole cells, if there is one."""
    profile = TabulatedProfile(law.scaled(1 / law.width), sensitivity / law.width)
    return SymmetricPair(profile) if profile.cells >= 1 else None


@lower_pair.register
def _lower_pair_of_piecewise(law: Piecewise, sensitivity: Fraction, lattice: Lattice | None = None) -> LowerPair | None:
    return LevelsPair(law.scaled(1 / sensitivity), _ONE)
