"""`noisewright explore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisewright.app.cli.options import option
from noisewright.app.cli.output import remark, say
from noisewright.app.cli.questions import whole
from noisewright.problem.errors import InvalidInputError

_PORTS = range(65_536)
Port = Annotated[str, option("NUMBER", "Which port of this machine; 0 for any free one.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")]
Spec = Annotated[
    Path | None, option("FILE", "Also show the plan of this spec file; nothing is released from the page.")
]


def explore(port: Port = "8642", browser: Browser = True, spec: Spec = None) -> None:
    """Serve a page on this machine to play with a question: its noise, its error, what it costs.

    Nothing is sent anywhere, and no private data belong on the page. Ctrl-C ends it.
    """
    chosen = whole(port, "--port", "a whole number from 0 to 65535", among=_PORTS)
    try:
        from noisewright.app.explorer.server import address_of, listening, new_token, serve
    except ImportError:
        raise InvalidInputError(
            "the explorer needs Starlette and uvicorn, which are not installed: pip install 'noisewright[explorer]'."
        ) from None
    if spec is not None:
        from noisewright.app.cli.release import spec_of

        spec_of(spec)  # what is wrong with it is said here, not on the page
    with listening(chosen) as listener:
        token = new_token()
        say(address_of(listener.getsockname()[1], token))
        remark("The address holds a token for this run: keep it to yourself. Ctrl-C ends the explorer.")
        serve(listener, token, None if spec is None else str(spec.absolute()), browser=browser)
