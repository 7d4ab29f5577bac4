"""A process of its own that reads files which others forged: 1 GiB of memory, and it says how each one ended.

A line of standard input names a kind and a path; a line of standard output says `proven` or `refused`, or `bare` with
the error that nobody is told in words, and how many seconds of the processor it took.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

SECONDS = 6
MEMORY = 2**30


def _readers() -> dict[str, Callable[[Path], object]]:
    import noisewright as nw
    from noisewright.app.cli.ledger import _read_head
    from noisewright.app.cli.linear import read_rows
    from noisewright.app.cli.saved import answer, verify
    from noisewright.app.spec import read_spec
    from noisewright.ledger.chain import Head
    from noisewright.sample.certified import CountStream, read_file

    saved = dict.fromkeys(("mechanism", "plan", "report", "page", "release"), lambda path: verify(path, str(SECONDS)))
    return {
        **saved,
        "stream": lambda path: CountStream.from_dict(read_file(path), seconds=SECONDS),
        "head": lambda path: Head.from_dict(_read_head(path)),
        "ledger": lambda path: nw.Ledger.open(path).verify(),
        "spec": read_spec,
        "rows": lambda path: read_rows(path, "--matrix"),
        "values": lambda path: answer(path.with_suffix(".json"), None, path),
    }


def _ended(read: Callable[[Path], object], path: Path) -> str:
    from noisewright.problem.errors import NoisewrightError

    try:
        with contextlib.redirect_stdout(io.StringIO()):
            read(path)
    except NoisewrightError as error:
        return f"refused {type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001  # the very thing that is looked for
        import traceback

        return f"bare {type(error).__name__}: {error} {traceback.extract_tb(error.__traceback__)[-1]}"
    return "proven"


def main() -> None:
    """Read what is named until there is no more."""
    readers = _readers()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin:
        kind, path = json.loads(line)
        start = time.process_time()
        found = _ended(readers[kind], Path(path))
        sys.stdout.write(json.dumps([found[:500], time.process_time() - start]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
