"""A count and two centred sums released together, beside independent Laplace noise with an equal split.

    python benchmarks/three_outputs.py --epsilon 1

Ages within 0 to 120 and charges within 0 to 100,000, one row per person; every error counts against how far one person
can move its number. The errors do not depend on the table.
"""

from __future__ import annotations

import argparse
from math import sqrt

import noisewright as nw
from noisewright.release.plan.arranging import layout_of
from noisewright.release.plan.design import designed
from noisewright.release.plan.expected_errors import laplace_errors
from noisewright.release.plan.layout import ContributionBounds

QUESTIONS = (
    nw.count(),
    nw.ask.sum("age", bounds=(0, 120), centred=True),
    nw.ask.sum("charges", bounds=(0, 100_000), centred=True),
)


def main() -> None:
    """Print the weighted squared error of each number with both kinds of noise, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", default="1")
    privacy = nw.PureDP(parser.parse_args().epsilon)
    layout = layout_of(QUESTIONS, ContributionBounds(1, 1, True))
    noise = designed(layout, privacy, nw.SquaredError(), {})
    plain = laplace_errors(layout, privacy, nw.SquaredError())
    table = layout.tables[0]
    errors = [] if plain is None else plain[0]
    apart = [(error / sensitivity) ** 2 for error, sensitivity in zip(errors, table.sensitivities, strict=True)]
    print(f"{'number':<12}{'one person moves it by':>24}{'plain Laplace, std':>22}")
    for question, number, sensitivity, error in zip(
        QUESTIONS, table.aggregates, table.sensitivities, errors, strict=True
    ):
        unit = float(number.unit)
        print(f"{question.about or question.label:<12}{sensitivity * unit:>24,.0f}{error * unit:>22,.1f}")
    print(f"weighted squared error, plain Laplace       {sum(apart):8.3f}")
    print(f"weighted squared error, {noise.blocks[0].name:<20}{noise.value:8.3f}")
    print(f"ratio {noise.value / sum(apart):.3f} (standard deviations {sqrt(noise.value / sum(apart)):.3f})")


if __name__ == "__main__":
    main()
