"""Linear programmes, and multiplicative weights in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.problem.errors import SolverError

_TOLERANCE = 1e-10
_SMALLEST_COEFFICIENT = 1e-12


@dataclass(frozen=True, slots=True)
class Solution:
    """Primal values, objective and row duals of an optimal solution, in floats: never evidence."""

    x: NDArray[np.float64]
    objective: float
    duals: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SparseRows:
    """low <= row·x <= high for rows in compressed form: row r has entries starts[r] … starts[r + 1]."""

    starts: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def minimise(
    cost: NDArray[np.float64],
    rows: list[tuple[NDArray[np.int32], NDArray[np.float64], float, float]],
) -> Solution:
    """Minimise cost·x over x >= 0 with low <= row·x <= high for each (indices, values, low, high).

    Raises SolverError unless the solver reports an optimum: HiGHS returns an objective even when it
    says "infeasible".
    """
    lengths = [len(row[0]) for row in rows]
    matrix = SparseRows(
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        columns=np.concatenate([row[0] for row in rows]),
        values=np.concatenate([row[1] for row in rows]),
        low=np.array([row[2] for row in rows]),
        high=np.array([row[3] for row in rows]),
    )
    return minimise_sparse(cost, matrix)


def minimise_sparse(
    cost: NDArray[np.float64],
    matrix: SparseRows,
    *,
    solver: str = "choose",
    crossover: bool = True,
    tolerance: float = _TOLERANCE,
) -> Solution:
    """The same for rows that are already one sparse matrix, with a choice of algorithm.

    `solver` is "choose", "simplex" or "ipm"; without `crossover` an interior solution is returned
    as it is, which for large programmes saves most of the time.
    """
    import highspy

    handle: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # the class has no annotations
    handle.setOptionValue("output_flag", False)
    handle.setOptionValue("primal_feasibility_tolerance", tolerance)
    handle.setOptionValue("dual_feasibility_tolerance", tolerance)
    handle.setOptionValue("small_matrix_value", _SMALLEST_COEFFICIENT)
    handle.setOptionValue("solver", solver)
    handle.setOptionValue("run_crossover", "on" if crossover else "off")
    infinite = highspy.kHighsInf
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(cost), len(matrix.low)
    model.col_cost_ = cost
    model.col_lower_ = np.zeros(len(cost))
    model.col_upper_ = np.full(len(cost), infinite)
    model.row_lower_ = np.maximum(matrix.low, -infinite)
    model.row_upper_ = np.minimum(matrix.high, infinite)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = matrix.starts
    model.a_matrix_.index_ = matrix.columns
    model.a_matrix_.value_ = matrix.values
    handle.passModel(model)
    handle.run()
    status = handle.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverError(
            f"the linear programme ended with status {handle.modelStatusToString(status)}.", status=str(status)
        )
    solution = handle.getSolution()
    return Solution(
        np.array(solution.col_value), float(handle.getInfo().objective_function_value), np.array(solution.row_dual)
    )


def reweighed(
    weights: NDArray[np.float64], row: NDArray[np.float64], measured: float, people: float
) -> NDArray[np.float64]:
    """Weights moved towards a measurement of row · weights, with the same total.

    Exponent row_i (measured - row · weights) / (2 people), both factors divided by the largest
    entry of the row: the units of the query do not matter.
    """
    size = float(np.abs(row).max())
    if size == 0 or people == 0:
        return weights
    unit = row / size
    exponent = unit * ((measured - float(row @ weights)) / size / (2 * people))
    moved = weights * np.exp(exponent - exponent.max())
    return np.asarray(people * moved / moved.sum())
