"""What files are read with: options and folders by which Spark would read other rows, or guess types from values.

Options of a frame or a table stand before the settings of a session. Some leave out whole files that one value makes
unreadable; any other may be handed on to the reader of Parquet, so that only those that choose files are allowed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from noisewright.problem.errors import InvalidTableError
from noisewright.problem.records import digest
from noisewright.release.places import Places, of_files

_ALLOWED = frozenset(
    {"path", "paths", "basepath", "mergeschema", "recursivefilelookup", "pathglobfilter", "compression"}
    | {"serialization.format"}
)
STARS = "*?[]{}\\"
"""What may stand for other signs in a path."""
_S3 = ("s3", "s3a", "s3n")
"""Connectors to the same buckets."""


def why_not_plain(scan: Any, *, named: bool) -> str | None:
    """Why a scan cannot be read with its options and folders; None if it can.

    The types of folders of a table of the catalogue (`named`) are declared. Those of files at a path were guessed by
    Spark from the names of all folders, so that one person's folder would change what another's name means.
    """
    given = str(scan.relation().options().keys().mkString("\0"))
    for name in sorted(given.split("\0") if given else ()):
        if name.lower() not in _ALLOWED:
            return f"is read with the option {name!r}, which may change what is read; leave it out"
    parts = json.loads(scan.relation().partitionSchema().json())["fields"]
    if guessed := [one["name"] for one in parts if one["type"] != "string" and not named]:
        return (
            f"has folders whose names are the column {guessed[0]!r}, and its type was guessed from them; set"
            " spark.sql.sources.partitionColumnTypeInference.enabled to false, or make it a table of the catalogue"
        )
    return None


def options_of(scan: Any, session: Any) -> dict[str, str]:
    """The options that files are read with, but for their paths."""
    given = dict(session._jvm.scala.jdk.javaapi.CollectionConverters.asJava(scan.relation().options()))
    return {str(name): str(value) for name, value in given.items() if name.lower() not in ("path", "paths")}


def matching(paths: Sequence[str], session: Any) -> list[str]:
    """The paths with what their stars stand for now."""
    found = []
    for path in paths:
        whole = session._jvm.org.apache.hadoop.fs.Path(path)
        there = whole.getFileSystem(session._jsc.hadoopConfiguration()).globStatus(whole)
        found += [str(one.getPath().toString()) for one in there or ()]
    if not found:
        raise InvalidTableError(f"there is no file {paths[0]} that Spark sees. Nothing was spent.")
    return found


def literal(paths: Iterable[str]) -> list[str]:
    """Paths that were found, written so that stars in them mean themselves: Spark looks for them in every path."""
    return ["".join(f"\\{sign}" if sign in STARS else sign for sign in path) for path in paths]


def named(paths: Sequence[str], options: Mapping[str, str]) -> str:
    """A name for files that does not change from run to run."""
    return f"files_{digest({'paths': list(paths), 'options': dict(options)})[:16]}"


def addressed(locations: Iterable[str]) -> Places:
    """Where files are that Hadoop addresses so: those of this machine's file system as everybody else knows them."""
    own, far = [], set()
    for location in locations:
        scheme, _, rest = location.partition(":")
        if scheme == "file":
            own.append(f"/{rest.lstrip('/')}")
        else:
            far.add(("address", "s3" if scheme in _S3 else scheme, rest.rstrip("/")))
    return of_files(own) | Places(frozenset(far))
