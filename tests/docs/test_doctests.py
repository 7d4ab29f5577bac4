"""Every name of the top level shows itself at work, and what it shows is so."""

from __future__ import annotations

import doctest
import re
from typing import Any

import pytest

import noisewright as nw
from noisewright.door import homes
from tests.docs.conftest import Built

_HOME = re.compile(r"^noisewright[\w.]*\.(?=\w+:)", re.M)
"""Where an error lives, which is no part of its name: a reader catches nw.errors.InvalidPrivacyError."""


class _Compared(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Whether the output is as shown, wherever in the package an error lives; `...` stands for anything."""
        return super().check_output(want, _HOME.sub("", got), optionflags)


def shown(name: str, thing: Any) -> doctest.DocTest:
    """The examples in the docstring of a thing itself, which see `nw` and nothing else."""
    text = thing.__doc__ or ""
    return doctest.DocTestParser().get_doctest(text, {"nw": nw}, name, None, 0)


def failures(test: doctest.DocTest) -> str:
    """What the examples print that is not as shown, told as doctest tells it."""
    told: list[str] = []
    runner = doctest.DocTestRunner(checker=_Compared(), optionflags=doctest.ELLIPSIS)
    runner.run(test, out=told.append, clear_globs=False)
    return "".join(told)


NAMES = sorted(name for name, home in homes("noisewright").items() if home != "noisewright")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_at_the_front_door_shows_what_it_does(name: str):
    thing = getattr(nw, name)
    test = shown(f"nw.{name}", thing)
    assert test.examples, f"nw.{name} has no example"
    assert failures(test) == ""
    typed = any(f"nw.{name}" in example.source for example in test.examples)
    made = isinstance(thing, type) and any(isinstance(value, thing) for value in test.globs.values())
    assert typed or made, f"no example uses nw.{name} or has one"


def test_an_example_that_is_not_so_is_found():
    def wrong() -> None:
        """Show a budget.

        >>> nw.PureDP(1).epsilon
        Fraction(2, 1)
        """

    def refused() -> None:
        """Show an error.

        >>> nw.PureDP(0)
        Traceback (most recent call last):
            ...
        InvalidUtilityError: epsilon is 0; ...
        """

    assert "Fraction(1, 1)" in failures(shown("wrong", wrong))
    assert "InvalidPrivacyError" in failures(shown("refused", refused))
    assert not shown("none", test_an_example_that_is_not_so_is_found).examples


def test_the_reference_shows_examples_as_code(site: Built):
    folder = site.folder / "reference"
    page = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*/index.html"))
    assert page.count('<span class="gp">&gt;&gt;&gt; </span>') >= len(NAMES)
    assert "<blockquote>" not in page
