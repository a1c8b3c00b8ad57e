"""Prints an analysis. One module of this package is one output format.

To add a format, add a module with these attributes and a test; nothing else needs an edit:

``NAME``
    What ``--format`` calls it (``json-lines``).
``DESCRIPTION``
    One line for ``--help`` and the documentation.
``SUFFIX``
    The usual file name suffix, with its dot (``.json``).
``render(analysis: Analysis, options: RenderOptions) -> str``
    The whole output, ending in a newline. It prints nothing, opens no file and asks for no terminal.

Whatever comes from a report (kernel names, file names, messages) is hostile until proven otherwise: it goes through
:mod:`ncuroof.reporters._names` first and then through the escape of the format. Modules whose name begins with an
underscore are helpers of reporters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from ncuroof.errors import UsageError
from ncuroof.registry import scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncuroof.model import Analysis

__all__ = ["RenderOptions", "Reporter", "RuleText", "choose", "reporters"]


@dataclass(frozen=True)
class RuleText:
    """What a rule says about itself, for formats that carry the documentation of their rules.

    Attributes:
        name: in kebab case.
        summary: one sentence.
        help: the whole manual page, as plain text or Markdown.
        severity: its default severity.
    """

    name: str
    summary: str
    help: str
    severity: str = "warning"


@dataclass(frozen=True)
class RenderOptions:
    """How to print.

    Attributes:
        width: columns of the terminal or log; formats for people stay within it.
        color: whether to use ANSI colours (only ``text``, ``full`` and ``concise`` know any).
        verbose: also say what could not be judged and where every figure comes from.
        limit: most kernels and most findings to show; None leaves it to the format, 0 shows all.
        title: heading of documents (HTML, Markdown); empty for a default.
        rules: by code, what the rules say about themselves.
    """

    width: int = 80
    color: bool = False
    verbose: bool = False
    limit: int | None = None
    title: str = ""
    rules: Mapping[str, RuleText] = field(default_factory=dict)

    def cap(self, default: int) -> int | None:
        """How many entries a list may have, given the format's own ``default``; None for all."""
        if self.limit is None:
            return default
        return self.limit or None


class Reporter(Protocol):
    """What a module of this package looks like; see the package's documentation."""

    NAME: str
    DESCRIPTION: str
    SUFFIX: str

    @staticmethod
    def render(analysis: Analysis, options: RenderOptions) -> str:
        """The whole output, ending in a newline."""


@cache
def reporters() -> tuple[Reporter, ...]:
    """All output formats, sorted by name."""
    modules = scan(
        __name__,
        {"NAME": str, "DESCRIPTION": str, "SUFFIX": str, "render": object},
        unique=["NAME"],
    )
    return tuple(sorted(cast("list[Reporter]", modules), key=lambda r: r.NAME))


def choose(name: str) -> Reporter:
    """The output format called ``name``.

    Raises:
        UsageError: when there is none; lists those that exist.
    """
    for reporter in reporters():
        if name == reporter.NAME:
            return reporter
    known = ", ".join(r.NAME for r in reporters())
    msg = f"there is no output format {name!r}; known are {known}"
    raise UsageError(msg)
