"""Every kind of question: importing this module registers all of them, so that files and specs can name them."""

from __future__ import annotations

from noisewright.release.ask import (
    histogram as histograms,
    quantiles,
    question as questions,
    top as ranking,
    weighted as weighed,
    workload as linear,
)
from noisewright.release.ask.question import QUESTIONS

__all__ = ["QUESTIONS", "histograms", "linear", "quantiles", "questions", "ranking", "weighed"]
