"""What the figures of the papers show, in our words: the captions of the page of reproductions."""

from __future__ import annotations

import re
from pathlib import Path

_COUNTED = re.compile(r"\b(Figure|Fig\.|Table)s?\s+((?:\d+(?:\s*(?:,|and|to|–|-)\s*(?=\d))?)+)", re.IGNORECASE)

CAPTIONS: dict[str, dict[int, str]] = {
    "composite": {
        1: "Two neighbouring answers under bounded additive noise, Laplace noise and a composite function: with bounded"
        " noise that moves with the answer some releases tell the answers apart, with the composite none does.",
        2: "The three activation functions A1, A2 and A3, which move with the answer.",
        3: "The two base functions B1 and B2, which stay where they are.",
        4: "The six composite densities, certified at epsilon 1, for the lowest, middle and highest answer.",
        5: "The way of an answer through the mechanism: mapped, drawn, mapped back.",
        6: "Algorithm 1, the search for the parameters, and what a finer step of it gains.",
        7: "Error of the maximum, the variance and the mode of each column against epsilon, for every mechanism.",
        8: "Relative error of a count of rows, first dataset of the paper: boxes over the releases, by epsilon.",
        9: "Relative error of a count of rows, second dataset of the paper: boxes over the releases, by epsilon.",
        10: "Relative error of a count of rows, third dataset of the paper: boxes over the releases, by epsilon.",
        11: "Error of the minimum and the mean of each column against epsilon, for every mechanism.",
        12: "Relative error of a count of rows for the integer mechanisms: boxes over the releases, by epsilon.",
    },
    "dx": {
        1: "A universe of elements with a distance for each pair, and the budget that each pair gets.",
        2: "Random points: how many times less noise metric privacy needs than ordinary Laplace noise, for one query"
        " and, by strategy, for several.",
        3: "Places on a map: the same factor for random queries, on all places and with close ones left out.",
        4: "Error under a hard and a smooth threshold (Blowfish policies), averaged over random queries.",
        5: "How many times less noise the two policies need than ordinary Laplace noise, query by query.",
    },
    "generalized-gaussian": {
        1: "Densities of generalized Gaussian noise at the same scale and at the same variance.",
        2: "The scale that Proposition 8 asks for against the power, beside the least that is enough for one number.",
        3: "The deviation of Gaussian noise by Equation 17, relative to that by Equation 18.",
        4: "How much heavier the tail of Laplace noise is than that of Gaussian noise by Equation 17.",
        5: "The epsilon of Gaussian noise (Equation 17) whose tail is that of Laplace noise, relative to Laplace's.",
        6: "Mildew data: released against true counts, one release of each mechanism.",
        7: "Mildew data: distance of the released table from the true one, by mechanism.",
        8: "Czech data: released against true counts, one release of each mechanism.",
        9: "Czech data: distance of the released table from the true one, by mechanism.",
        10: "Adult data: released against true counts, one release of each mechanism.",
        11: "Adult data: distance of the released table from the true one, by mechanism.",
        12: "Accuracy of a support vector machine that is trained on the released counts.",
    },
    "r2dp": {
        3: "How often the error is within a limit, against epsilon, for Laplace, staircase and two-fold noise.",
        4: "Mean absolute and root mean squared error against epsilon.",
        5: "Kullback-Leibler divergence between a histogram and its release against epsilon.",
        6: "Rényi divergence between a histogram and its release against epsilon.",
        7: "Rényi divergence of the mechanisms at the same pure epsilon, against the order.",
        8: "Mallows distance between the degree sequence of a graph and its release against epsilon.",
        9: "Precision and recall of naive Bayes classifiers with each kind of noise against epsilon.",
        11: "How often the error is within a limit, against the limit, at four values of epsilon.",
    },
    "non-identical-noise": {
        1: "Total squared error of Gaussian noise against epsilon, by sensitivity profile, K = 20 numbers.",
        2: "Total squared error of Gaussian noise against the number of answers, by sensitivity profile.",
        3: "Gini coefficient of the sensitivity profiles against the number of answers.",
        4: "Total squared error of Laplace noise against epsilon, by sensitivity profile, K = 20 numbers.",
        5: "Total squared error of Laplace noise against the number of answers, by sensitivity profile.",
        6: "Where Gaussian noise is better than Laplace noise: total squared error against the number of answers.",
    },
}
"""Reproduction -> number of the figure -> caption."""


def numbers_in(path: Path, kind: str) -> tuple[int, ...]:
    """The numbers of the figures ("figure") or tables ("table") that a file is about, by its name; () if of none."""
    if not path.stem.startswith(kind):
        return ()
    return tuple(int(word) for word in path.stem.split("-") if word.isdigit())


def numbers_of(where: str, kind: str) -> set[int]:
    """The figures or tables that the place of a claim names: "Figures 5 to 7 and 9" names 5, 6, 7 and 9."""
    found: set[int] = set()
    for match in _COUNTED.finditer(where):
        if not match[1].lower().startswith(kind[:3]):
            continue
        before = ""
        last = 0
        for word in re.findall(r"\d+|to|–|-", match[2]):
            if not word.isdigit():
                before = word
                continue
            found |= set(range(last, int(word) + 1)) if before else {int(word)}
            before, last = "", int(word)
    return found
