"""A walk through what people come for, one task after the other; read it as a tutorial.

Every task starts from a small table and ends with something that can be published. Releases are random, so where errors
are compared with what was certified, a limit is exceeded by chance in fewer than one of a thousand million runs
(`RARE`), task by task.
"""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import noisewright as nw

RARE = 1e-9
SIGMAS = 6.5
"""Standard deviations of a mean that it is away in fewer than RARE of all runs."""

EPSILON_ONE = nw.PureDP(epsilon=1)
TOWNS = ["north", "south", "east", "west"]
PATIENTS = dict(zip(TOWNS, [120, 80, 40, 60], strict=True))


def often_enough(errors: Any, half_width: Any, confidence: float) -> bool:
    """Whether as many errors are within the half-width as it says, RARE bad luck allowed."""
    outside = int((np.abs(np.asarray(errors, dtype=float)) > half_width).sum())
    return outside <= binom.isf(RARE, np.size(errors), 1 - confidence)


def as_large_as_said(errors: Any, mean_absolute: float, spread: float) -> bool:
    """Whether the mean size of the errors is the stated one, on both sides, RARE bad luck allowed."""
    size = np.abs(np.asarray(errors, dtype=float))
    return bool(abs(size.mean() - mean_absolute) <= SIGMAS * spread / math.sqrt(size.size))


def test_01_a_count():
    """How many patients came: one person more or less changes it by one, and the answer is a whole number."""
    visits = nw.Scalar(sensitivity=1, integer=True)
    report = nw.design(visits, privacy=EPSILON_ONE, utility=nw.AbsoluteError())
    answer = report.best.release(300)
    assert type(answer) is int
    assert report.candidates[0].gap == pytest.approx(0, abs=1e-9)
    errors = report.best.release_many(np.full(20_000, 300)) - 300
    assert as_large_as_said(errors, report.candidates[0].value, spread=1.06)
    assert not as_large_as_said(errors, 1.2 * report.candidates[0].value, spread=1.06)


def test_02_a_mean():
    """The mean income of 500 people between 0 and 100,000: one of them moves it by at most 200."""
    incomes = np.clip(np.random.default_rng(1).lognormal(10, 0.6, 500), 0, 100_000)
    mean = nw.Scalar(sensitivity=100_000 / 500)
    best = nw.design(mean, privacy=EPSILON_ONE, utility=nw.SquaredError()).best
    answer = best.release(incomes.mean())
    assert type(answer) is float
    # Half-widths that are missed once in a thousand million releases are wide, and still of the order of 200.
    width = best.half_width(1 - 1e-9)
    assert abs(answer - incomes.mean()) <= width < 25 * 200


def test_03_a_histogram():
    """How many patients live in each town; whole numbers, as good as any private whole numbers can be."""
    report = nw.design(nw.Histogram(TOWNS), privacy=EPSILON_ONE, utility=nw.AbsoluteError())
    released = report.best.release(PATIENTS)
    assert list(released) == TOWNS
    assert all(type(count) is int for count in released.values())
    # Two-sided geometric noise: 2 e^-1 / (1 - e^-2) off on average in each town.
    assert report.parts[0] == pytest.approx([2 * math.exp(-1) / -math.expm1(-2)] * 4)
    assert report.candidates[0].gap == pytest.approx(0, abs=1e-9)


def test_04_a_crosstab():
    """Who smokes, by sex: a table of two ways, each person in one cell."""
    pd = pytest.importorskip("pandas")
    people = pd.DataFrame({"sex": list("fmfmff") * 50, "smokes": ["yes", "no", "no", "no", "yes", "no"] * 50})
    table = pd.crosstab(people.sex, people.smokes)
    best = nw.design(nw.Histogram(table.size), privacy=EPSILON_ONE, utility=nw.AbsoluteError()).best
    released = best.release(table)
    assert released.index.equals(table.index)
    assert released.columns.equals(table.columns)
    assert (released.dtypes == "int64").all()
    assert (abs(released - table) <= best.half_width(1 - RARE, joint=True)).all(axis=None)


