"""Every kind of question: importing this module registers all of them, so that files and specs can name them."""

from __future__ import annotations

from noisewright.release import histograms, linear, quantiles, questions, ranking, weighed
from noisewright.release.questions import QUESTIONS

__all__ = ["QUESTIONS", "histograms", "linear", "quantiles", "questions", "ranking", "weighed"]
