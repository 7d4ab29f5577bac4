"""Random lopsided sets of several numbers, with unlike noise on each: what rules are tried on (`nested_sets`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import noisewright as nw
from tests.nested_sets import Case, Part

F, L = Fraction, nw.laws
_MOST_NUMBERS = 7


REAL: dict[str, Callable[[Fraction], Any]] = {
    "laplace": L.Laplace,
    "gaussian": L.Gaussian,
    "steep": lambda s: L.GeneralizedGaussian(F(5, 2), s),
    "flat": lambda s: L.GeneralizedGaussian(F(3, 2), s),
    "logistic": L.Logistic,
    "secant": L.HyperbolicSecant,
    "truncated": lambda s: L.TruncatedLaplace(s, 5 * s),
    "staircase": lambda s: L.staircase(epsilon=1 / s, sensitivity=1, split=F(1, 2)),
}
WHOLE: dict[str, Callable[[Fraction], Any]] = {
    "discrete laplace": L.DiscreteLaplace,
    "discrete gaussian": L.DiscreteGaussian,
}
BALLS = ("l1", "l2", "lp", "lp")
COUNTED = ("box", "disjoint", "disjoint", "sparse", "replace", "points", "points", "points")


@dataclass(frozen=True)
class Menu:
    """From what a case is drawn: families of noise, and how dear a number about is."""

    chance: Random
    real: list[str]
    whole: list[str]
    price: Fraction

    def part(self, extent: Fraction, kind: str) -> Part:
        """Noise under which a move by this much costs about the price; now and then twice as much."""
        unlike = self.chance.choice([F(1), F(1), F(4, 5), F(5, 4), F(2), F(1, 2)])
        scale = F(max(1, round(12 * extent / (self.price * unlike))), 12)
        if kind in WHOLE:
            return Part(WHOLE[kind](scale), F(1))
        step = F(1, 4) if kind == "staircase" else F(self.chance.choice(["1/2", "1/3", "1/4", "2/5"]))
        return Part(REAL[kind](scale), step)

    def kinds(self, count: int) -> list[str]:
        return [self.chance.choice(self.real + self.whole) for _ in range(count)]

    def extent(self, kind: str) -> Fraction:
        return F(self.chance.randint(1, 3)) if kind in WHOLE else F(self.chance.randint(2, 9), 3)


def random_case(chance: Random, real: Sequence[str], whole: Sequence[str]) -> Case:
    """One set with its noise, on its own or in groups of one or two levels, with noise of these families."""
    theme = chance.random()
    if theme < 0.3 and "gaussian" in real:
        real, whole = ["gaussian"], ["discrete gaussian"] if theme < 0.15 else []
    elif theme < 0.45 and real:
        real, whole = [chance.choice(real)], []
    elif theme < 0.6 and whole:
        real = []
    menu = Menu(chance, [*real], [*whole], F(chance.choice([1, 2, 3, 4]), 4))
    if chance.random() < 0.35:
        return _balls(menu)
    levels = chance.choice([0, 0, 1, 1, 2])
    while True:
        made = _case(menu, levels, chance.choice([2, 3, 3]))
        if len(made.parts) <= _MOST_NUMBERS:
            return made


def random_choices(chance: Random) -> Case:
    """Equal groups in each of which one of two numbers moves: one whose losses end somewhere, and one whose do not."""
    menu = Menu(chance, [], [], F(chance.choice([1, 2, 3, 4]), 4))
    kinds = [
        chance.choice(["laplace", "logistic", "discrete laplace"]),
        chance.choice(["gaussian", "discrete gaussian"]),
    ]
    chance.shuffle(kinds)
    each = [menu.extent(kind) for kind in kinds]
    parts = tuple(menu.part(extent, kind) for extent, kind in zip(each, kinds, strict=True))
    rows = [[each[0], 0], [0, each[1]]]
    inner = chance.choice([nw.Disjoint(each), nw.Points(rows), nw.Groups([nw.Box([e]) for e in each], 1)])
    count = chance.choice([2, 2, 3])
    return Case(nw.Groups([inner] * count, chance.randint(2, count)), parts * count)


def random_single(chance: Random) -> Case:
    """Sets of which one number moves, alone or one of several: whole numbers in a small ball among them."""
    menu = Menu(chance, [], ["discrete gaussian"], F(chance.choice([1, 2, 3]), 4))

    def one() -> Case:
        size = chance.choice([2, 3])
        if chance.random() < 0.5:
            radius = F(chance.choice([4, 5]), 4)
            parts = tuple(menu.part(F(1), kind) for kind in menu.kinds(size))
            return Case(chance.choice([nw.L1Ball(radius, size), nw.L2Ball(radius, size)]), parts)
        kinds = [chance.choice(["discrete gaussian", "gaussian", "flat", "logistic"]) for _ in range(size)]
        each = [menu.extent(kind) for kind in kinds]
        parts = tuple(menu.part(extent, kind) for extent, kind in zip(each, kinds, strict=True))
        rows = [[extent if i == j else F(0) for i, extent in enumerate(each)] for j in range(size)]
        return Case(chance.choice([nw.Disjoint(each), nw.Points(rows)]), parts)

    found = [one() for _ in range(chance.choice([1, 1, 2, 2]))]
    if len(found) == 1:
        return found[0]
    return Case(nw.Groups([part.chosen for part in found], 1), tuple(p for part in found for p in part.parts))


def random_real(chance: Random) -> Case:
    """One set of real numbers, no groups."""
    menu = Menu(chance, ["laplace"], [], F(chance.choice([1, 2, 3]), 4))
    size = chance.choice([2, 3, 4])
    return _ball(menu, size) if chance.random() < 0.4 else _counted(menu, size)


def norm_shaped(case: Case, chance: Random) -> Any:
    """Noise of one to three blocks for the numbers of a set, on its lattices, with unlike rates and norms."""
    places = list(range(len(case.parts)))
    chance.shuffle(places)
    cuts = sorted(chance.sample(range(1, len(places)), chance.randint(0, min(2, len(places) - 1))))
    blocks = []
    for first, end in zip([0, *cuts], [*cuts, len(places)], strict=True):
        own = tuple(sorted(places[first:end]))
        rate = F(chance.choice([1, 2, 3, 6]), 48)
        steps = tuple(case.parts[i].step for i in own)
        blocks.append(nw.mechanisms.NormBlock(own, steps, rate, chance.choice(["max", "l1", "l2", "l3", "l3/2"])))
    return nw.mechanisms.NormShaped(nw.Vector(case.chosen), blocks)


def _case(menu: Menu, levels: int, size: int) -> Case:
    chance = menu.chance
    if not levels:
        return _ball(menu, size) if chance.random() < 0.35 else _counted(menu, size)
    inner = [_case(menu, levels - 1, chance.choice([1, 2, 2])) for _ in range(chance.choice([2, 2, 3]))]
    if chance.random() < 0.5:
        # Equal groups, which may choose unlike moves.
        inner = [inner[-1]] * len(inner)
    at_most = chance.randint(1, len(inner))
    return Case(nw.Groups([part.chosen for part in inner], at_most), tuple(p for one in inner for p in one.parts))


def _balls(menu: Menu) -> Case:
    """A ball alone, or one of two, or behind or before a single number; or both of these together."""
    chance = menu.chance
    ball = _ball(menu, chance.choice([2, 3, 3]))
    if chance.random() < 0.4:
        return ball
    pair = [ball, chance.choice([_ball, _counted])(menu, chance.choice([1, 1, 2]))]
    chance.shuffle(pair)
    at_most = chance.choice([1, 1, 2])
    return Case(nw.Groups([one.chosen for one in pair], at_most), pair[0].parts + pair[1].parts)


def _ball(menu: Menu, count: int) -> Case:
    radius, kind = F(menu.chance.choice([4, 4, 4, 5, 6, 8]), 4), menu.chance.choice(BALLS)
    order = menu.chance.choice(["3/2", 3, 6, 20])
    chosen: Any = {
        "l1": lambda: nw.L1Ball(radius, count),
        "l2": lambda: nw.L2Ball(radius, count),
        "lp": lambda: nw.LpBall(radius, count, order),
    }[kind]()
    return Case(chosen, tuple(menu.part(radius, kind) for kind in menu.kinds(count)))


def _counted(menu: Menu, count: int) -> Case:
    chance, kinds = menu.chance, menu.kinds(count)
    each = [menu.extent(kind) for kind in kinds]
    parts = tuple(menu.part(extent, kind) for extent, kind in zip(each, kinds, strict=True))
    kind = chance.choice(COUNTED)
    if kind == "points":
        rows = [[menu.extent(kind) * chance.choice([0, 1, -1]) for kind in kinds] for _ in range(chance.randint(0, 2))]
        rows += [[extent if i == j else F(0) for i, extent in enumerate(each)] for j in range(count)]
        chance.shuffle(rows)
        return Case(nw.Points(rows), parts)
    makers: dict[str, Callable[[Any], Any]] = {
        "box": nw.Box,
        "disjoint": nw.Disjoint,
        "replace": nw.Replace,
        "sparse": lambda extents: nw.Sparse(chance.randint(1, count), extents),
    }
    return Case(makers[kind](each), parts)
