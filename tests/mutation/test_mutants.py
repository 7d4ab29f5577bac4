"""Planted bugs: every one can be planted, there are enough of them, and a few are planted for real."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutation.mutants import ROOT, DoesNotApplyError, Mutant, packages, planted, read
from tests.mutation.run import CAUGHT, MISFIT, SURVIVED, Bench, Result, benches, good_enough, main, results, table

PACKAGES = (
    *("accounting", "app", "explain", "lab", "laws", "learn", "ledger", "mechanisms", "numerics", "problem", "proof"),
    *("release", "sample", "search"),
)
"""Packages that must have mutants: exactly those with a file here, at least LEAST of them in each."""
LEAST = 8
SELECTION = {
    "problem": ("floats-are-always-binary",),
    "numerics": ("hull-is-its-low-end",),
    "mechanisms": ("computed-answers-are-not-contracted",),
    "proof": ("composed-laplace-smallest-shifts", "losses-rounded-down"),
    "accounting": ("dots-rounded-down",),
    "sample": ("a-changed-mechanism-is-drawn",),
}
"""Fast ones, planted by script/soak; two of them in every test run."""
TWO = ("losses-rounded-down", "a-changed-mechanism-is-drawn")
ALL = tuple(name for names in SELECTION.values() for name in names)

EVERY = [mutant for package in packages() for mutant in read(package)]


def test_the_packages_with_mutants_are_the_ones_that_must_have_them():
    assert packages() == sorted(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_enough_mutants_and_most_break_privacy_or_numbers_on_their_own(package):
    mutants = read(package)
    assert len(mutants) >= LEAST
    assert len({(mutant.function, mutant.replace, mutant.at, mutant.by) for mutant in mutants}) == len(mutants)


@pytest.mark.parametrize("mutant", EVERY, ids=str)
def test_every_mutant_can_be_planted_and_names_tests_that_exist(mutant):
    assert planted(mutant)
    for test in mutant.tests:
        path, _, name = test.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not name or f"def {name.partition('[')[0]}(" in text, f"{path} has no test {name}"


@pytest.mark.parametrize("names", [TWO, pytest.param(ALL, marks=pytest.mark.soak)], ids=["two", "all"])
def test_a_selection_is_planted_and_caught(names):
    chosen = [mutant for mutant in EVERY if mutant.name in set(names) & set(SELECTION.get(mutant.package, ()))]
    assert len(chosen) == len(names)
    with benches(1) as made:
        found = list(results(chosen, made))
    assert {str(result.mutant): (result.outcome, result.remark) for result in found} == {
        str(mutant): (CAUGHT, "") for mutant in chosen
    }


# The runner itself, on a project of two files.

TOY = '''"""Toys."""
from functools import singledispatch


class Scale:
    """A scale."""

    def weigh(self, x):
        """Twice."""
        return 2 * x


@singledispatch
def size(thing):
    return 0


@size.register
def _(thing: list):
    return len(thing)


@size.register
def _(thing: str):
    return len(thing) + 1


def wait(x):
    while x < 0:
        x += 1
    return x


LIMIT = 3
'''
TOY_TESTS = """from noisewright.toys.toy import LIMIT, Scale, size, wait


def test_weigh():
    assert Scale().weigh(2) == 4


def test_sizes():
    assert (size([1]), size("a"), LIMIT) == (1, 2, 3)


def test_wait():
    assert wait(-2) == 0
