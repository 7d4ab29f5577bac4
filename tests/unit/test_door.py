"""The public names of the top level: few, each written once."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

import noisewright as nw
from noisewright.door import homes, namespaces
from tests.docs.pages import ROOT
from tests.tree import tracked

EXPORTED: list[str] = getattr(nw, "__all__")  # noqa: B009  # the stub need not list it
SPACES = ["noisewright", *namespaces()]


def _in_a_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_person_can_learn_the_names_at_the_door():
    assert len(EXPORTED) <= 60
    assert set(namespaces()) == {
        f"noisewright.{name}" for name in ("ask", "laws", "folds", "mechanisms", "metrics", "errors", "learn", "lab")
    }


def test_no_name_is_written_twice():
    written = [name for space in SPACES for name in homes(space)]
    twice = sorted(name for name in set(written) if written.count(name) > 1)
    assert twice == ["count", "histogram", "keys", "mean", "quantiles", "sum"], "the questions that are asked most"
    assert all(getattr(nw, name) is getattr(nw.ask, name) for name in twice)


@pytest.mark.parametrize("space", SPACES)
def test_the_stub_and_the_module_agree(space: str):
    module = import_module(space)
    stub = homes(space)
    assert set(dir(module)) == set(stub) | ({"__version__"} if module is nw else set())
    for name, home in stub.items():
        value = getattr(module, name)
        assert value is vars(module)[name], "found again without asking"
        assert value is (import_module(f"{space}.{name}") if home == space else getattr(import_module(home), name))


@pytest.mark.parametrize("space", SPACES)
def test_a_name_does_not_hide_a_file_of_its_package(space: str):
    place = ROOT.joinpath("src", *space.split("."))
    files = {path.relative_to(place).parts[0].partition(".")[0] for path in tracked(place)}
    assert files & {name for name, home in homes(space).items() if home != space} == set()


def test_a_star_brings_the_names_but_not_the_namespaces():
    code = "from noisewright import *; print(*(name for name in dir() if not name.startswith('_')))"
    assert _in_a_new_process(code).split() == EXPORTED
    assert not any(isinstance(getattr(nw, name), ModuleType) for name in EXPORTED)


def test_importing_and_asking_for_names_loads_nothing_heavy():
    code = "import sys, noisewright as nw; dir(nw); nw.PureDP(1); nw.laws; nw.lab; nw.learn; print(*sys.modules)"
    assert {"numpy", "scipy", "flint", "sklearn", "matplotlib"} & set(_in_a_new_process(code).split()) == set()


def test_a_name_of_a_namespace_is_said_to_be_there():
    with pytest.raises(AttributeError, match=r"has no attribute 'Laplace'; it is nw\.laws\.Laplace$"):
        _ = nw.Laplace  # type: ignore[attr-defined]
    assert not hasattr(nw, "Laplace")


def test_a_name_that_is_not_there_is_unknown_as_usual():
    with pytest.raises(AttributeError, match="module 'noisewright' has no attribute 'Lapalce'") as unknown:
        _ = nw.Lapalce  # type: ignore[attr-defined]
    assert type(unknown.value) is AttributeError
    with pytest.raises(AttributeError, match=r"module 'noisewright\.laws' has no attribute 'Additive'"):
        _ = nw.laws.Additive  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'Lapalce'"):
        from noisewright import Lapalce  # type: ignore[attr-defined]  # noqa: F401
