"""Every kind of question: importing this module loads them all, so that files and specs can name them."""

from __future__ import annotations

from noisewright.problem.records import load_package
from noisewright.release.ask.question import QUESTIONS

load_package("noisewright.release.ask")

__all__ = ["QUESTIONS"]
