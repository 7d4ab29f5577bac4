"""Linear programmes through HiGHS, with the status checked and the tolerances tightened."""

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


def minimise(
    cost: NDArray[np.float64],
    rows: list[tuple[NDArray[np.int32], NDArray[np.float64], float, float]],
) -> Solution:
    """Minimise cost·x over x >= 0 with low <= row·x <= high for each (indices, values, low, high).

    Raises SolverError unless the solver reports an optimum: HiGHS returns an objective even when it
    says "infeasible".
    """
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # the class has no annotations
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("primal_feasibility_tolerance", _TOLERANCE)
    solver.setOptionValue("dual_feasibility_tolerance", _TOLERANCE)
    solver.setOptionValue("small_matrix_value", _SMALLEST_COEFFICIENT)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(cost), len(rows)
    model.col_cost_ = cost
    model.col_lower_ = np.zeros(len(cost))
    model.col_upper_ = np.full(len(cost), highspy.kHighsInf)
    infinite = highspy.kHighsInf
    model.row_lower_ = np.array([max(row[2], -infinite) for row in rows])
    model.row_upper_ = np.array([min(row[3], infinite) for row in rows])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.concatenate([[0], np.cumsum([len(row[0]) for row in rows])]).astype(np.int32)
    model.a_matrix_.index_ = np.concatenate([row[0] for row in rows])
    model.a_matrix_.value_ = np.concatenate([row[1] for row in rows])
    solver.passModel(model)
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverError(
            f"the linear programme ended with status {solver.modelStatusToString(status)}.", status=status
        )
    solution = solver.getSolution()
    return Solution(
        np.array(solution.col_value), float(solver.getInfo().objective_function_value), np.array(solution.row_dual)
    )
