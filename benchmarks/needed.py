"""Packages that are measured beside noisewright, which does not need them: where one is missing, how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_INSTALLED_AS = {
    "class_sumvar": "ResidualPlanner, from its repository (benchmarks/workloads.py says where)",
    "diffprivlib": "pip install -r benchmarks/requirements.txt",
    "dp_accounting": "pip install dp-accounting",
    "duckdb": "pip install -e '.[tables]'",
    "hdmm": "HDMM, from its repository (benchmarks/workloads.py says where)",
    "jax": "pip install jax-privacy",
    "jax_privacy": "pip install jax-privacy",
    "opendp": "pip install -r benchmarks/requirements.txt",
    "polars": "pip install 'opendp[polars]'",
    "psycopg": "pip install -e '.[postgres]'",
    "pyarrow": "pip install -e '.[tables]'",
    "pyspark": "pip install -e '.[spark]'",
    "sklearn": "pip install -e '.[learn]'",
    "tmlt": "pip install tmlt.analytics",
}
_ALL_AT_ONCE = (
    "\nbenchmarks/run makes an environment with it in benchmarks/.venv, whose Python runs every other benchmark."
)


def needed(name: str) -> Any:
    """A module of another package; without it the programme ends and says what to type."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = (error.name or name).partition(".")[0]
        told = _INSTALLED_AS.get(package, f"pip install {package}")
        more = _ALL_AT_ONCE if "requirements.txt" in told else ""
        raise SystemExit(f"this benchmark needs {package}, which is not installed: {told}{more}") from None
