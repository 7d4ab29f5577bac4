"""`noisewright plan` and `noisewright release`: from a spec file to private answers, without Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.app.cli import options
from noisewright.app.cli.output import (
    AWAY,
    FAILED,
    INTERRUPTED,
    EndedError,
    check_places,
    draw,
    explain,
    keep,
    remark,
    say,
    say_either,
    say_json,
    writing,
)
from noisewright.app.cli.questions import make_privacy, typed, whole
from noisewright.app.reports.embedded import checked
from noisewright.problem.errors import InvalidInputError, LedgerError, NoisewrightError, ReleaseFailedError
from noisewright.problem.numbers import show
from noisewright.problem.warnings import StaleAnswerWarning
from noisewright.search.report.progress import PATIENCE, watched

if TYPE_CHECKING:
    from noisewright.app.spec import ReleaseSpec
    from noisewright.release.plan.plan import Plan


_MOST_SHOWN = 60
_NOTHING = "Nothing was spent."
_NO_GROUP = "No group had enough persons to be published."
_UNDRAWN = "Nothing was drawn; asked again, it is finished without another charge."
_LOST = "Nothing was released; something may have been drawn: asked again it is refused, --fresh charges again."
_AWAY = "The ledger cannot be read: what was spent stands there, and the same command finishes it or says so."
_AGAIN = "The answers are stored: the same command{} gives them back at no cost."
_STORED = {False: _AGAIN.format(""), True: _AGAIN.format(" without --fresh")}

SpecFile = Annotated[
    Path, typer.Argument(metavar="SPEC", help="A TOML file; `noisewright init` writes a first one.", show_default=False)
]


def plan(
    spec: SpecFile,
    json: options.Json = False,
    save: Annotated[Path | None, options.option("FILE", "Keep the plan: `verify` proves it again.")] = None,
    report: Annotated[Path | None, options.option("FILE", "Write the plan as a page with pictures: .html.")] = None,
) -> None:
    """Show what a release would spend and the error to expect; nothing is spent and no value is looked at."""
    check_places(save=save)
    if report is not None:
        checked(report)
    found = planned_of(spec_of(spec))
    say_either(found, json=json)
    keep(found, save, "plan")
    if report is not None:
        found.report(report)
        remark(f"The report is in {report}.")
    if json and (refused := found.refusal) is not None:
        remark(f"A release would be refused: {refused}")


def release(
    spec: SpecFile,
    output: Annotated[
        Path | None, options.option("FILE", "Write the answers: .csv, .parquet or .json; else as the spec says.")
    ] = None,
    report: Annotated[Path | None, options.option("FILE", "Write a page with pictures: .html.")] = None,
    plot: Annotated[Path | None, options.option("FILE", "Draw the answers: .png, .pdf or .svg.")] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Draw and charge again, although the answers are stored.")
    ] = False,
    reason: Annotated[str | None, options.option("TEXT", "What it is for; kept in the ledger.")] = None,
    post: Annotated[
        str | None, options.option("LIST", "Beside the answers, make them non-negative, integers, totals that add up.")
    ] = None,
    refuse_stale: Annotated[
        bool, typer.Option("--refuse-stale", help="End with 4 where stored answers are older than the files.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Charge the budget and release what a spec file asks for; asked again, the stored answers cost nothing."""
    asked = spec_of(spec)
    check_places(plot=plot)
    write, page = _places(asked, output, report)
    after = asked.post if post is None else tuple(post.replace(",", " ").split())
    with _interruptible(_NOTHING):
        found = planned_of(asked, ready=True, post=after)
        before = _charges(found)
    with _staleness() as stale:
        answers = _released(found, before, fresh=fresh, reason=reason, post=after, refuse_stale=refuse_stale)
    columns = answers.to_pydict()
    # Where no group was published, no row names the charge.
    told = _spent(found, max(columns["charge"], default=None) or _answered(found), before)
    with _interruptible(f"{told} {_STORED[fresh]}"):
        for write_to in write:
            write_to(answers)
        if page is not None:
            from noisewright.app.reports.plans import release_page

            with writing(page):
                page.write_text(release_page(found, columns, told, page.name).html(), encoding="utf-8")
            remark(f"The report is in {page}.")
    _say(columns, told, json=json, stale=bool(stale))
    with _interruptible(f"{told} {_STORED[fresh]}"):
        if plot is not None:
            from noisewright.app.answer_table import plot_answers

            draw(lambda path: plot_answers(columns, path), plot)