def test_05_a_percentile():
    """The median age: of all ages, choose one with about as many people below as above."""
    ages = np.random.default_rng(2).integers(18, 91, 2001)
    scores = {str(age): -abs(float((ages < age).sum()) - len(ages) / 2) for age in range(18, 91)}
    median = nw.Choice(list(scores), sensitivity=1)
    report = nw.design(median, privacy=EPSILON_ONE, utility=nw.ErrorQuantile(1 - RARE))
    chosen = report.best.release(scores)
    # So many ranks off it is at most, whatever the ages are; a year of this town has about 27 people.
    assert max(scores.values()) - scores[chosen] <= report.candidates[0].value < 100


def test_06_the_epsilon_that_an_accuracy_costs():
    """The count must be within 10, 95 times in 100. What does that cost?"""
    plan = nw.budget_for(nw.Scalar(1, integer=True), utility=nw.ErrorQuantile(0.95), target=10)
    assert 0.28 < plan.epsilon < 0.29
    assert plan.best.half_width(0.95) == 10
    cheaper = nw.design(
        nw.Scalar(1, integer=True), privacy=nw.PureDP(plan.epsilon * 99 / 100), utility=nw.ErrorQuantile(0.95)
    )
    assert cheaper.best.half_width(0.95) > 10


def test_07_a_hundred_queries():
    """A hundred answers about the same people, together at (1, 10^-6): the noise that is best for all of them."""
    total = nw.ApproxDP(epsilon=1, delta="1e-6")
    plan = nw.design(nw.Scalar(1), privacy=total, utility=nw.SquaredError(), compose=100)
    laplace = next(c for c in plan.candidates if c.name == "Laplace")
    assert "Gaussian" in [c.name for c in plan.candidates]
    assert 1.9 * plan.candidates[0].value < laplace.value
    assert plan.plan.delta(1) <= total.delta
    # A hundredth of epsilon for each would need Laplace noise of scale 100, ten times this squared error.
    assert plan.candidates[0].value < 2 * 100**2 / 10
    truth = np.arange(100.0)
    answers = plan.best.release_many(truth)
    assert (np.abs(answers - truth) <= plan.best.half_width(1 - RARE / 100)).all()


def test_08_a_percentage_between_0_and_100():
    """A share that is printed as a percentage: neither below 0 nor above 100, whatever the noise."""
    share = nw.Scalar(sensitivity=10, inputs=(0, 100), outputs=(0, 100))
    best = nw.design(share, privacy=EPSILON_ONE, utility=nw.AbsoluteError()).best
    truth = np.repeat([0.0, 37.5, 100.0], 500)
    released = best.release_many(truth)
    assert released.min() >= 0
    assert released.max() <= 100
    assert often_enough(released - truth, best.half_width(0.95), 0.95)


def test_09_cities():
    """Who lives where, blurred by distance: next door is hard to tell from here, another country is not."""
    places = [(52.52, 13.40), (52.39, 13.06), (48.14, 11.58), (48.21, 16.37)]
    cities = nw.Universe(["name"], [("Berlin",), ("Potsdam",), ("Munich",), ("Vienna",)])
    question = nw.Linear.weighted(
        cities,
        around_berlin=lambda city: int(city["name"] in ("Berlin", "Potsdam")),
        abroad=lambda city: int(city["name"] == "Vienna"),
    )
    by_distance = nw.MetricPrivacy(nw.metrics.GreatCircle(places, per_kilometre="1/100"))
    report = nw.design(question, privacy=by_distance, utility=nw.SquaredError())
    berlin, abroad = report.best.release([300, 200, 250, 50])
    widths = report.best.half_width(1 - RARE)
    assert abs(berlin - 500) <= widths[0]
    assert abs(abroad - 50) <= widths[1]
    # Munich is 356 km away: what tells it from Vienna needs little noise.
    assert report.best.half_width(0.95)[1] < 3


