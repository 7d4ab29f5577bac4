"""The page itself: the form, filled in from the address, and empty panels that the script fills."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from pathlib import PurePath

from noisewright.app.explorer.form import (
    MOVES,
    PRIVACY,
    QUESTIONS,
    TABLE,
    TRUTH,
    UTILITY,
    Choice,
    Entry,
    State,
    served,
)

PANELS = (
    ("density", "The noise"),
    ("curve", "Error against privacy"),
    ("answers", "Twenty possible answers"),
    ("ranking", "Ranking, with gaps"),
    ("odds", "What an attacker can learn"),
    ("hundred", "A hundred such releases"),
    ("recipes", "The same, to copy"),
)
_TABLE_SAYS = (
    '<p class="hint">A table’s plan needs a spec file, named at the start: '
    "<code>noisewright explore --spec spec.toml</code>.</p>"
)


def page(state: State, *, spec: str | None) -> str:
    """The whole page for a state of its fields."""
    questions = {name: choice for name, choice in QUESTIONS.items() if spec is not None or name != TABLE}
    question = state.get("question", "number")
    chosen = question if question in questions else "number"
    rows = served()[chosen]
    privacy = state.get("privacy") if state.get("privacy") in rows else next(iter(rows), "")
    utilities = rows.get(privacy or "", [])
    utility = state.get("utility") if state.get("utility") in utilities else next(iter(utilities), "")
    named = f' data-spec="{escape(PurePath(spec).name)}"' if spec is not None else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>noisewright explorer</title>\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="stylesheet" href="/static/explorer.css">\n<link rel="icon" href="/static/icon.svg">\n'
        '<script src="/static/explorer.js" defer></script>\n</head>\n'
        f'<body data-served="{escape(json.dumps(served()))}"{named}>\n'
        '<a class="skip" href="#results">Skip to the results</a>\n'
        "<header><h1>noisewright <span>explorer</span></h1>"
        "<p>The best noise for a question, while you move it. Nothing is sent anywhere, and no private data belong"
        " here: every answer on this page is invented, and a spec file is shown as a plan only.</p></header>\n"
        "<noscript><p>This page needs its own small script, which is served from this machine.</p></noscript>\n"
        f"<main>\n{_form(state, questions, (chosen, privacy or '', utility or ''), spec)}\n{_results()}\n</main>\n"
        "<footer><p>Every mechanism shown is certified; the file to download is proven again by"
        " <code>noisewright verify mechanism.json</code>.</p></footer>\n</body>\n</html>\n"
    )


def _form(state: State, questions: dict[str, Choice], chosen: tuple[str, str, str], spec: str | None) -> str:
    question, privacy, utility = chosen
    move = state.get("move") if state.get("move") in MOVES else "accuracy"
    moves = "".join(
        f'<label class="pill"><input type="radio" name="move" value="{name}"{" checked" if name == move else ""}>'
        f"<span>{escape(label)}</span></label>"
        for name, label in MOVES.items()
    )
    return (
        '<form id="form" autocomplete="off" novalidate aria-label="The question">\n'
        f"{_gate()}"
        '<fieldset class="movers"><legend>Move</legend>'
        f'<div class="pills">{moves}</div>'
        f"{_mover('target', 'Accuracy wanted', ('rough', 'fine'), state)}"
        f"{_mover('amount', 'Privacy', ('more private', 'less private'), state)}</fieldset>\n"
        f"<fieldset><legend>What is asked</legend>{_select('question', 'Question', questions, question)}"
        f"{_groups('question', questions, question, state)}{'' if spec is not None else _TABLE_SAYS}</fieldset>\n"
        f'<fieldset data-not="{TABLE}"><legend>What is promised</legend>'
        f"{_select('privacy', 'Privacy', PRIVACY, privacy)}{_groups('privacy', PRIVACY, privacy, state)}</fieldset>\n"
        f'<fieldset data-not="{TABLE}"><legend>What counts as good</legend>'
        f"{_select('utility', 'Measure', UTILITY, utility)}{_groups('utility', UTILITY, utility, state)}</fieldset>\n"
        f'<fieldset data-not="{TABLE}"><legend>For the picture</legend>{_field(TRUTH, state)}</fieldset>\n</form>'
    )


def _gate() -> str:
    return (
        '<div id="gate" class="gate" hidden><label for="token">Token</label><p id="token-hint">It was printed in the'
        ' terminal when the explorer started.</p><div class="row">'
        '<input id="token" spellcheck="false" aria-describedby="token-hint">'
        '<button type="button" id="open">Open</button></div></div>\n'
    )


def _mover(name: str, label: str, ends: tuple[str, str], state: State) -> str:
    value = escape(state.get(name, ""))
    return (
        f'<div class="mover" data-mover="{name}"><label for="{name}">{label}</label> <output id="{name}-unit"></output>'
        f'<div class="row"><input type="range" id="{name}-slider" min="0" max="1000" step="1"'
        f' aria-label="{label}, slider">'
        f'<input id="{name}" name="{name}" inputmode="decimal" value="{value}" maxlength="60"'
        f' aria-describedby="{name}-error"></div><p class="ends" aria-hidden="true"><span>{ends[0]}</span>'
        f'<span>{ends[1]}</span></p><p class="error" id="{name}-error" role="alert"></p></div>'
    )


def _select(name: str, label: str, choices: dict[str, Choice], chosen: str) -> str:
    options = "".join(
        f'<option value="{key}"{" selected" if key == chosen else ""}>{escape(choice.label)}</option>'
        for key, choice in choices.items()
    )
    return (
        f'<div class="field"><label for="{name}">{label}</label><select id="{name}" name="{name}"'
        f' aria-describedby="{name}-error">{options}</select><p class="error" id="{name}-error" role="alert"></p></div>'
    )


def _groups(name: str, choices: dict[str, Choice], chosen: str, state: State) -> str:
    """The fields of every choice; those of others are hidden and disabled. Fields with one name exist once for each."""
    return "".join(
        f'<div class="group" data-of="{name}" data-is="{key}"{"" if key == chosen else " hidden"}>'
        f"{_remarked(choice)}{_fields(choice.entries, state if key == chosen else {}, key)}</div>"
        for key, choice in choices.items()
        if choice.entries or choice.remark
    )


def _remarked(choice: Choice) -> str:
    return f'<p class="hint">{escape(choice.remark)}</p>' if choice.remark else ""


def _fields(entries: Iterable[Entry], state: State, group: str) -> str:
    return "".join(_field(entry, state, f"{group}-") for entry in entries)


def _field(entry: Entry, state: State, prefix: str = "") -> str:
    """One field, with what is allowed beside it, and room for what is wrong."""
    own, name = f"{prefix}{entry.name}", entry.name
    described = f'aria-describedby="{own}-hint {own}-error"'
    wrong = f'<p class="error" id="{own}-error" role="alert"></p>'
    after = f'<p class="hint" id="{own}-hint">{escape(entry.allowed)}</p>{wrong}'
    if entry.ticked:
        ticked = " checked" if state.get(name) == "on" else ""
        box = f'<input type="checkbox" id="{own}" name="{name}"{ticked} {described}>'
        return f'<div class="field tick">{box}<label for="{own}">{escape(entry.label)}</label>{after}</div>'
    value = state.get(name) or entry.default
    if entry.choices:
        options = "".join(
            f'<option value="{key}"{" selected" if key == value else ""}>{escape(label)}</option>'
            for key, label in entry.choices
        )
        inner = (
            f'<select id="{own}" name="{name}" data-default="{escape(entry.default)}" {described}>{options}</select>'
        )
    else:
        inner = (
            f'<input id="{own}" name="{name}" value="{escape(value)}" data-default="{escape(entry.default)}"'
            f' maxlength="200" {described}>'
        )
    return f'<div class="field"><label for="{own}">{escape(entry.label)}</label>{inner}{after}</div>'


def _results() -> str:
    panels = "".join(
        f'<section class="panel" id="panel-{name}" aria-labelledby="head-{name}"><h2 id="head-{name}">{title}</h2>'
        f'<div class="body" data-panel="{name}"></div>{_extra(name)}</section>\n'
        for name, title in PANELS
    )
    return (
        '<div id="results" tabindex="-1"><div id="progress" class="progress" hidden>'
        '<span id="progress-text" role="status"></span><progress id="progress-bar" max="1" value="0"></progress>'
        '<button type="button" id="cancel">Cancel</button></div>'
        '<p id="problem" class="problem" role="alert" hidden></p>'
        '<section class="panel answer" aria-labelledby="head-summary"><h2 id="head-summary">In short</h2>'
        '<div data-panel="summary" aria-live="polite"></div><div class="actions">'
        '<button type="button" id="download" disabled>Download the certified mechanism</button></div></section>\n'
        f'<div class="panels">{panels}</div></div>'
    )


def _extra(name: str) -> str:
    if name == "curve":
        return '<div class="actions"><button type="button" id="more" hidden>Draw the whole curve</button></div>'
    return '<div data-panel="budget"></div>' if name == "ranking" else ""
