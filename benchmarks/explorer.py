"""How long the explorer takes to redraw one number after a change of epsilon or of the accuracy wanted.

`explorer.py [--changes 30]` starts the real server, draws the curve of the question once, as the page does, and then
asks for values that were never asked for before. What is measured is the time from the last byte of the request to the
last byte of the answer on loopback: reading, the design with its proofs, exact draws, all pictures, HTML and JSON.
Beside it stands the computing time of all its processes (to 10 ms), which other work on the machine changes less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

SRC = Path(__file__).resolve().parent.parent / "src"
LIMIT = 0.150
QUESTIONS: dict[str, dict[str, str]] = {
    "half-width at 95 %": {},
    "mean absolute error": {"utility": "absolute-error"},
    "mean squared error": {"utility": "squared-error"},
    "within 0.5": {"utility": "usefulness"},
    "half-width at 95 %, whole numbers": {"integer": "on"},
    "half-width at 95 %, zCDP": {"privacy": "zero-concentrated"},
}


def ask(connection: HTTPConnection, token: str, path: str, body: dict[str, Any]) -> tuple[float, list[dict[str, Any]]]:
    """Seconds, and the events that came."""
    headers = {"content-type": "application/json", "x-noisewright-token": token}
    text = json.dumps(body)
    start = time.perf_counter()
    connection.request("POST", path, text, headers)
    answer = connection.getresponse().read().decode()
    seconds = time.perf_counter() - start
    return seconds, [json.loads(part.removeprefix("data: ")) for part in answer.split("\n\n") if part]


def computing(root: int) -> float:
    """Seconds that a process and its children have computed."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0.0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(folder.name) == root or int(fields[1]) == root:
            total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def measured(
    connection: HTTPConnection, token: str, root: int, state: dict[str, str], values: list[dict[str, str]]
) -> str:
    """Median and worst of the changes, and mean and worst of their computing time."""
    times, computed = [], []
    for value in values:
        before = computing(root)
        seconds, events = ask(connection, token, "/api/look", {"state": {**state, **value}, "widths": [420, 860]})
        assert [event["event"] for event in events if event["event"] != "progress"] == ["look", "done"], events
        times.append(seconds)
        computed.append(computing(root) - before)
    middle, worst = statistics.median(times), max(times)
    own = f"{1000 * statistics.mean(computed):9.0f} {1000 * max(computed):6.0f}"
    return f"{1000 * middle:6.0f} {1000 * worst:6.0f} {own}   {_verdict(middle, worst)}"


def _verdict(middle: float, worst: float) -> str:
    return "yes" if worst <= LIMIT else "median only" if middle <= LIMIT else "no"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=30)
    count = parser.parse_args().changes
    words = [sys.executable, "-m", "noisewright", "explore", "--no-browser", "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(SRC)})
    assert process.stdout is not None
    address, _, token = process.stdout.readline().strip().partition("/#token=")
    connection = HTTPConnection(address.removeprefix("http://"), timeout=600)
    print(f"{'one number':36} {'change of':10} median  worst computing  worst   at most {1000 * LIMIT:.0f} ms")
    try:
        for name, state in QUESTIONS.items():
            _, (*_, look, _done) = ask(connection, token, "/api/look", {"state": state, "widths": [420, 860]})
            begun = {**state, "amount": look["amount"], "target": look["target"]}
            ask(connection, token, "/api/more", {"state": begun, "widths": [420, 860], "slow": False})
            shares = [0.35 + 2.3 * i / count for i in range(count)]
            amounts = [{"move": "privacy", "amount": f"{float(look['amount']) * share:.6f}"} for share in shares]
            chance = state.get("utility") == "usefulness"
            targets = [
                {"move": "accuracy", "target": f"{0.2 + 0.22 * share if chance else float(look['target']) * share:.6f}"}
                for share in shares
            ]
            for what, values in (("amount", amounts), ("accuracy", targets)):
                print(f"{name:36} {what:10} {measured(connection, token, process.pid, state, values)}", flush=True)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
