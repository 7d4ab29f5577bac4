"""Forked processes and threads share no randomness and do not disturb each other."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from fractions import Fraction

import numpy as np
import pytest

from noisewright.laws.laplace import Laplace
from noisewright.laws.lattice import Lattice
from noisewright.laws.piecewise import staircase
from noisewright.mechanisms.additive import Additive
from noisewright.problem.privacy import PureDP
from noisewright.problem.queries import Scalar
from noisewright.sample.certified import make_certified

ONE = Fraction(1)
FORK = textwrap.dedent(
    """
    import os
    from noisewright import PureDP, Scalar
    from noisewright.laws import Laplace, Lattice
    from noisewright.mechanisms import Additive
    from noisewright.sample.certified import make_certified

    certified = make_certified(Additive(Scalar(1), Laplace(1), Lattice.cells("1/1000")), PureDP(1))
    certified.draw(500)
    out, into = os.pipe()
    child = os.fork()
    drawn = " ".join(map(str, [*certified.draw(40), *certified.draw(500)[:40], certified.release(7)]))
    if child == 0:
        os.write(into, drawn.encode())
        os._exit(0)
    os.waitpid(child, 0)
    print(drawn)
    print(os.read(out, 1 << 16).decode())
    """
)


def test_a_forked_child_draws_other_noise_than_its_parent():
    """Two independent runs of 81 draws from thousands of cells agree in few places by chance, not in most."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    parent, child = (line.split() for line in done.stdout.splitlines())
    assert len(parent) == len(child) == 81
    assert sum(a == b for a, b in zip(parent, child, strict=True)) < 20


MECHANISMS = {
    "laplace": Additive(Scalar(1), Laplace(ONE), Lattice.cells(Fraction(1, 1000))),
    "long runs": Additive(
        Scalar(1), staircase(epsilon=ONE, sensitivity=ONE, split=Fraction(1, 4)), Lattice.cells(Fraction(1, 10**6))
    ),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_threads_draw_at_the_same_time_from_one_mechanism(name):
    certified = make_certified(MECHANISMS[name], PureDP(1))
    gate = threading.Barrier(6)
    drawn: list[np.ndarray] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            gate.wait()
            for count in (5, 3000, 450):
                drawn.append(certified.draw(count))
                certified.release(1)
        except BaseException as error:  # noqa: BLE001  # a thread's error is reported by the test itself
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(drawn) == 18
    long = [values for values in drawn if len(values) == 3000]
    assert len({values.tobytes() for values in long}) == 6, "each thread has its own stream"
    # Mean |noise| is near 1 with a standard error of 1/55 for each: 0.7 and 1.3 are sixteen of them away.
    assert all(0.7 < np.abs(values).mean() < 1.3 for values in long)


def test_a_loaded_mechanism_draws_while_another_thread_describes_one():
    """Drawing and describing both set the precision of the balls; neither may change the other's."""
    certified = make_certified(MECHANISMS["laplace"], PureDP(1))
    quiet = certified.describe()
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.extend(certified.describe() for _ in range(5)))
    thread.start()
    for _ in range(60):
        certified.release(0)
    thread.join()
    assert said == [quiet] * 5