def bounds(
    spec: SpecFile,
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="A column of numbers.", show_default=False)],
    epsilon: options.AnyEpsilon = None,
    delta: options.Delta = None,
    rho: Annotated[str | None, options.number("Zero-concentrated privacy instead: rho.")] = None,
    keep: Annotated[str, options.number("The share of the values to aim at.")] = "0.98",
    fresh: Annotated[bool, typer.Option("--fresh", help="Draw and charge again.")] = False,
    reason: Annotated[str | None, options.option("TEXT", "What it is for; kept in the ledger.")] = None,
    json: options.Json = False,
) -> None:
    """Estimate the bounds of a column: a release of its own, which is charged; asked again it costs nothing.

    It is of the rows that the spec leaves after its joins and filters. Questions, keys and what they may spend are not
    read, so that questions that lack the bounds may stand there.
    """
    asked = spec_of(spec, questions=False)
    from noisewright.release.run.bounds import bounds_of, question, share

    kept, privacy = share(keep), make_privacy(None, typed(epsilon=epsilon, delta=delta, rho=rho))
    with _interruptible(_NOTHING):
        found = planned_of(replace(asked, questions=(question(column),), plan={"privacy": privacy}), ready=True)
        before = _charges(found)
    result = bounds_of(found, _released(found, before, fresh=fresh, reason=reason), kept)
    told = _spent(found, result.charge, before)
    if json:
        found_ends = [show(end) for end in result] or None
        say_json({"column": column, "bounds": found_ends, "keep": show(result.keep), "charge": result.charge})
        remark(told)
        return
    say(f"{column}: {result}.")
    if result:
        ends = ", ".join(show(end) if end.denominator == 1 else f'"{show(end)}"' for end in result)
        say(f"bounds = [{ends}]")
    say(f"\n{told}")


def selfcheck(
    spec: SpecFile,
    persons: Annotated[str, options.number("How many persons to leave out, chosen at random, one at a time.")] = "20",
    json: options.Json = False,
) -> None:
    """For owners of the data: leave persons out one at a time, and see that nobody changes more than the plan allows.

    It reads the table, draws no noise and spends nothing. What it says is not private, and no proof.
    """
    found, count = planned_of(spec_of(spec)), whole(persons, "persons")
    with scanning(found.dataset, "leaving persons out"):
        told = found.selfcheck(count)
    if json:
        say_json({"held": True, "told": told})
    else:
        say(f"{found.about['name']}: {told}")


@contextmanager
def _interruptible(told: str) -> Iterator[None]:
    """Whatever ends the work inside, what was spent is said; refusals before anything is spent stay as they are."""
    ended: EndedError
    try:
        yield
        return
    except KeyboardInterrupt:
        ended = EndedError(INTERRUPTED, f"interrupted. {told}")
    except Exception as error:
        if told == _NOTHING:
            raise
        ended = EndedError(FAILED, f"{explain(error)[1]} {told}")
    raise ended


def spec_of(path: Path, *, questions: bool = True) -> ReleaseSpec:
    """What a spec file asks for; a clear refusal where tables cannot be read at all."""
    try:
        from noisewright.app.spec import read_spec
    except ImportError:
        raise InvalidInputError(
            "tables need packages that are not installed: pip install 'noisewright[tables]'."
        ) from None
    return read_spec(path, questions=questions)


