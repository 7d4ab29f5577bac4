"""Which two datasets are neighbours: what a certificate is about, and what a sum of certificates must share."""

from __future__ import annotations

ADD_REMOVE = "add-remove"
REPLACE = "replace"
METRIC = "metric"
DECLARED = "declared"

WORDS = {
    ADD_REMOVE: "one person comes or goes",
    REPLACE: "one person is replaced by another",
    METRIC: "the element of one person changes",
    DECLARED: "one person changes the answer by what was declared",
}
"""What makes a neighbour of a dataset, in words."""
