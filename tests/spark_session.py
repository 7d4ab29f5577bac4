"""A real Spark for the tests: one JVM for a test process, on loopback, without a page, stopped at the end."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A JVM that lives for a minute gains nothing from compiling well or from collecting in threads."""
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "1g",
    "spark.executor.extraJavaOptions": _JVM,
}


def java() -> Path | None:
    """The home of a Java that Spark 4.0 runs on, that of the environment first; None if there is none."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    homes += [Path(found).resolve().parents[1] for found in (shutil.which("java"),) if found]
    homes += sorted(Path("/usr/lib/jvm").glob("*"))
    return next((home for home in homes if _version(home / "bin" / "java") in ("17", "21")), None)


def _version(program: Path) -> str | None:
    if not program.exists():
        return None
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    return found[1] if found else None


def linked_home(folder: Path) -> Path:
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
        os.environ["JAVA_HOME"] = str(java())
        if master.startswith("local-cluster"):
            os.environ["SPARK_HOME"] = str(linked_home(self.folder))
        builder = SparkSession.builder.master(master).appName("noisewright")
        places = {
            "spark.sql.warehouse.dir": str(self.folder / "tables"),
            "spark.local.dir": str(self.folder / "work"),
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={self.folder} {_JVM}",
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
