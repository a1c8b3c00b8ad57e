"""Looks through a whole text for numbers, to decide their format where a table alone does not settle it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from ncuroof.readers import _numbers

if TYPE_CHECKING:
    from ncuroof.readers._text_source import Buffer

_LOOK_AHEAD = 64 << 20
_ENOUGH = 100_000
_NUMBER = re.compile(rb'(?<=[",;\t ])(-?\d[\d.,\' \xa0]*[.,]\d+)(?=["\s;]*[",;\t\r\n]|\s*$)')
# A compute capability, which has a decimal point in every locale; ncu prints values with two decimals or more.
_CAPABILITY = re.compile(rb"^\d{1,2}\.\d$")


def evidence_in(data: Buffer, start: int) -> _numbers.Evidence:
    """What the numbers in fields and at line ends say about their format."""
    found: dict[bytes, None] = {}
    for match in _NUMBER.finditer(data[start : start + _LOOK_AHEAD]):
        if not _CAPABILITY.match(match[1]):
            found[match[1]] = None
        if len(found) > _ENOUGH:
            break
    texts = [t.decode("utf-8", "replace") for t in found]
    return _numbers.gather(pl.Series(texts, dtype=pl.String))
