"""The main job in one go: design noise for a question, look at the ranking, release an answer, draw a picture."""

from __future__ import annotations

from pathlib import Path

import noisewright as nw

TRUE_ANSWER = 42
QUESTIONS = (
    ("mean squared error, smaller is better", nw.SquaredError()),
    ("mean absolute error, smaller is better", nw.AbsoluteError()),
    ("P(error at most 0.5), larger is better", nw.Usefulness(within=0.5)),
    ("half-width at 95 % confidence, smaller is better", nw.ErrorQuantile(confidence=0.95)),
)


def laplace_value(report: nw.Report) -> float:
    """What plain Laplace noise reaches, from the report's own candidates."""
    return next(each.value for each in report.candidates if "laplace" in each.name.lower())


def compare(epsilon: str) -> None:
    """Laplace, designed noise and the bound, for each question."""
    print(f"\nOne number, sensitivity 1, epsilon {epsilon}:")
    print(f"{'what counts as good':50}{'Laplace':>10}{'designed':>10}{'best possible':>15}")
    for title, utility in QUESTIONS:
        report = nw.design(nw.Scalar(sensitivity=1), privacy=nw.PureDP(epsilon=epsilon), utility=utility)
        bound = "none proven" if report.bound is None else f"{report.bound:.4f}"
        print(f"{title:50}{laplace_value(report):10.4f}{report.candidates[0].value:10.4f}{bound:>15}")


def main() -> None:
    """Run the demonstration; the picture goes to the current directory."""
    print(
        "The question: one number that a person changes by at most 1. Privacy: epsilon 1. Good: off by at most 0.5.\n"
    )
    report = nw.design(
        nw.Scalar(sensitivity=1),
        privacy=nw.PureDP(epsilon=1),
        utility=nw.Usefulness(within=0.5),
    )
    print(report)
    print()
    print(report.best.describe())
    print(f"\nThe true answer is {TRUE_ANSWER}; released: {report.best.release(TRUE_ANSWER)}")

    again = nw.Certified.from_dict(report.best.to_dict())
    print(f"Saved, read back and proven again: {again.certificate}")

    for epsilon in ("1", "3"):
        compare(epsilon)

    picture = Path.cwd() / "demo.png"
    report.plot(picture)
    print(f"\nThe picture is in {picture}")


if __name__ == "__main__":
    main()
