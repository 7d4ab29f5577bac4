"""The share of the rows that have one of the listed values in a column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from noisewright.problem.errors import InvalidQueryError
from noisewright.problem.fields import only
from noisewright.problem.records import record
from noisewright.release.ask.estimates import NOTHING, Estimate, Interval, quotient
from noisewright.release.ask.question import QUESTIONS, By, Name, Question, by_field, name_field
from noisewright.release.stage.aggregates import AGGREGATES, Aggregate, Rows
from noisewright.release.table.keys import Keys, Value, keys
from noisewright.release.table.names import require_column

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from noisewright.release.engines.base import Engine


@record("among", AGGREGATES)
class Among(Aggregate):
    """How many rows have one of the listed values, compared byte by byte."""

    values: Keys = only(Keys)
    word = "rows with one of the values"

    def sensitivity(self, rows: int) -> int:
        return rows

    @property
    def never_negative(self) -> bool:
        return True

    def require(self, table: ir.Table) -> None:
        require_column(table, self.values.columns[0])
        self.values.require(table)

    def term(self, table: ir.Table, engine: Engine) -> ir.Value:
        import ibis

        from noisewright.release.stage.expressions import comparable, literal

        held = comparable(table[self.values.columns[0]], engine)
        listed = [comparable(ibis.literal(value), engine) for (value,) in self.values.rows]
        return held.isin(listed).fill_null(False).ifelse(literal(1), literal(0))


@record("proportion", QUESTIONS, error=InvalidQueryError)
class Proportion(Question):
    """The share of the rows that have one of the listed values; rows without a value count as rows."""

    among: Keys = only(Keys)
    by: By = by_field()
    name: Name = name_field()
    word = "proportion"
    remark = (
        "A proportion is a noisy count divided by the noisy count of all rows; its interval comes with the answer, and"
        " groups too small to support a proportion are returned as missing."
    )

    def __post_init__(self) -> None:
        if self.among.private or len(self.among.columns) != 1:
            raise InvalidQueryError('among lists values of one column, such as nw.ask.proportion("age", [17, 18]).')

    @property
    def about(self) -> str:
        return self.among.columns[0]

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        return Rows(), Among(self.among)

    def estimate(self, values: Sequence[int], widths: Sequence[Fraction]) -> Estimate:
        """Rows with one of the values over all rows, from 0 to 1."""
        ratio = quotient(values[0], widths[0], values[1], widths[1])
        return NOTHING if ratio is None else Interval(*(min(max(part, Fraction(0)), Fraction(1)) for part in ratio))

    def promised(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction | None:
        """The largest half-width that `estimate` states for a group of at least so many rows.

        Rule: that of a mean of values from 0 to 1, whose distance to 0 is at most 1: with c the noisy count, s the
        other one, w and v their widths and e an end in [0, 1], |e - s/c| c <= v + w, and c is at least
        smallest_group - w. None where so few rows may be too few to say. [theory#tables-and-contribution-bounds]
        """
        if smallest_group is None or smallest_group - 2 * widths[0] < Fraction(1, 2):
            return None
        return (widths[0] + widths[1]) / (smallest_group - widths[0])

    def shortage(self, widths: Sequence[Fraction], smallest_group: int | None) -> Fraction:
        return (2 * widths[0] + Fraction(1, 2)) / (smallest_group or 1)


def proportion(column: str, among: Iterable[Value], *, by: Keys | None = None, name: str | None = None) -> Proportion:
    """The share of the rows that have one of the values `among` in a column, in each group of `by`.

    The values are public, as keys are: `nw.ask.proportion("diagnosis", ["E10", "E11"])`. They are compared byte by
    byte; rows without a value count as rows.

    >>> print(nw.ask.proportion("smokes", [True], by=nw.keys("sex", ["f", "m"])))
    proportion of smokes, sex (2 groups)
    """
    return Proportion(keys(column, among), by, name)