def _places(
    asked: ReleaseSpec, output: Path | None, report: Path | None
) -> tuple[list[Callable[[Any], None]], Path | None]:
    """Where the answers and the page go, checked before anything is spent."""
    from noisewright.app.answer_table import writer_for

    answers, page = output or asked.output, report or asked.report
    check_places(output=answers, report=page)
    if page is not None:
        checked(page)
    if answers is None:
        return [], page

    write = writer_for(answers, "--output" if output else "output")

    def told(table: Any) -> None:
        write(table)
        remark(f"The answers are in {answers}.")

    return [told], page


def planned_of(asked: ReleaseSpec, *, ready: bool = False, post: tuple[str, ...] = ()) -> Plan:
    """The plan of a spec; `ready` binds it to its ledger, which is made if it is not there.

    A ledger is made only when everything else is in order, and never for a plan that is only looked at.
    """
    from noisewright.app.spec import dataset_of
    from noisewright.release.plan.plan import bound
    from noisewright.release.run.post_processing import post_processing_of

    given = dict(asked.dataset)
    url = given.get("ledger")
    absent = url is not None and "://" not in url and not Path(url).exists()
    if absent and given.get("budget") is None:
        raise InvalidInputError(
            f"{asked.path.name}: there is no ledger {url} yet; say its budget: budget = {{ epsilon = 3 }}."
        )
    if ready and url is None:
        raise InvalidInputError(
            f"{asked.path.name}: nothing can be released without a budget that is kept; say both under [dataset]:"
            ' budget = { epsilon = 3 } and ledger = "visits.ledger".'
        )
    dry = {**given, "ledger": None} if absent else given
    found = dataset_of(asked, dry).plan(*asked.questions, **asked.plan)
    if found.dataset is not None:
        found.dataset.rehearse(found.layout)
    post_processing_of(found, post)
    return bound(found, dataset_of(asked, given)) if ready and absent else found


def _ledger(plan: Plan) -> Any:
    if plan.dataset is None or plan.dataset.ledger is None:
        raise InvalidInputError("this dataset has no budget, so nothing can be released.")
    return plan.dataset.ledger


def _charges(plan: Plan) -> set[int]:
    """The rows of the ledger in which this very plan was charged; labels say nothing of that."""
    from noisewright.release.run.idempotence import standing_of

    return set(standing_of(plan, _ledger(plan)))


def _answered(plan: Plan) -> int:
    """The charge that the stored answer of a plan stands beside."""
    from noisewright.release.run.idempotence import same_of, stored

    found = stored(same_of(plan, _ledger(plan)).look())
    assert found is not None, "it was released just now"
    return found[0]


