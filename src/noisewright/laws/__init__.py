"""Probability laws as frozen data; each formula runs in floats or in balls.

- base, lattice: what a law is and where its log-ratio passes epsilon; the grid it is used on
- registry: the law that a file names
- laplace, gaussian, hyperbolic: smooth laws, and those rounded or discrete on the integers
- piecewise, tabulated: staircases and cells; laws with finitely many cells
- two_fold, formula: Laplace noise whose rate is random, and its folds
- bumps, shells: parts of composite and of norm-shaped noise

In the words of the literature: the *log-ratio* of a law and its shifted copy is the privacy loss; *two-fold* noise is a
compound law or scale mixture, its *fold* the mixing law of the rate; a *lattice* law is a discretised one.
"""

from noisewright.door import opened

__getattr__, __dir__ = opened(__name__)
