"""Whatever is typed: one line that says what is wrong, and exit code 2."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given, settings, strategies as st

from noisewright.app.cli import main
from tests.e2e.command import COMMANDS, DESIGN, Cli, assert_failed

QUESTION = {"epsilon": "1", "sensitivity": "1", "utility": "squared-error"}


def _words(**changed: str) -> list[str]:
    return [word for name, value in {**QUESTION, **changed}.items() for word in (f"--{name}", value)]


@pytest.mark.parametrize(
    "epsilon", ["nan", "inf", "-inf", "0", "-1", "1e-300", "1e300", "1e6", "abc", "", "1/0", "1,5"]
)
def test_epsilon(cli: Cli, epsilon: str):
    assert_failed(cli("design", *_words(epsilon=epsilon)), 2, "epsilon is ")


@pytest.mark.parametrize("sensitivity", ["0", "-1", "nan", "inf", "1e300", "1e-300", "one"])
def test_sensitivity(cli: Cli, sensitivity: str):
    assert_failed(cli("design", *_words(sensitivity=sensitivity)), 2, "sensitivity is ")


def test_a_broken_sensitivity_for_integers(cli: Cli):
    assert_failed(cli("design", *_words(sensitivity="0.5"), "--integer"), 2, "sensitivity is 0.5", "integer")


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (("usefulness",), ("needs --within",)),
        (("usefulness", "--within", "-1"), ("within is -1",)),
        (("usefulness", "--within", "0"), ("within is ",)),
        (("usefulness", "--within", "0.5", "--power", "2"), ("--power does not fit", "takes --within")),
        (("error-quantile",), ("needs --confidence",)),
        (("error-quantile", "--confidence", "1.5"), ("confidence is 1.5",)),
        (("error-quantile", "--confidence", "95"), ("confidence is 95",)),
        (("power-error",), ("needs --power",)),
        (("power-error", "--power", "0"), ("power is 0",)),
        (("power-error", "--power", "17"), ("power is 17",)),
        (("squared-error", "--within", "1"), ("--within does not fit", "takes no parameter")),
        (("absolute-error", "--confidence", "0.9"), ("--confidence does not fit",)),
        (("bogus",), ("'bogus'", "squared-error, absolute-error, power-error, usefulness, error-quantile")),
        (("Squared-Error",), ("'Squared-Error'",)),
    ],
)
def test_a_utility_and_its_parameter_belong_together(cli: Cli, words: tuple[str, ...], fragments: tuple[str, ...]):
    utility, *rest = words
    assert_failed(cli("design", *_words(utility=utility), *rest), 2, *fragments)


@pytest.mark.parametrize("missing", sorted(QUESTION))
def test_a_missing_option_is_named(cli: Cli, missing: str):
    given_words = [word for name, value in QUESTION.items() if name != missing for word in (f"--{name}", value)]
    assert_failed(cli("design", *given_words), 2, f"--{missing}", "noisewright design --help")


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (("desing",), ("desing", "noisewright --help")),
        (("--bogus",), ("--bogus",)),
        (("design", "--bogus"), ("--bogus", "noisewright design --help")),
        (("design", "--epsilon"), ("--epsilon",)),
        ((*DESIGN, "extra"), ("extra",)),
        (("verify",), ("FILE",)),
        (("verify", "a", "b"), ("b",)),
    ],
)
def test_words_that_are_no_command_or_option(cli: Cli, words: tuple[str, ...], fragments: tuple[str, ...]):
    assert_failed(cli(*words), 2, *fragments)


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (("--save", "missing/file.json"), ("--save", "no folder missing")),
        (("--save", "."), ("--save", "a folder")),
        (("--plot", "missing/a.png"), ("--plot", "no folder missing")),
        (("--plot", "picture"), ("--plot", ".png, .pdf, .svg")),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(
    cli: Cli, words: tuple[str, ...], fragments: tuple[str, ...]
):
    assert_failed(cli(*DESIGN, *words), 2, *fragments)


@settings(max_examples=60)
@given(
    command=st.sampled_from(["epsilon", "sensitivity", "utility"]),
    text=st.one_of(st.text(max_size=20), st.from_regex(r"\A-?[0-9]{1,3}([./e]-?[0-9]{1,3})?\Z")),
)
def test_no_text_ends_in_a_traceback(command: str, text: str):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["design", *_words(**{command: text})])
    if code:
        assert code == 2
        assert err.getvalue().startswith("error: ")
        assert len(err.getvalue().splitlines()) == 1
        assert "report this problem" not in err.getvalue()
    else:
        assert err.getvalue() == ""


@settings(max_examples=60)
@given(words=st.lists(st.one_of(st.sampled_from([*COMMANDS, "--", "-", "--json", "--value"]), st.text(max_size=8))))
def test_no_words_end_in_a_traceback(words: list[str]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(words)
    assert code in {0, 1, 2}
    assert len(err.getvalue().splitlines()) == (1 if code else 0)
    assert "report this problem" not in err.getvalue()
