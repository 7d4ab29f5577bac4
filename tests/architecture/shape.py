"""The shape of the code in figures, by its syntax and by what one plan at the command line loads and calls.

`script/shape` prints them; tests hold those that may not grow. With `--src` they are those of another commit.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

SRC = Path(__file__).resolve().parents[2] / "src"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def package(self) -> str:
        """The package below the root that it belongs to; nothing for a module beside the packages."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 2 or (self.path.name == "__init__.py" and len(parts) > 1) else ""

    def functions(self) -> Iterator[_Function]:
        """Every function and method."""
        return (node for node in ast.walk(self.tree) if isinstance(node, _Function))


def modules(src: Path = SRC) -> list[Module]:
    """Every file of the package."""
    folder = src / "noisewright"
    return [Module(_name(path.relative_to(src)), path) for path in sorted(folder.rglob("*.py"))]


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(module: Module, known: set[str]) -> set[str]:
    """The modules that a file names in its imports, wherever they stand: in functions and for types alone, too."""
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                own = module.name.split(".")
                own = own if module.path.name == "__init__.py" else own[:-1]
                base = ".".join([*own[: len(own) - node.level + 1], *([base] if base else [])])
            below = {f"{base}.{alias.name}" for alias in node.names}
            found |= below & known
            found |= {base} if below - known else set()
    return (found & known) - {module.name}


def cycles(src: Path = SRC) -> list[list[str]]:
    """The sets of modules that reach each other by their imports, the largest first."""
    every = modules(src)
    names = {module.name for module in every}
    arrows = {module.name: sorted(imports(module, names)) for module in every}
    return sorted((sorted(one) for one in _components(arrows) if len(one) > 1), key=lambda one: (-len(one), one))


def _components(arrows: dict[str, list[str]]) -> Iterator[list[str]]:
    """Strongly connected components (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    held: set[str] = set()

    def visit(node: str) -> Iterator[list[str]]:
        index[node] = low[node] = len(index)
        stack.append(node)
        held.add(node)
        for other in arrows[node]:
            if other not in index:
                yield from visit(other)
                low[node] = min(low[node], low[other])
            elif other in held:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            found: list[str] = []
            while not found or found[-1] != node:
                found.append(stack.pop())
                held.discard(found[-1])
            yield found

    for node in arrows:
        if node not in index:
            yield from visit(node)


def parameters(module: Module) -> Iterator[tuple[str, bool]]:
    """Parameters of functions, without self and cls, and whether anything may be given for each."""
    for function in module.functions():
        given = function.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        for one in every:
            if one is None or one.arg in ("self", "cls"):
                continue
            says = ast.unparse(one.annotation) if one.annotation else "Any"
            yield one.arg, "Any" in says.replace("[", " ").replace("]", " ").replace(",", " ").split()


def called_once(every: Sequence[Module]) -> tuple[int, int]:
    """How many functions with a name of their module's own are named once elsewhere, and how many there are."""
    once = total = 0
    for module in every:
        own = [f.name for f in module.functions() if f.name.startswith("_") and not f.name.endswith("__")]
        own = [name for name in own if name != "_"]
        used = Counter(node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name))
        used += Counter(node.attr for node in ast.walk(module.tree) if isinstance(node, ast.Attribute))
        total += len(own)
        once += sum(used[name] == 1 for name in own)
    return once, total


_PLAN = """
import json, resource, sys
from noisewright.app.cli import main
deepest = 0
def told(frame, event, argument):
    global deepest
    if event == "call" and "noisewright" in frame.f_code.co_filename:
        depth = 0
        while frame is not None:
            depth += "noisewright" in frame.f_code.co_filename
            frame = frame.f_back
        deepest = max(deepest, depth)
if "--deep" in sys.argv:
    sys.argv.remove("--deep")
    sys.setprofile(told)
try:
    status = main(sys.argv[1:])
except SystemExit as end:
    status = end.code
sys.setprofile(None)
own = sum(name.partition(".")[0] == "noisewright" for name in sys.modules)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([status, own, used.ru_utime + used.ru_stime, deepest]), file=sys.stderr)
"""
_SPEC = """
[dataset]
source = "visits.csv"
unit = "patient"
rows_per_group = 3
groups_per_person = 2
types = { cost = "number" }
budget = { epsilon = 10 }
ledger = "visits.ledger"

[privacy]
epsilon = 1

[keys.wards]
columns = "ward"
values = ["a", "b", "c"]

[[ask]]
kind = "count"
by = "wards"

[[ask]]
kind = "sum"
column = "cost"
bounds = [0, 100]
step = 1
"""


def plan(src: Path = SRC, runs: int = 5) -> dict[str, float]:
    """What `noisewright plan` of a small table loads, how long processors work for it, and how deep it calls."""
    with tempfile.TemporaryDirectory() as place:
        rows = [f"{i % 40},{'abc'[i % 3]},{i % 90}" for i in range(200)]
        Path(place, "visits.csv").write_text("\n".join(["patient,ward,cost", *rows, ""]), encoding="utf-8")
        Path(place, "spec.toml").write_text(_SPEC, encoding="utf-8")
        found = [_planned(place, src) for _ in range(runs)]
        deep = _planned(place, src, "--deep")
    own, seconds = found[0][1], median(one[2] for one in found)
    return {"modules of a plan": own, "seconds of a plan": round(seconds, 2), "deepest stack of a plan": deep[3]}


def _planned(place: str, src: Path, *more: str) -> list[float]:
    done = _python(src, place, _PLAN, *more, "plan", "spec.toml")
    answer: list[float] = json.loads(done.stderr.strip().splitlines()[-1])
    if answer[0] not in (0, None):
        raise RuntimeError(done.stdout + done.stderr)
    return answer


def _python(src: Path, place: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(src), "NOISEWRIGHT_CACHE": ""}
    return subprocess.run(
        [sys.executable, "-c", *words], cwd=place, env=environment, capture_output=True, text=True, check=False
    )


def importing(src: Path = SRC, runs: int = 9) -> float:
    """Seconds that `import noisewright` takes, the median of some processes."""
    code = "import time; a = time.perf_counter(); import noisewright; print(time.perf_counter() - a)"
    return round(median(float(_python(src, "/", code).stdout) for _ in range(runs)), 4)


def figures(src: Path = SRC) -> dict[str, object]:
    """Every figure by its name."""
    every = modules(src)
    without = [module for module in every if module.package != "lab"]
    release = [any_ for module in every if module.package == "release" for _, any_ in parameters(module)]
    all_ = [any_ for module in every for _, any_ in parameters(module)]
    once, own = called_once(every)
    return {
        "files": len(every),
        "lines without lab": sum(len(module.text.splitlines()) for module in without),
        "cycles": len(cycles(src)),
        "modules in each": [len(one) for one in cycles(src)],
        "Any in parameters of release": f"{sum(release)} of {len(release)}",
        "Any in parameters": f"{sum(all_)} of {len(all_)}",
        "functions called _": sum(f.name == "_" for module in every for f in module.functions()),
        "own functions named once": f"{once} of {own}",
        **plan(src),
        "seconds of an import": importing(src),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/shape", description="The shape of the code in figures.")
    parser.add_argument("--src", type=Path, default=SRC, help="the src folder to look at (this one)")
    for name, value in figures(parser.parse_args().src.resolve()).items():
        sys.stdout.write(f"{name:<32}{value}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