@contextmanager
def _staleness() -> Iterator[list[str]]:
    """What is told of stored answers that are older than the files; said at the end, each in a line."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", StaleAnswerWarning)
        yield told
    told += [str(one.message) for one in seen if issubclass(one.category, StaleAnswerWarning)]
    for one in seen:
        remark(str(one.message))


def _released(
    plan: Plan,
    before: set[int],
    *,
    fresh: bool,
    reason: str | None,
    post: tuple[str, ...] = (),
    refuse_stale: bool = False,
) -> Any:
    """The answers as an Arrow table. Whatever ends it, what was spent is looked up in the ledger and said."""

    ended: EndedError
    try:
        with scanning(plan.dataset):
            return plan.release(fresh=fresh, reason=reason, frame="pyarrow", post=post, refuse_stale=refuse_stale)
    except KeyboardInterrupt:
        ended = EndedError(INTERRUPTED, f"interrupted. {_told(plan, before, fresh=fresh)}")
    except ReleaseFailedError as error:
        said = _told(plan, before, str(error).removeprefix(error.words).strip(), fresh=fresh)
        ended = EndedError(explain(error)[0], f"{error.words} {said}")
    except NoisewrightError as error:
        if not _charges(plan) - before:
            raise
        code = AWAY if explain(error)[0] == AWAY else FAILED  # what was charged is no bad input any more
        ended = EndedError(code, f"the release failed. {_told(plan, before, fresh=fresh)}")
    except Exception as error:  # noqa: BLE001 -- its text might repeat a value
        ended = EndedError(FAILED, f"the engine failed ({type(error).__name__}). {_told(plan, before, fresh=fresh)}")
    raise ended


def _told(plan: Plan, before: set[int], otherwise: str = _AWAY, *, fresh: bool) -> str:
    """What the ledger says was spent since, whatever point was reached; `otherwise` where it cannot be asked."""
    try:
        return _told_by(_ledger(plan), plan, before, fresh=fresh)
    except LedgerError:
        return otherwise


def _told_by(ledger: Any, plan: Plan, before: set[int], *, fresh: bool) -> str:
    from noisewright.ledger.idempotence import ANSWERED, DRAWN, FAILED, UNDRAWN
    from noisewright.release.run.idempotence import standing_of

    known = standing_of(plan, ledger)
    spent = known.keys() - before
    ready = {place for place, how in known.items() if fresh and how in (FAILED, UNDRAWN)}  # what is finished next
    if not spent and not ready and ANSWERED in known.values():
        return f"{_NOTHING} {_STORED[fresh]}"
    place = max(spent or ready or known, default=None)
    after = {ANSWERED: _STORED[fresh], DRAWN: _LOST}.get(known.get(place or 0, DRAWN), _UNDRAWN)
    said = "is spent" if spent else "was spent before, and nothing more now"
    return _NOTHING if place is None else f"Charge {place} of {ledger.url} {said}: {plan.privacy}. {after}"


def _spent(plan: Plan, charge: int, before: set[int]) -> str:
    from noisewright.release.run.idempotence import drawn_on

    ledger = _ledger(plan)
    where = f"charge {charge} of {ledger.url}"
    drawn = f"{drawn_on(ledger, charge):%Y-%m-%d %H:%M:%S} UTC"
    free = f"Nothing was spent: these are the answers of {where}, drawn {drawn}."
    said = f"Spent: {plan.privacy} ({where})." if charge in _charges(plan) - before else free
    return f"{said} {ledger.buys()}"


def _say(columns: dict[str, list[Any]], told: str, *, json: bool, stale: bool) -> None:
    from noisewright.app.answer_table import counted_text, records, text_of

    if json:
        say_json([{**one, "stale": True} if stale else one for one in records(columns)])
        remark(told)
        return
    say(text_of(columns, _MOST_SHOWN) if columns["question"] else _NO_GROUP)
    if (hidden := len(columns["question"]) - _MOST_SHOWN) > 0:
        say(f"({hidden:,} more answers are not shown; --output writes all)")
    if columns["question"]:
        say(f"\n{counted_text(columns)}")
    say(f"\n{told}")


# A bar on the terminal while an engine reads a table, if that takes longer than a moment.


_EVERY = 0.2


@contextmanager
def scanning(
    dataset: Any, title: str = "reading the table", *, shown: bool | None = None, patience: float = PATIENCE
) -> Iterator[None]:
    """Show how far the running query is, after two seconds and where somebody watches; nothing of it stays."""
    if not (watched() if shown is None else shown):
        yield
        return
    from noisewright.release.table.sources import progress_of

    over = Event()
    bar = Thread(target=_draw, args=(title, progress_of(dataset._source.engine), over, patience), daemon=True)
    bar.start()
    try:
        yield
    finally:
        over.set()
        bar.join()


def _draw(title: str, done: Callable[[], float | None], over: Event, patience: float) -> None:
    if over.wait(patience):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task(title, total=None)
        while not over.wait(_EVERY):
            hundredths = done()
            progress.update(task, total=None if hundredths is None else 100, completed=hundredths or 0, refresh=True)
