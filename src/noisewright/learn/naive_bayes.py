"""Naive Bayes under pure differential privacy, and what its fits spend."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from noisewright.learn.columns import (
    ESTIMATE,
    MAGNITUDES,
    bounds_from,
    by_column,
    checked_bounds,
    checked_names,
    magnitudes,
    missing_bounds,
)
from noisewright.learn.counting import noise_for_cells, split_budget
from noisewright.ledger.ledger import Ledger
from noisewright.numerics.fields import Floats
from noisewright.problem.errors import InvalidInputError
from noisewright.problem.numbers import parameter, show
from noisewright.problem.utilities import SquaredError
from noisewright.proof.certify import Certificate
from noisewright.sample.certified import Certified
from noisewright.sample.entropy import Entropy

Whole = NDArray[np.int64]

_GRID = 2**20
_MEAN_WEIGHT, _SQUARE_WEIGHT = 11.0, 8.0
_BOUNDS_WEIGHT = 1.0
_LEAST_VARIANCE = 1e-3


class NaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Naive Bayes whose every count and sum is released with designed noise; the whole fit is epsilon-DP.

    Features are categorical (whole numbers 0 … k-1, with k given in `categorical` by column) or numeric (normal
    within each class; clipped to `bounds`, one pair for all or a mapping by column). Columns are meant by number or
    by name: names are those of a data frame, or `feature_names`. Bounds must be given, from public knowledge; for
    "estimate" in place of a pair a part of epsilon pays for a histogram of the magnitudes of that column, and
    `bounds_` says what was found. One person has at most `rows_per_person` rows; with `groups` given to `fit` (who
    each row belongs to), further rows of a group are left out, and without it the caller vouches for the limit.
    `noise` is "best", "tailored", "staircase", "two-fold" or "Laplace"; with m rows per person, noise of another
    shape than Laplace's pays for every cell that the rows may fall into, and is up to m times as wide.
    `utility` is what the noise is designed for (squared error if None). `budget` "optimised" gives queries that
    matter more a larger share, "even" the same. `entropy` is where randomness comes from, the operating system if
    None. A `ledger` is charged for the whole fit, durably and before anything is drawn; a fit that it refuses reads
    nothing.
    Guarantees: each table of counts or sums is certified as one vector, over every change that one person's rows
    can make to it; the certificates of the mechanisms used, in `certificates_` and `mechanisms_`, sum to at most
    epsilon for adding or removing one person, and are proven again when a pickled model is loaded. Class labels,
    the number of features, their names, bounds that are given and categories count as public.
    Each call of `fit` spends epsilon again: `spent_by_search` says what a grid search spends, whose scores are not
    private besides.
    """

    expected_failed_checks: ClassVar[dict[str, str]] = {
        "check_fit_idempotent": "the same fit twice draws different noise, and nothing can seed it",
        "check_supervised_y_2d": "compares a fit to labels in a column with one to labels in a row; each draws anew",
        "check_classifier_data_not_an_array": "compares a fit to an array with one to a list; each draws anew",
    }
    """Checks of scikit-learn's `check_estimator` that private randomness must fail, and why."""

    def __init__(
        self,
        epsilon: Any = 1.0,
        *,
        bounds: Any = None,
        categorical: Mapping[Any, int] | None = None,
        feature_names: Any = None,
        noise: str = "best",
        utility: Any = None,
        budget: str = "optimised",
        rows_per_person: int = 1,
        classes: Any = None,
        entropy: Entropy | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.categorical = categorical
        self.feature_names = feature_names
        self.noise = noise
        self.utility = utility
        self.budget = budget
        self.rows_per_person = rows_per_person
        self.classes = classes
        self.entropy = entropy
        self.ledger = ledger

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.classifier_tags.poor_score = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # A certificate is proven, never copied: what is kept are plain data, to be proven again.
        if "mechanisms_" in state:
            state["mechanisms_"] = [certified.to_dict() for certified in state["mechanisms_"]]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = dict(state)
        if "mechanisms_" in kept:
            kept["mechanisms_"] = [Certified.from_dict(data) for data in kept["mechanisms_"]]
        super().__setstate__(kept)

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> NaiveBayes:  # noqa: N803
        """Spend epsilon on the counts and sums of the training rows."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        names = checked_names(self.feature_names, getattr(self, "feature_names_in_", None), self.n_features_in_)
        if names is not None:
            self.feature_names_in_ = names
        check_classification_targets(labels)
        epsilon, most = parameter(self.epsilon, "epsilon"), self._rows_per_person()
        if groups is not None:
            kept = _first_of_each(_people(groups, len(rows)), most)
            rows, labels = rows[kept], labels[kept]
        self.classes_ = np.unique(labels if self.classes is None else np.asarray(self.classes))
        place = np.searchsorted(self.classes_, labels)
        known = (place < len(self.classes_)) & (self.classes_[np.minimum(place, len(self.classes_) - 1)] == labels)
        rows, place = rows[known], place[known].astype(np.int64)
        self._release_everything(rows, place, epsilon, most)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """The most probable class of each row."""
        joint = self._joint(X)
        return np.asarray(self.classes_[np.argmax(joint, axis=1)])

    def predict_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """The probability of each class for each row."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: ArrayLike) -> Floats:  # noqa: N803
        """The logarithm of the probability of each class for each row."""
        joint = self._joint(X)
        top = joint.max(axis=1, keepdims=True)
        return np.asarray(joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True)))

    @property
    def certificates_(self) -> list[Certificate]:
        """What was proven of each release, in their order."""
        return [certified.certificate for certified in self.mechanisms_]

    @property
    def spent_(self) -> Fraction:
        """What the last fit spent: the sum of what its releases are certified for."""
        requirements: list[Any] = [certificate.requirement for certificate in self.certificates_]
        return sum((requirement.epsilon for requirement in requirements), Fraction(0))

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

    def _rows_per_person(self) -> int:
        most = self.rows_per_person
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
            raise InvalidInputError(f"rows_per_person is {most!r}; give a whole number, at least 1.")
        if self.budget not in ("optimised", "even"):
            raise InvalidInputError(f'budget is {self.budget!r}; give "optimised" or "even".')
        return int(most)

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

    def _release_everything(self, rows: Floats, place: Whole, epsilon: Fraction, most: int) -> None:
        sizes = self._categories_of_columns()
        numeric = [j for j in range(self.n_features_in_) if j not in sizes]
        given = {j: self._bounds_of(j) for j in numeric}
        sought = [j for j in numeric if given[j] is None]
        weights = [1.0, *(float(k) for k in sizes.values()), *[_BOUNDS_WEIGHT] * len(sought)]
        weights += [_MEAN_WEIGHT, _SQUARE_WEIGHT] * len(numeric)
        parts = split_budget(epsilon, weights, optimised=self.budget == "optimised")
        with self._charged(parts, sizes, len(sought), most):
            self._release_parts(rows, place, iter(parts), most, given)

    def _release_parts(
        self,
        rows: Floats,
        place: Whole,
        shares: Iterator[Fraction],
        most: int,
        given: Mapping[int, tuple[float, float] | None],
    ) -> None:
        features, sizes, numeric = self.n_features_in_, self._categories_of_columns(), list(given)
        sought = [j for j in numeric if given[j] is None]
        self.mechanisms_: list[Certified] = []
        totals = np.bincount(place, minlength=len(self.classes_)).astype(np.int64)
        self.class_count_ = np.maximum(self._counts(totals, next(shares), most), 1.0)
        self.category_log_prob_ = {
            j: self._categories(rows[:, j], place, k, next(shares), most) for j, k in sizes.items()
        }
        estimated = {j: self._estimate(rows[:, j], next(shares), most) for j in sought}
        self.bounds_ = {j: given[j] or estimated[j] for j in numeric}
        self.estimated_ = [self._label(j) for j in sought]
        self.theta_ = np.zeros((len(self.classes_), features))
        self.var_ = np.ones((len(self.classes_), features))
        self._middle, self._half = np.zeros(features), np.ones(features)
        for j in numeric:
            self._moments(j, rows[:, j], place, (next(shares), next(shares)), most)

    def _counts(self, counts: Whole, share: Fraction, most: int) -> Floats:
        return self._released(counts, Fraction(1), Fraction(1), share, most)

    def _released(self, answers: Whole, unit: Fraction, each: Fraction, share: Fraction, most: int) -> Floats:
        """Private values of answers given in whole `unit`s; a row is in one of them and moves it by at most `each`."""
        certified = self._noise(len(answers), most, each, share)
        self.mechanisms_.append(certified)
        exact = [int(answer) * unit for answer in answers]
        return np.asarray(certified.release(exact, entropy=self.entropy))

    def _noise(self, cells: int, most: int, each: Fraction, share: Fraction) -> Certified:
        utility = SquaredError() if self.utility is None else self.utility
        return noise_for_cells(cells, most, each, share, self.noise, utility)

    def _categories(self, column: Floats, place: Whole, size: int, share: Fraction, most: int) -> Floats:
        value = np.clip(np.nan_to_num(column), 0, size - 1).astype(np.int64)
        table = np.bincount(place * size + value, minlength=len(self.classes_) * size)
        noisy = self._counts(table.astype(np.int64), share, most).reshape(len(self.classes_), size)
        smooth = np.maximum(noisy, 0.0) + 1.0
        return np.asarray(np.log(smooth / smooth.sum(axis=1, keepdims=True)))

    def _moments(self, j: int, column: Floats, place: Whole, shares: tuple[Fraction, Fraction], most: int) -> None:
        low, high = self.bounds_[j]
        self._middle[j], self._half[j] = (low + high) / 2, (high - low) / 2
        # In half-ranges, on a grid of whole numbers: sums of integers are exact, and no row adds more than 1.
        z = np.rint(_in_half_ranges(column, self._middle[j], self._half[j]) * _GRID).astype(np.int64)
        squares = np.rint((z / _GRID) ** 2 * _GRID).astype(np.int64) - _GRID // 2
        unit, classes = Fraction(1, _GRID), len(self.classes_)
        sums, spreads = (_class_sums(place, values, classes) for values in (z, squares))
        first = self._released(sums, unit, Fraction(1), shares[0], most)
        second = self._released(spreads, unit, Fraction(1, 2), shares[1], most)
        mean = np.clip(first / self.class_count_, -1.0, 1.0)
        square = np.clip(second / self.class_count_ + 0.5, 0.0, 1.0)
        self.theta_[:, j] = mean
        self.var_[:, j] = np.maximum(square - mean**2, _LEAST_VARIANCE)

    def _categories_of_columns(self) -> dict[int, int]:
        names = getattr(self, "feature_names_in_", None)
        sizes = by_column(self.categorical or {}, names, self.n_features_in_, "categorical")
        if any(isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1 for k in sizes.values()):
            raise InvalidInputError("categorical maps columns to how many values they have, at least 1.", given=sizes)
        return {j: int(k) for j, k in sizes.items()}

    def _label(self, j: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return str(j if names is None else names[j])

    def _given_bounds(self, j: int) -> Any:
        if isinstance(self.bounds, Mapping):
            names = getattr(self, "feature_names_in_", None)
            return by_column(self.bounds, names, self.n_features_in_, "bounds").get(j)
        return self.bounds

    def _bounds_of(self, j: int) -> tuple[float, float] | None:
        """The given bounds of a column; None where they are to be found."""
        given = self._given_bounds(j)
        if given is None:
            raise missing_bounds(self._label(j))
        if isinstance(given, str):
            if given != ESTIMATE:
                raise InvalidInputError(f'bounds is {given!r}; give pairs of numbers, or "{ESTIMATE}".', bounds=given)
            return None
        return checked_bounds(j, given)

    def _estimate(self, column: Floats, share: Fraction, most: int) -> tuple[float, float]:
        """Bounds of a column, read off a private histogram of its magnitudes."""
        counts = np.bincount(magnitudes(column), minlength=MAGNITUDES).astype(np.int64)
        return bounds_from(self._counts(counts, share, most), share, most)

    def _joint(self, X: ArrayLike) -> Floats:  # noqa: N803
        check_is_fitted(self)
        with warnings.catch_warnings():
            if self.feature_names is not None:  # columns of an array have the names that were given
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
            rows = validate_data(self, X, dtype=np.float64, reset=False)
        joint = np.tile(np.log(self.class_count_ / self.class_count_.sum()), (len(rows), 1))
        for j, table in self.category_log_prob_.items():
            value = np.clip(np.nan_to_num(rows[:, j]), 0, table.shape[1] - 1).astype(np.int64)
            joint += table[:, value].T
        numeric = [j for j in range(self.n_features_in_) if j not in self.category_log_prob_]
        z = _in_half_ranges(rows[:, numeric], self._middle[numeric], self._half[numeric])
        for c in range(len(self.classes_)):
            spread = self.var_[c, numeric]
            joint[:, c] -= 0.5 * np.sum(np.log(spread) + (z - self.theta_[c, numeric]) ** 2 / spread, axis=1)
        return np.asarray(joint)


def _in_half_ranges(values: Floats, middle: Any, half: Any) -> Floats:
    """Where values lie between their bounds, from -1 to 1; values outside count as the bound they are beyond."""
    # A value far outside may overflow, which the limits mend; a warning would tell that there is one.
    with np.errstate(over="ignore"):
        return np.asarray(np.clip((values - middle) / half, -1.0, 1.0))


def _class_sums(place: Whole, values: Whole, classes: int) -> Whole:
    """Sums of whole numbers per class; exact, since no partial sum reaches 2^53."""
    if len(values) > 2**32:
        raise InvalidInputError("more than 2^32 rows; split the data.", rows=len(values))
    return np.bincount(place, weights=values.astype(np.float64), minlength=classes).astype(np.int64)


def _people(groups: ArrayLike, rows: int) -> NDArray[Any]:
    """Who each row belongs to; refused where a row has no known owner, since no limit could hold for it."""
    people = np.asarray(groups)
    if people.shape != (rows,):
        raise InvalidInputError(
            f"groups has the shape {people.shape}; give one name or number for each of the {rows} rows."
        )
    if np.any(people != people):
        raise InvalidInputError("groups has missing values (NaN); give every row the person it belongs to.")
    return people


def _first_of_each(groups: NDArray[Any], most: int) -> NDArray[np.intp]:
    """Positions of at most `most` rows of each group, in their order."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.r_[True, ordered[1:] != ordered[:-1]]
    begin = np.maximum.accumulate(np.where(starts, np.arange(len(ordered)), 0))
    return np.sort(order[np.arange(len(ordered)) - begin < most])
