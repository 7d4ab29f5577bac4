"""Whatever is put together of listed functions fails on no value of a table of Spark: many at once in one query."""

from __future__ import annotations

import random
import warnings
from typing import Any

import ibis
import pytest
from ibis.common.annotations import ValidationError
from ibis.common.exceptions import IbisError

from noisewright.problem.errors import NoisewrightError
from noisewright.release.engines.duckdb.engine import DuckDB
from noisewright.release.table.person_local import checked
from noisewright.release.table.sources import open_source
from tests.release.test_attacks import EXTREMES, Writer, place
from tests.spark_session import Sparks

__all__ = ["place"]
pytestmark = pytest.mark.xdist_group("spark")
AT_ONCE = 20
OTHERS = ("h", "mood", "tns", "tm", "iv", "uu", "l", "j")
"""Columns that Parquet, or Spark, does not have."""


@pytest.fixture(scope="module")
def visits(spark: Sparks, place: DuckDB) -> Any:
    """The table with every extreme value, as a Parquet file of Spark."""
    path = spark.folder / "extremes.parquet"
    names = ", ".join(name for name in ("u", *EXTREMES) if name not in OTHERS)
    place.backend.con.execute(f"COPY (SELECT {names} FROM visits) TO '{path}' (FORMAT parquet)")
    return open_source(spark.session.read.parquet(str(path)), "u")


def written(source: Any, seed: int) -> list[Any]:
    """Random values of the table that pass the check, each as a query of one column."""
    chosen = random.Random(seed)
    found: list[Any] = []
    writer = Writer(source.table, chosen)
    while len(found) < AT_ONCE:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                query = source.table.select("u", z=writer.any(chosen.choice([1, 2, 2, 3])))
            found.append(checked(query, source.bases, source.engine)[0])
        except (IbisError, ValidationError, TypeError, AttributeError, ValueError, ArithmeticError, NoisewrightError):
            continue  # no query at all, or none that passes
    return found


def summed(queries: list[Any]) -> Any:
    """Everything is computed: the greatest value of each column."""
    return ibis.union(*(query.agg(n=query.z.max().notnull().cast("int64")) for query in queries), distinct=False)


def tried(source: Any, seed: int) -> None:
    queries = written(source, seed)
    try:
        source.engine.fetch(summed(queries))
    except source.engine.errors:
        for query in queries:
            try:
                source.engine.fetch(summed([query, query]).limit(0))
            except source.engine.errors:
                continue  # what fails on no rows fails before the charge
            try:
                source.engine.fetch(summed([query, query]))
            except source.engine.errors as error:
                raise AssertionError(f"seed {seed}: {ibis.to_sql(query, dialect='pyspark')}") from error


@pytest.mark.parametrize("seed", range(2))
def test_what_is_put_together_of_listed_functions_fails_on_no_value(visits: Any, seed: int):
    tried(visits, seed)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(100, 105))
def test_much_is_put_together_of_listed_functions(visits: Any, seed: int):
    for own in range(4):
        tried(visits, 1000 * seed + own)
