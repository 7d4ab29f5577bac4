"""Run the blocks of pages and put what they print under them: `python docs/make_outputs.py docs/howto/*.md`.

Blocks run in order in an empty folder, as the tests run them. What follows a block as ```text title="output"``` is
replaced; nothing else of a page changes.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

_FENCE = re.compile(r"^```(?P<language>[\w-]*)(?P<about>[^\n]*)\n(?P<body>.*?)^```$", re.S | re.M)


def _console(body: str) -> str:
    shown = ""
    for line in body.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if line.startswith("$ ") and words[0] == "noisewright":
            tool = [sys.executable, "-m", "noisewright", *words[1:]]
            shown += subprocess.run(tool, capture_output=True, text=True, check=True).stdout
    return shown


def _python(body: str, names: dict[str, object]) -> str:
    with redirect_stdout(StringIO()) as shown:
        exec(compile(body, "page", "exec"), names)  # noqa: S102 -- pages of this repository, run as their readers do
    return shown.getvalue()


def filled(text: str) -> str:
    """The page with the outputs of its blocks."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""

    def put(match: re.Match[str]) -> str:
        nonlocal printed
        language, about, body = match["language"], match["about"].strip(), match["body"]
        if language == "python":
            printed = _python(body, names)
        elif language == "console":
            printed = _console(body)
        elif language == "toml":
            Path(body.partition("\n")[0].removeprefix("# ")).write_text(body, encoding="utf-8")
        elif about == 'title="output"':
            shown = printed.replace(f"{Path.cwd()}/", "").strip("\n")
            lines = "\n".join(line.rstrip() for line in shown.splitlines())
            return f"```text {about}\n{lines}\n```"
        return match[0]

    return _FENCE.sub(put, text)


def main() -> None:
    """Fill every page that is named."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    start = Path.cwd()
    for page in [start / name for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            found = filled(page.read_text(encoding="utf-8"))
            os.chdir(start)
        page.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
