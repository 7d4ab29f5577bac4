"""A cluster of two workers, each a process of its own: the whole numbers of a table, printed for a test."""

from __future__ import annotations

import sys

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from tests.release.test_stage import QUESTIONS, SALT
from tests.spark_session import Sparks

if __name__ == "__main__":
    cluster = Sparks("local-cluster[2,1,1024]")
    data = nw.Dataset(f"spark:{sys.argv[1]}", "id", rows_per_group=2, groups_per_person=2)
    layout = layout_of([QUESTIONS[place] for place in map(int, sys.argv[2:])], data.limits)
    sys.stdout.write(f"{data._checked.true_aggregates(layout, SALT)}\n")
    context = cluster.session.sparkContext
    sys.stdout.write(f"{context._jsc.sc().getExecutorMemoryStatus().size() - 1}\n")
    cluster.remove()
