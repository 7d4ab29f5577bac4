"""A real Spark for the tests: one JVM for a test process, on loopback, without a page, stopped at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "1g",
}


def java() -> str | None:
    """The program that runs Spark; None if there is none."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java") if home is None else shutil.which("java", path=str(Path(home) / "bin"))


def _home(folder: Path) -> Path:
    """The folder of Spark, where workers write: links to what is installed, so that nothing is written there."""
    import pyspark

    home = folder / "home"
    home.mkdir()
    for one in Path(str(pyspark.__file__)).parent.iterdir():
        (home / one.name).symlink_to(one)
    (home / "work").unlink(missing_ok=True)
    return home


class Sparks:
    """One session; `folder` is where its tables and files are."""

    def __init__(self, master: str = "local[2]", **settings: str) -> None:
        from pyspark.sql import SparkSession

        self.folder = Path(tempfile.mkdtemp(prefix="noisewright-spark-"))
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        if master.startswith("local-cluster"):
            os.environ["SPARK_HOME"] = str(_home(self.folder))
        builder = SparkSession.builder.master(master).appName("noisewright")
        places = {
            "spark.sql.warehouse.dir": str(self.folder / "tables"),
            "spark.local.dir": str(self.folder / "work"),
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={self.folder} -XX:TieredStopAtLevel=1",
        }
        for name, value in {**_SETTINGS, **places, **settings}.items():
            builder = builder.config(name, value)
        self.session: Any = builder.getOrCreate()

    def remove(self) -> None:
        """Stop Spark and its JVM, and take its files away."""
        from pyspark import SparkContext

        gateway: Any = SparkContext._gateway
        self.session.stop()
        process = getattr(gateway, "proc", None)
        gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = None
        if process is not None:
            process.stdin.close()
            process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)