def test_10_a_loss_of_my_own():
    """Ordering too many beds costs three times as much as one too few; the noise should know."""
    beds = nw.Expected(lambda error: 3 * error if error > 0 else -error, growth=nw.Growth(power=1, factor=3))
    report = nw.design(nw.Scalar(1), privacy=EPSILON_ONE, utility=beds)
    laplace = next(c for c in report.candidates if c.name == "Laplace")
    assert report.candidates[0].value < 0.85 * laplace.value
    assert report.candidates[0].gap is not None
    assert report.candidates[0].gap < 0.01
    assert report.best.release_many(np.zeros(2000)).mean() < 0  # it leans to the cheaper side


def test_11_save_and_verify(tmp_path: Path):
    """Hand the mechanism to somebody who believes nothing: reading proves it again, and an edit is refused."""
    best = nw.design(nw.Histogram(TOWNS), privacy=EPSILON_ONE, utility=nw.AbsoluteError()).best
    best.save(tmp_path / "towns.json")
    again = nw.Certified.load(tmp_path / "towns.json")
    assert again.certificate.bound == best.certificate.bound <= 1
    data = json.loads((tmp_path / "towns.json").read_text())
    data["mechanism"]["part"]["law"]["scale"] = "1/2"
    with pytest.raises(nw.NoisewrightError):
        nw.Certified.from_dict(data)


def test_12_a_notebook():
    """A report at the end of a cell is a table, and its plot a picture; nothing has to be switched on."""
    report = nw.design(nw.Histogram(TOWNS), privacy=EPSILON_ONE, utility=nw.AbsoluteError())
    assert report._repr_html_().startswith("<table>")
    assert "discrete Laplace" in report._repr_html_()
    picture: Any = report.plot()
    assert picture._repr_png_().startswith(b"\x89PNG")


