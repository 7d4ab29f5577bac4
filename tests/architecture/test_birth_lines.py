"""The count of lines that check, write and read data counts what it says."""

from __future__ import annotations

from pathlib import Path

from benchmarks.birth_lines import Tree

BEFORE = '''
@dataclass(frozen=True)
class Law:
    """A law."""

    scale: Fraction

    def __post_init__(self):
        _positive(self.scale)

    def to_dict(self):
        """Plain data."""
        return {"scale": str(self.scale)}

    def density(self, x):
        if x is None:
            raise InvalidAnswerError("give a number")
        return used(x)


class Wide(Law):
    def __init__(self):
        self.scale = 2


class Table:
    def __init__(self, rows):
        self.rows = rows


def _positive(scale):
    if scale <= 0:
        raise InvalidLawError("scale must be positive")


def used(x):
    return x
'''
AFTER = """
@record("law")
class Law(Record):
    scale: Rational = rational(above=0)


@record("newer")
class Newer(Record):
    scale: Rational = rational(above=0)
"""


def made(root: Path, text: str) -> Tree:
    (root / "laws").mkdir(parents=True)
    (root / "laws" / "law.py").write_text(text)
    (root / "lab").mkdir()
    (root / "lab" / "paper.py").write_text(BEFORE)
    return Tree(root)


def test_each_line_counts_once_and_as_what_it_is(tmp_path):
    sums = made(tmp_path, BEFORE).sums(None)
    assert sums == {
        "modules": (0, 0),
        "serialisers": (3, 2),
        "births": (4, 4),
        "fields": (1, 1),
        "helpers": (3, 3),
        "checks": (2, 2),
    }


def test_modules_that_do_nothing_else_count_whole(tmp_path):
    (tmp_path / "problem").mkdir()
    (tmp_path / "problem" / "fields.py").write_text('"""Fields."""\n\nimport re\n\n\ndef rational():\n    return re\n')
    assert made(tmp_path, AFTER).sums(None)["modules"] == (7, 3)


def test_what_is_shared_leaves_out_what_only_one_tree_has(tmp_path):
    before, after = made(tmp_path / "a", BEFORE), made(tmp_path / "b", AFTER)
    assert after.sums(None)["fields"] == (2, 2)
    assert after.sums(after.shared(before.names))["fields"] == (1, 1)
    kept = before.sums(before.shared(after.names))
    assert (kept["births"], kept["helpers"]) == ((2, 2), (3, 3))
