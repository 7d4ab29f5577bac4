"""Additive noise for one number, on a lattice."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from noisewright.laws.base import LAWS
from noisewright.laws.gaussian import DiscreteGaussian
from noisewright.laws.laplace import DiscreteLaplace, Laplace
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.laws.piecewise import Piecewise
from noisewright.laws.registry import NoiseLaw
from noisewright.laws.tabulated import Tabulated
from noisewright.laws.two_fold import TwoFold
from noisewright.mechanisms.answers import Cells, Whole, read_answer, read_whole, stretch_of, whole_indices
from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.mechanisms.expected import ErrorDensity, ErrorLaw, WholeFold
from noisewright.mechanisms.losses import Smoothed
from noisewright.numerics.fields import Field, Value
from noisewright.problem.errors import InvalidAnswerError, InvalidMechanismError
from noisewright.problem.fields import one_of, only
from noisewright.problem.numbers import Number, show
from noisewright.problem.queries import Scalar
from noisewright.problem.records import record

# Below it, and with noise that stays below 2^52, no two lattice points share a float.
_LARGEST_INDEX = 2**51
_LARGEST_STEPS = 2**60


@dataclass(frozen=True, slots=True)
class Released:
    """The law of the released answer: `noise` lattice cells away from the cell of the true one."""

    lattice: Lattice
    answer_index: int
    noise: Rounded
    stretch: Fraction

    def value(self, noise_index: int) -> Fraction:
        """The lattice point that is released, given which cell the noise fell into."""
        return self.stretch * self.lattice.released(self.answer_index, noise_index)

    def point(self, noise_index: int) -> int:
        """How many steps that point is from zero."""
        return self.answer_index + noise_index + int(1 - 2 * self.lattice.edge)


@record("additive", MECHANISMS, error=InvalidMechanismError)
class Additive(Mechanism):
    """Noise from `law`, put on `lattice`, added to the answer of `query`.

    The true answer and the noise are each rounded to the centre of their cell. The step divides
    the sensitivity, so answers within the sensitivity stay within as many steps. Real answers that
    may carry the rounding errors of floats are contracted first, and the release is stretched as
    much (`mechanisms.answers`); law and lattice are those of the contracted answer.
    """

    query: Scalar = only(Scalar)
    law: NoiseLaw = one_of(LAWS)
    lattice: Lattice = only(Lattice)

    def __post_init__(self) -> None:
        if self.query.bounded is not None:
            raise InvalidMechanismError("additive noise does not stay inside output bounds; use a bounded mechanism.")
        steps = self.query.sensitivity / self.lattice.step
        if steps.denominator != 1 or steps > _LARGEST_STEPS:
            raise InvalidMechanismError(
                f"the lattice step must divide the sensitivity, at most 2^60 times; it goes {show(steps)} times.",
                steps=steps,
            )
        if self.query.integer and self.lattice != Lattice.integers():
            raise InvalidMechanismError("integer answers are released on the integers: step 1.")
        if not self.query.integer and self.lattice.edge:
            raise InvalidMechanismError("real answers use cells that begin at multiples of the step (edge 0).")
        if self.law.on_integers is (not self.query.integer):
            kind = "integer" if self.law.on_integers else "real"
            raise InvalidMechanismError(f"{type(self.law).__name__} noise is for {kind} answers only.")
        if self.query.integer and isinstance(self.law, TwoFold):
            WholeFold(self.law)
        if self.query.integer and isinstance(self.law, Tabulated) and self.law.width != 1:
            raise InvalidMechanismError("a tabulated law of whole numbers has one cell for each of them: width 1.")
        if isinstance(self.law, Piecewise | Tabulated) and not self.law.aligned(self.lattice.step, self.lattice.edge):
            raise InvalidMechanismError("the jumps of a piecewise law must fall on the edges of the lattice's cells.")

    @property
    def error_density(self) -> ErrorDensity:
        """Density of released minus true answer.

        For real answers averaged over where the answer falls in its cell; for integers the mass of
        k is spread over [k - 1/2, k + 1/2).
        """
        density = self.lattice_density
        return density if isinstance(density, DiscreteGaussian) else density.scaled(self.stretch)

    @property
    def lattice_density(self) -> ErrorDensity:
        """The same on the lattice, before the release is stretched."""
        if isinstance(self.law, Laplace):
            return self.law.stepped(self.lattice.step)
        if isinstance(self.law, DiscreteLaplace):
            return self.law.stepped()
        if isinstance(self.law, Piecewise | Tabulated | DiscreteGaussian):
            return self.law
        if self.query.integer and isinstance(self.law, TwoFold):
            return WholeFold(self.law)
        return Smoothed(self.law, self.lattice.step)

    @property
    def stretch(self) -> Fraction:
        """What answers are divided by before they are put on the lattice, and releases multiplied by."""
        return stretch_of(self.query.exact)

    @property
    def spacing(self) -> Fraction:
        """Released values are multiples of this."""
        return self.lattice.step * self.stretch

    @property
    def noise(self) -> Rounded:
        """The integer-valued law that is drawn."""
        law = self.law.stepped() if isinstance(self.law, DiscreteLaplace) else self.law
        return Rounded(law, self.lattice)

    def cells_given(self, answers: NDArray[Any], read: tuple[Fraction, bool] | None = None) -> Whole:
        """The cells of many answers: `law_given(answer).answer_index` of each.

        `read` are sensitivity and exactness by which floats are read, if not those of the question: a part of a
        mechanism for several numbers is given those of the whole.
        """
        asked = self.query
        sensitivity, exact = read or (asked.sensitivity, asked.exact)

        def one(answer: Any) -> int:
            return self.law_given(answer if asked.integer else read_answer(answer, sensitivity, exact)).answer_index

        if asked.integer:
            return whole_indices(answers, one)
        return Cells(self.spacing, self.lattice.edge, None if exact else sensitivity, one).indices(answers)

    def law_given(self, answer: Number) -> Released:
        """The law of the released answer when `answer` is the truth."""
        asked = self.query
        exact_answer = read_whole(answer) if asked.integer else read_answer(answer, asked.sensitivity, asked.exact)
        index = self.lattice.index(exact_answer / self.stretch)
        if not asked.integer and abs(index) >= _LARGEST_INDEX:
            limit = float(_LARGEST_INDEX * self.spacing)
            raise InvalidAnswerError(
                f"the answer is too large for the lattice: at most {limit:.6g} in size is allowed with step"
                f" {float(self.lattice.step):.6g}; rescale the query.",
                limit=limit,
            )
        return Released(self.lattice, index, self.noise, self.stretch)

    @property
    def errors(self) -> ErrorLaw:
        return ErrorLaw(self.error_density, self.query.integer)

    def bias(self, field: Field) -> Value:
        return self.error_density.mean(field)
