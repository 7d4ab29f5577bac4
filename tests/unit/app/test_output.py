"""What commands print is strict JSON and plain text, whatever the numbers and the files hold."""

from __future__ import annotations

import json
import math

import pytest

from noisewright.app.cli.output import complain, say_json


def test_numbers_that_json_does_not_know_become_null(capsys: pytest.CaptureFixture[str]):
    say_json({"value": math.inf, "gaps": [0.5, -math.inf, (math.nan, 2)], "whole": 10**20, "name": "inf"})
    found = json.loads(capsys.readouterr().out)
    assert found == {"value": None, "gaps": [0.5, None, [None, 2]], "whole": 10**20, "name": "inf"}


def test_a_complaint_is_one_printable_line_that_ends_somewhere(capsys: pytest.CaptureFixture[str]):
    complain("a file says\n\x1b[31mtrust me\x07 " + "x" * 2000)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: a file says ?[31mtrust me? xxx")
    assert err.endswith(" …\n")
    assert len(err) < 900