"""


def toy(name: str, function: str, replace: str, by: str, test: str = "test_weigh", **more) -> Mutant:
    return Mutant("toys", name, function, replace, by, "numbers", (f"tests/test_toy.py::{test}",), **more)


@pytest.fixture
def project(tmp_path) -> Path:
    toys = tmp_path / "here" / "src" / "noisewright" / "toys"
    toys.mkdir(parents=True)
    (tmp_path / "here" / "tests").mkdir()
    (toys.parent / "__init__.py").write_text("", encoding="utf-8")
    (toys / "toy.py").write_text(TOY, encoding="utf-8")
    (toys / "other.py").write_text("def wait(x):\n    return 0\n", encoding="utf-8")
    (tmp_path / "here" / "tests" / "test_toy.py").write_text(TOY_TESTS, encoding="utf-8")
    return tmp_path / "here"


def test_the_runner_tells_caught_from_survived_and_puts_everything_back(project, tmp_path):
    bench = Bench(tmp_path, project)
    chosen = [
        toy("seen", "Scale.weigh", "2 * x", "3 * x"),
        toy("same length, seen at once", "Scale.weigh", "2 * x", "4 * x"),
        toy("unseen", "Scale.weigh", "2 * x", "x * 2 + 0 * x"),
        toy("outside functions", "toy:", "LIMIT = 3", "LIMIT = 4", "test_sizes"),
        toy("hangs", "toy:wait", "x += 1", "x += 0", "test_wait", hangs=True),
        toy("hangs unannounced", "toy:wait", "x += 1", "x += 0", "test_wait"),
        toy("no such test", "toy:wait", "x += 1", "x += 2", "test_nothing"),
        toy("explained", "Scale.weigh", "2 * x", "x + x", survives="the same number"),
    ]
    found = {mutant.name: bench.result(mutant, 1.5 if "hangs" in mutant.name else 60.0) for mutant in chosen}
    bench.close()
    assert {name: result.outcome for name, result in found.items()} == {
        "seen": CAUGHT,
        "same length, seen at once": CAUGHT,
        "unseen": SURVIVED,
        "outside functions": CAUGHT,
        "hangs": CAUGHT,
        "hangs unannounced": MISFIT,
        "no such test": MISFIT,
        "explained": SURVIVED,
    }
    assert found["explained"].remark == "the same number"
    for root in (bench.root, project):
        assert (root / "src" / "noisewright" / "toys" / "toy.py").read_text(encoding="utf-8") == TOY


@pytest.mark.parametrize(
    ("function", "replace", "by", "at", "words"),
    [
        ("Scale.weigh", "3 * x", "2 * x", None, "0 times"),
        ("toy:", "x", "y", None, "4 times"),
        ("toy:", "x", "y", 5, "4 times"),
        ("Scale.weigh", "2 * x", "3 * x", 1, "1 times"),
        ("_", "len(thing)", "0", None, "2 times"),
        ("Scale.measure", "2 * x", "3 * x", None, "no function"),
        ("toy:Scale.measure", "2 * x", "3 * x", None, "no function"),
        ("_#3", "len(thing)", "0", None, "2 functions"),
        ("wait", "x", "2", None, "of 2 modules"),
        ("toe:wait", "x += 1", "x += 2", None, "no module"),
        ("toy:wait", "x += 1", "x +=", None, "no Python"),
        ("toy:wait", "x += 1", "x += 1  # again", None, "same programme"),
    ],
)
def test_what_cannot_be_planted_is_said(project, function, replace, by, at, words):
    with pytest.raises(DoesNotApplyError, match=words):
        planted(toy("wrong", function, replace, by, at=at), project)


def _planted(project: Path, function: str, replace: str, by: str, at: int | None = None) -> str:
    return ast.unparse(ast.parse(planted(toy("one", function, replace, by, at=at), project)))


def _toy(old: str, new: str) -> str:
    assert TOY.count(old) == 1
    return ast.unparse(ast.parse(TOY.replace(old, new)))


@pytest.mark.parametrize(
    ("function", "replace", "by", "at", "old", "new"),
    [
        ("_", "len(thing) + 1", "len(thing) + 2", None, "len(thing) + 1", "len(thing) + 2"),
        ("_#1", "len(thing)", "0", None, "list):\n    return len(thing)", "list):\n    return 0"),
        ("_#2", "len(thing)", "0", None, "len(thing) + 1", "0 + 1"),
        ("_", "len(thing)", "0", 2, "len(thing) + 1", "0 + 1"),
        ("toy:wait", "x", "y", 3, "return x\n\n\nLIMIT", "return y\n\n\nLIMIT"),
        ("toy:wait", "while x < 0:\n    x += 1\nreturn x", "return x", None, "while x < 0:\n        x += 1\n    ", ""),
        ("toy:wait", "x += 1", "pass", None, "x += 1", "pass"),
        ("toy:wait", "def wait(x): ...", "def wait(x=1): ...", None, "def wait(x)", "def wait(x=1)"),
        ("toy:", "LIMIT", "LEAST", None, "LIMIT", "LEAST"),
        ("noisewright.toys.toy:wait", "0", "1", None, "x < 0", "x < 1"),
    ],
)
def test_a_bug_is_planted_where_its_syntax_stands(project, function, replace, by, at, old, new):
    assert _planted(project, function, replace, by, at) == _toy(old, new)


def test_a_bug_stays_where_it_is_when_lines_move(project):
    path = project / "src" / "noisewright" / "toys" / "toy.py"
    moved = TOY.replace("    while x < 0:\n", "    # A comment.\n    while (\n        x\n        < 0\n    ):\n")
    path.write_text(moved, encoding="utf-8")
    path.rename(path.with_name("toe.py"))
    path.with_name("other.py").unlink()
    assert _planted(project, "wait", "x < 0", "x <= 0") == _toy("x < 0", "x <= 0")


@pytest.mark.parametrize(
    ("package", "outcomes", "enough"),
    [
        ("laws", [CAUGHT] * 19 + [SURVIVED], True),
        ("laws", [CAUGHT] * 18 + [SURVIVED], False),
        ("laws", [CAUGHT] * 19 + [MISFIT], False),
        ("proof", [CAUGHT] * 19 + [SURVIVED], False),
        ("proof", [CAUGHT] * 20, True),
    ],
)
def test_a_package_must_catch_most_and_the_verifier_all(package, outcomes, enough):
    mutant = toy("one", "toy:", "a", "b", survives="explained")
    found = [Result(mutant, outcome, "", 0.0) for outcome in outcomes]
    assert good_enough(package, found) is enough
    unexplained = [Result(toy("one", "toy:", "a", "b"), outcome, "", 0.0) for outcome in outcomes]
    assert good_enough(package, unexplained) is (enough and SURVIVED not in outcomes)
    assert str(outcomes.count(CAUGHT)) in table(found)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('name = "a"', "missing keys"),
        ('name = "a"\nfunction = "f"\nreplace = "x"\nby = "y"\nbreaks = "privacy"\ntests = ["t"]\nline = 3', "unknown"),
        ('name = "a"\nfunction = "f"\nreplace = "x"\nby = "y"\nbreaks = "hearts"\ntests = ["t"]', "breaks one of"),
        ('name = "a"\nfunction = "f"\nreplace = "x"\nby = "y"\nbreaks = "privacy"\ntests = []', "at least one test"),
    ],
)
def test_a_wrong_entry_is_refused_in_words(tmp_path, entry, words):
    (tmp_path / "toys.toml").write_text(f"[[mutant]]\n{entry}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        read("toys", tmp_path)


def test_two_mutants_of_one_name_are_refused(tmp_path):
    entry = '[[mutant]]\nname = "a"\nfunction = "f"\nreplace = "x"\nby = "y"\nbreaks = "privacy"\ntests = ["t"]\n'
    (tmp_path / "toys.toml").write_text(entry * 2, encoding="utf-8")
    with pytest.raises(ValueError, match="two mutants called a"):
        read("toys", tmp_path)


def test_the_door_names_mutants_without_planting_any(capsys):
    assert main(["--list", "--package", "proof"]) == 0
    assert "composed-laplace-smallest-shifts" in capsys.readouterr().out
    assert main(["--only", "no-such-mutant"]) == 2
