"""HTML from templates: whatever is given is escaped there, and a name that nobody gave is an error.

Templates stand in the folder `templates` beside the module that uses them; those of this package are known to all.
What is HTML already, such as a picture that was drawn here, is marked as `Markup` where it is made and nowhere else.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2.environment import TemplateModule


@cache
def _environment(package: str) -> Environment:
    """Escapes by itself, whatever a template is called; every bit of white space of a block's own line goes."""
    loaders = [PackageLoader(name, "templates") for name in dict.fromkeys((package, "noisewright.drawing"))]
    return Environment(
        loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def rendered(package: str, template: str, **given: object) -> str:
    """A whole file of a template of a package."""
    return _environment(package).get_template(template).render(**given)


@cache
def _macros(package: str, template: str) -> TemplateModule:
    return _environment(package).get_template(template).module


def fragment(package: str, template: str, macro: str, *given: object) -> Markup:
    """A piece of a page: what a macro of a template makes of what it is given."""
    return cast("Markup", getattr(_macros(package, template), macro)(*given))
