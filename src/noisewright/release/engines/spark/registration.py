"""How Spark is known: by addresses in the active session, and by the frames of a session."""

from __future__ import annotations

from noisewright.release.engines.registry import Registration

_GONE = "Spark's driver is gone: make a session and the dataset anew"


def _is_frame(source: object) -> bool:
    return type(source).__module__.startswith("pyspark.") and hasattr(source, "sparkSession")


SPARK = Registration(
    name="pyspark",
    title="PySpark",
    implementation="noisewright.release.engines.spark.engine:Spark",
    needs="tables of Spark need PySpark, which is not installed: pip install 'noisewright[tables,spark]'.",
    schemes=("spark:",),
    addresses=('"spark:table"', '"spark:/path/*.parquet"'),
    objects=("a table of Spark",),
    owns=_is_frame,
    troubles={
        "ConnectionRefusedError": _GONE,
        "ConnectionResetError": _GONE,
        "Py4JJavaError": (
            "a job of Spark failed, because it was cancelled, executors were lost, a file could not be read or the"
            " like; its log says why"
        ),
        "Py4JNetworkError": _GONE,
    },
    answered=frozenset({"Py4JJavaError"}),
)