def test_13_a_scikit_learn_pipeline():
    """A private classifier as one step of a pipeline, with what it spent."""
    pytest.importorskip("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    generator = np.random.default_rng(3)
    old = np.repeat([0, 1], 1000)
    ages = generator.normal(40 + 20 * old, 5)[:, None]
    model = nw.learn.NaiveBayes(epsilon=2, bounds=(0, 120), classes=[0, 1])
    pipeline = make_pipeline(FunctionTransformer(lambda x: np.clip(x, 0, 120)), model)
    pipeline.fit(ages, old)
    assert pipeline.score(ages, old) > 0.8
    assert model.spent_ <= 2


def test_14_pickling():
    """Send the mechanism to a worker process: it is proven again where it arrives."""
    best = nw.design(nw.Histogram(TOWNS), privacy=EPSILON_ONE, utility=nw.AbsoluteError()).best
    arrived = pickle.loads(pickle.dumps(best))  # noqa: S301  # written just now
    assert arrived.mechanism == best.mechanism
    assert list(arrived.release(PATIENTS)) == TOWNS


def test_15_labels():
    """Counts come as a Series, a frame or a dict, in any order, and go back with their labels."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    best = nw.design(nw.Histogram(TOWNS), privacy=nw.PureDP(30), utility=nw.AbsoluteError()).best
    shuffled = pd.Series(PATIENTS, name="patients").sort_values()
    released = best.release(shuffled)
    # At epsilon 30 a wrong count is rarer than RARE: any difference would be a label gone astray.
    pd.testing.assert_series_equal(released, shuffled)
    assert best.release(dict(reversed(PATIENTS.items()))) == PATIENTS
    frame = pl.DataFrame({"patients": list(PATIENTS.values())})
    assert best.release(frame).equals(frame)
    pd.testing.assert_frame_equal(best.release(shuffled.to_frame()), shuffled.to_frame())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"north": 120, "south": 80, "east": 40}, "west"),
        ([120, 80, 40], "3 .*4"),
        ([120, 80, 40, None], "missing"),
        ([120, 80, 40, 60.5], "whole"),
        ([120, 80, 40, "many"], "number"),
    ],
    ids=["a label is missing", "too few", "no number", "half a person", "a word"],
)
def test_16_bad_input(answer: Any, words: str):
    """A slip is refused with what is wrong and where, and the error never repeats a count."""
    best = nw.design(nw.Histogram(TOWNS), privacy=EPSILON_ONE, utility=nw.AbsoluteError()).best
    with pytest.raises(nw.errors.InvalidAnswerError, match=f"(?s){words}") as refused:
        best.release(answer)
    assert "120" not in str(refused.value)
    assert "60.5" not in str(refused.value)


def test_17_explain():
    """The board has never heard of epsilon: half a page in plain words, and the same for the website."""
    best = nw.design(nw.Histogram(TOWNS), privacy=EPSILON_ONE, utility=nw.AbsoluteError()).best
    page = best.explain()
    assert "a guess that\nwas 50:50 can become at most 73:27" in page
    assert "- north: off by 0.851 on average, within 3 in at least 95 of 100 releases" in page
    assert "epsilon" not in page.lower()
    assert best.explain(html=True).startswith("<")


def test_18_how_far_off():
    """Error bars for the chart: one for each town, and one that all keep at once."""
    best = nw.design(nw.Histogram(TOWNS), privacy=EPSILON_ONE, utility=nw.AbsoluteError()).best
    each, together = best.half_width(0.95), best.half_width(0.95, joint=True)
    assert each == (3, 3, 3, 3)
    assert together == 4
    errors = np.array([best.release([120, 80, 40, 60]) for _ in range(3000)]) - [120, 80, 40, 60]
    assert often_enough(errors[:, 0], 3, 0.95)
    assert often_enough(np.abs(errors).max(axis=1), together, 0.95)
    assert not often_enough(errors[:, 0], 1, 0.95)


def test_19_several_numbers_that_matter_differently():
    """A count, a sum of ages and a sum of incomes: an error counts against how far its number can move."""
    sums = nw.Vector(nw.Box([1, 120, 1_000_000]))
    matter = nw.AbsoluteError([1, 1 / 120, 1 / 1_000_000])
    report = nw.design(sums, privacy=EPSILON_ONE, utility=matter)
    count, ages, incomes = report.parts[0]
    assert count < 5
    assert ages < 5 * 120
    assert incomes < 5 * 1_000_000
    released = report.best.release([4210, 190_233, 88_120_500])
    assert (np.abs(released - [4210, 190_233, 88_120_500]) <= report.best.half_width(1 - RARE)).all()


def test_20_groups_of_a_count_and_a_sum():
    """Patients and nights in each town, each patient in one of them: a whole count beside a real sum."""
    town = nw.Box([1, 30])
    towns = nw.Vector(nw.Groups([town] * 4, at_most=1), integer=[True, False] * 4)
    matter = nw.AbsoluteError([1, "1/30"] * 4)
    report = nw.design(towns, privacy=EPSILON_ONE, utility=matter)
    truth = [120, 610.5, 80, 402.25, 40, 77.0, 60, 301.75]
    released = report.best.release(truth)
    assert (released[::2] == np.round(released[::2])).all()
    assert (np.abs(released - truth) <= report.best.half_width(1 - RARE)).all()
    # As one box of eight numbers, as if a patient could be everywhere, it would be far worse.
    box = nw.Vector(nw.Box([1, 30] * 4), integer=[True, False] * 4)
    wider = nw.design(box, privacy=EPSILON_ONE, utility=matter)
    assert wider.candidates[0].value > 1.5 * report.candidates[0].value


def test_21_with_a_delta():
    """A visitor may have been in thirty of a hundred shops; a tiny delta makes that cheaper than pure privacy."""
    visits = nw.Histogram(100, bins_per_person=30)
    pure = nw.design(visits, privacy=EPSILON_ONE, utility=nw.SquaredError())
    approximate = nw.design(visits, privacy=nw.ApproxDP(1, "1e-6"), utility=nw.SquaredError())
    assert approximate.candidates[0].value < pure.candidates[0].value / 2
    assert approximate.best.release([9] * 100).dtype == np.int64
    assert approximate.best.certificate.requirement == nw.ApproxDP(1, "1e-6")


def test_22_zero_concentrated():
    """The office counts its budget in rho: the same question, and discrete Gaussian noise."""
    report = nw.design(nw.Histogram(TOWNS), privacy=nw.ZeroConcentratedDP("1/2"), utility=nw.SquaredError())
    assert report.candidates[0].name == "discrete Gaussian"
    assert report.candidates[0].value == pytest.approx(4, rel=1e-6)  # variance 1 for each town
    assert all(type(count) is int for count in report.best.release(PATIENTS).values())


def test_23_whole_and_real_side_by_side():
    """Children are counted, hours are measured: what is whole stays whole."""
    both = nw.Vector(nw.Disjoint([1, 24]), integer=[True, False])
    report = nw.design(both, privacy=EPSILON_ONE, utility=nw.AbsoluteError([1, "1/24"]))
    children, hours = report.best.release([31, 187.5])
    assert children == round(children)
    widths = report.best.half_width(1 - RARE)
    assert type(widths[0]) is int
    assert type(widths[1]) is float
    assert abs(children - 31) <= widths[0]
    assert abs(hours - 187.5) <= widths[1]


def test_24_a_million_bins():
    """Every street of the country: the question is a number of bins, and so is the mechanism on disk."""
    report = nw.design(nw.Histogram(1_000_000), privacy=EPSILON_ONE, utility=nw.AbsoluteError())
    assert len(json.dumps(report.best.to_dict())) < 2000
    errors = report.best.release(np.full(1_000_000, 7)) - 7
    assert errors.dtype == np.int64
    assert as_large_as_said(errors, report.candidates[0].value / 1_000_000, spread=1.06)
    assert not as_large_as_said(errors, 1.03 * report.candidates[0].value / 1_000_000, spread=1.06)


def test_25_everybody_for_themselves():
    """Nobody is trusted with the data: each phone blurs its own answer, and the mean is right all the same."""
    own = nw.Scalar(sensitivity=1, inputs=(0, 1), outputs=(-3, 4), unbiased=True)
    report = nw.design(own, privacy=EPSILON_ONE, utility=nw.WorstVariance())
    shares = np.random.default_rng(4).random(5000)
    released = report.best.release_many(shares)
    assert released.min() >= -3
    assert released.max() <= 4
    deviation = math.sqrt(report.candidates[0].value / len(shares))
    assert abs(released.mean() - shares.mean()) <= SIGMAS * deviation


def test_26_the_best_of_several():
    """Which slogan did people like best? Choose one that is nearly the best, without giving a vote away."""
    slogans = nw.Choice(["sunny", "bold", "quiet", "brief"], sensitivity=1)
    report = nw.design(slogans, privacy=EPSILON_ONE, utility=nw.ErrorQuantile(1 - RARE))
    chosen = report.best.release({"sunny": 212, "bold": 640, "quiet": 87, "brief": 298})
    assert chosen == "bold"
    assert report.candidates[0].value < 640 - 298


def test_27_linear_questions():
    """Sums over everybody's category, where categories are to be hard to tell apart."""
    question = nw.Linear([[1, 1, 0, 0], [0, 1, 2, 3]])
    alike = nw.MetricPrivacy(nw.metrics.Hamming(4, 1))
    report = nw.design(question, privacy=alike, utility=nw.AbsoluteError())
    first, second = report.best.release([120, 80, 40, 60])
    widths = report.best.half_width(1 - RARE)
    assert abs(first - 200) <= widths[0]
    assert abs(second - 340) <= widths[1]
    assert report.candidates[0].value < 12
