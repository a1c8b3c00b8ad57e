"""Prints a comparison. One module of this package is one output format; nothing else needs an edit to add one.

``NAME``
    What ``ncuroof compare --format`` calls it.
``render(comparison: Comparison, options: RenderOptions) -> str``
    The whole output, ending in a newline.

As in :mod:`ncuroof.reporters`, whatever comes from a report is hostile until it has gone through
:mod:`ncuroof.reporters._names` and the escape of the format.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from ncuroof.errors import UsageError
from ncuroof.registry import scan

if TYPE_CHECKING:
    from ncuroof.compare import Comparison
    from ncuroof.reporters import RenderOptions


class Format(Protocol):
    """What a module of this package looks like."""

    NAME: str

    @staticmethod
    def render(comparison: Comparison, options: RenderOptions) -> str:
        """The whole output, ending in a newline."""


@cache
def formats() -> tuple[Format, ...]:
    """All formats of comparisons, sorted by name."""
    modules = scan(__name__, {"NAME": str, "render": object}, unique=["NAME"])
    return tuple(sorted(cast("list[Format]", modules), key=lambda f: f.NAME))


def choose(name: str) -> Format:
    """The format called ``name``.

    Raises:
        UsageError: when there is none; lists those that exist.
    """
    for each in formats():
        if name == each.NAME:
            return each
    msg = f"a comparison has no output format {name!r}; known are {', '.join(f.NAME for f in formats())}"
    raise UsageError(msg)
