"""Random bits come from the operating system, afresh for each draw, whatever threads and forks do."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest

from noisewright.laws.lattice import Lattice, Rounded
from noisewright.laws.piecewise import staircase
from noisewright.sample.entropy import SystemEntropy
from noisewright.sample.sampler import NoiseSampler
from tests.replay import Replay
from tests.statistical.tests_of_fit import FALSE_ALARM, bin_counts, bin_ends, bin_probabilities, chi_square

pytestmark = pytest.mark.statistical


def test_no_two_streams_are_alike():
    """Sixteen streams of 1000 words share no word: false alarms 1e-11."""
    words = np.concatenate([SystemEntropy().stream().words(1000) for _ in range(16)])
    assert len(np.unique(words)) == len(words)


def test_a_stream_does_not_repeat_itself():
    """A million words, asked for in uneven parts, are all different: false alarms 3e-8."""
    stream = SystemEntropy().stream()
    words = np.concatenate([stream.words(n) for n in (1, 7, 0, 130_000, 131_073, 738_919)])
    assert len(words) == 1_000_000
    assert len(np.unique(words)) == len(words)


@pytest.mark.parametrize("position", range(8))
def test_bytes_are_uniform(position: int):
    """False alarms: 2e-9. A byte value one per cent too frequent in every place would show."""
    words = SystemEntropy().stream().words(4_000_000)
    counts = np.bincount(words.view(np.uint8)[position::8], minlength=256)
    assert FALSE_ALARM < chi_square(counts, np.full(256, 1 / 256)) < 1 - FALSE_ALARM
    wrong = np.where(np.arange(256) % 2, 0.99, 1.01) / 256
    assert chi_square(counts, wrong) < FALSE_ALARM


def test_words_can_be_asked_for_in_any_parts():
    """What a replayed source gives does not depend on how it is asked, and neither do draws on their chunks."""
    whole = Replay(range(10), seed=1).words(25)
    parts = Replay(range(10), seed=1)
    assert np.array_equal(whole, np.concatenate([parts.words(n) for n in (3, 0, 9, 13)]))


def draw_together(sampler: NoiseSampler, threads: int, each: int) -> list[np.ndarray]:
    """What threads draw that all start at the same moment."""
    barrier = threading.Barrier(threads)
    found: list[np.ndarray] = []

    def work() -> None:
        barrier.wait()
        found.append(sampler.many(each, SystemEntropy().stream()))

    running = [threading.Thread(target=work) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return found


@pytest.mark.parametrize("attempt", range(5))
def test_threads_share_a_sampler(attempt: int):
    """Eight threads build and use one table at once; together their draws have the law. False alarms: 2e-9."""
    third = staircase(epsilon=Fraction(1), sensitivity=Fraction(1), split=Fraction(333, 1000))
    law = Rounded(third, Lattice.cells(Fraction(1, 1000)))
    found = draw_together(NoiseSampler(law), 8, 50_000)
    assert len(found) == 8
    ends = bin_ends(law, 100)
    p = chi_square(bin_counts(np.concatenate(found), ends), bin_probabilities(law, ends))
    assert FALSE_ALARM < p < 1 - FALSE_ALARM


FORK = """
import os, sys, threading
import numpy as np
from fractions import Fraction
from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice, Rounded
from noisewright.numerics.balls import precision
from noisewright.sample.entropy import SystemEntropy
from noisewright.sample.sampler import NoiseSampler

sampler = NoiseSampler(Rounded(Laplace(Fraction(1)), Lattice.cells(Fraction(1, 1000))))
if {busy}:
    held, done = threading.Event(), threading.Event()
    def hold():
        with precision(300):
            held.set()
            done.wait()
    threading.Thread(target=hold, daemon=True).start()
    held.wait()
else:
    sampler.many(1000, SystemEntropy().stream())
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    drawn = sampler.many(1000, SystemEntropy().stream())
    os.write(writer, drawn.tobytes())
    os._exit(0)
if {busy}:
    done.set()
theirs = np.frombuffer(os.read(reader, 8000), dtype=np.int64)
ours = sampler.many(1000, SystemEntropy().stream())
os.waitpid(child, 0)
assert len(theirs) == len(ours) == 1000
print(int(np.count_nonzero(theirs == ours)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("busy", [False, True])
def test_a_forked_process_draws_noise_of_its_own(busy: bool):
    """Also when another thread was using balls at the moment of the fork.

    Of 1000 pairs of independent draws a fraction of a thousandth agrees; ten agree with probability below 1e-9.
    """
    result = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK.format(busy=busy)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < 10
