"""What a classifier spends: by one fit, and by a search that fits it many times."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from noisewright.learn.columns import MAGNITUDES
from noisewright.ledger.ledger import Ledger
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import parameter, show
from noisewright.proof.certify import Certificate
from noisewright.sample.certified import Certified


class Spending:
    """The account of a classifier whose fit makes certified releases."""

    expected_failed_checks: ClassVar[dict[str, str]] = {
        "check_fit_idempotent": "the same fit twice draws different noise, and nothing can seed it",
        "check_supervised_y_2d": "compares a fit to labels in a column with one to labels in a row; each draws anew",
        "check_classifier_data_not_an_array": "compares a fit to an array with one to a list; each draws anew",
    }
    """Checks of scikit-learn's `check_estimator` that private randomness must fail, and why."""
    epsilon: Any
    rows_per_person: int
    mechanisms_: list[Certified]
    estimated_: list[str]
    classes_: Any
    ledger: Ledger | None

    @property
    def certificates_(self) -> list[Certificate]:
        """What was proven of each release, in their order."""
        return [certified.certificate for certified in self.mechanisms_]

    @property
    def spent_(self) -> Fraction:
        """What the last fit spent: the sum of what its releases are certified for."""
        requirements: list[Any] = [certificate.requirement for certificate in self.certificates_]
        return sum((requirement.epsilon for requirement in requirements), Fraction(0))

    def _charged(
        self, parts: list[Fraction], sizes: Mapping[int, int], sought: int, most: int
    ) -> AbstractContextManager[Any]:
        """The whole fit as one charge of the ledger, if there is one; made before anything is released."""
        if self.ledger is None:
            return nullcontext()
        classes, shares = len(self.classes_), iter(parts)
        asked = [(classes, Fraction(1)), *((classes * k, Fraction(1)) for k in sizes.values())]
        asked += [(MAGNITUDES, Fraction(1))] * sought
        numeric = (len(parts) - len(asked)) // 2
        asked += [(classes, Fraction(1)), (classes, Fraction(1, 2))] * numeric
        planned = [self._noise(cells, most, each, next(shares)) for cells, each in asked]
        return self.ledger.charge(planned, reason="naive Bayes, one fit")

    @abstractmethod
    def _noise(self, cells: int, most: int, each: Fraction, share: Fraction) -> Certified:
        """Noise for sums over cells."""

    def spent_by_search(self, points: int, folds: int, *, refit: bool = True, grouped: bool = False) -> Fraction:
        """The epsilon that the fits of a grid search of so many points and folds spend on one person.

        Rule: every fit spends epsilon on whoever is in its training rows. A person who is in one fold is in the
        training rows of all the others, folds - 1 fits for each point; the last fit to all rows (`refit`) is one
        more. A person whose rows may be in several folds is in all: with `rows_per_person` above 1, unless
        `grouped` says that a splitter such as GroupKFold keeps them together. [theory#composition-and-filters]
        Valid for: folds that do not depend on who else is there, such as those of PredefinedSplit; KFold cuts by
        position, where one row less moves others from fold to fold. The scores of the held-out rows are not private:
        neither `cv_results_` nor the choice of the best point is covered by any epsilon.
        """
        if min(points, folds - 1) < 1:
            raise InvalidInputError(f"points is {points} and folds is {folds}; give at least 1 and at least 2.")
        fits = folds - 1 if grouped or self.rows_per_person == 1 else folds
        return parameter(self.epsilon, "epsilon") * (points * fits + bool(refit))

    def describe(self) -> str:
        """In words: what was spent, on what, and what another fit costs."""
        check_is_fitted(self)
        found, most = ", ".join(self.estimated_), self.rows_per_person
        lines = [
            f"This fit spent epsilon = {show(self.spent_)} on {len(self.mechanisms_)} releases, each certified, for"
            f" adding or removing one person with at most {most} row{'s' if most > 1 else ''}.",
            *([f"A part of it found the bounds of {found}."] if found else []),
            "Every further fit spends epsilon again. A grid search of g points with k folds fits k g + 1 times: it"
            " spends g (k - 1) + 1 times epsilon on a person who is in one fold (spent_by_search), and its scores are"
            " not private.",
        ]
        return "\n".join(lines)
