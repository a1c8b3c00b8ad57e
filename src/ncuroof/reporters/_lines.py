"""Pieces of plain-text output: wrapping, columns and colours, shared by the formats for terminals and logs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NARROWEST = 60
"""Narrower terminals get lines of this width: a table cannot shrink further."""

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
SEVERITY_COLOR = {"error": "red", "warning": "yellow", "info": "blue", "note": "dim"}


def paint(text: str, color: str, *, on: bool) -> str:
    """``text`` in an ANSI colour, if colours are on."""
    return f"\x1b[{_CODES[color]}m{text}\x1b[0m" if on and text else text


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """``text`` as lines of at most ``width`` columns; long words are broken."""
    return textwrap.wrap(
        text,
        max(width, len(indent) + 20),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


def columns(rows: Sequence[Sequence[str]], right: Sequence[bool], gap: str = "  ") -> list[str]:
    """Cells padded to common widths; ``right`` says which columns are right-aligned. No trailing blanks."""
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(len(right))]
    return [
        gap.join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    ]
