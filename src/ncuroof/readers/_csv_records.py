"""Separates the whole records of a CSV body from what else a terminal wrote between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ncuroof.readers._csv_header import Header, split_record
from ncuroof.readers._text_source import line_starts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_QUOTE = 34
_NEWLINE = 10
_PIECE = 1 << 17
_RECORD = re.compile(rb'"?\d[\d.,]*"?[,;\t]"?[^\n]')
_JOINED_LINES = 50
"""A quoted field may hold line ends; a quote that is not closed within so many lines is no field."""


class Records:
    """Takes a body block by block and gives back only whole records.

    Attributes:
        noise: number of lines that are no records.
        broken: how many of them begin like one.
        cut: whether the body ends in the middle of a record.
    """

    def __init__(self, header: Header, on_noise: Callable[[bytes], None]) -> None:
        self.header = header
        self.noise = 0
        self.broken = 0
        self.cut = False
        self._on_noise = on_noise
        self._needed = 1 + (
            header.at["value"]
            if header.kind == "long"
            else header.at["average"]
            if header.kind == "summary"
            else header.width - 1
        )
        self._starts = np.zeros(256, bool)
        self._starts[_QUOTE] = True
        if not header.quoted:
            # Written again by another program: fields are quoted only where they must be.
            self._starts[[c for c in range(33, 256) if c not in b"="]] = True
            self._starts[[ord(header.delimiter)]] = True

    def clean(self, block: bytes, *, last: bool, starts: NDArray[np.int64] | None = None) -> bytes:
        """The records of a block of whole lines, one per line.

        Args:
            block: whole lines.
            last: whether the file ends with it.
            starts: where the lines begin, if that is known already.
        """
        if last and block:
            block, starts = self._without_cut(block), None
        if not block:
            return b""
        text = np.frombuffer(block, np.uint8)
        if self.header.quoted:
            begins = text[line_starts(block) if starts is None else starts]
            if (begins == _QUOTE).all() and _quotes(text) % 2 == 0:
                return block
        return self._sieve(block, text)

    def _without_cut(self, block: bytes) -> bytes:
        """The block without its last line, if that is not a whole record."""
        end = len(block.rstrip(b"\r\n \t"))
        start = block.rfind(b"\n", 0, end) + 1
        line = block[start:end].decode("utf-8", "replace")
        opens = '"' if self.header.quoted else '"0123456789'
        # Without a line end even a quote alone is the beginning of a record; with one, noise is more likely.
        begun = end == len(block) or _RECORD.match(block[start : start + 64])
        if not line or line[0] not in opens or not begun:
            return block
        fields = split_record(line, self.header.delimiter)
        whole = fields is not None and line.count('"') % 2 == 0
        if whole and fields is not None:
            # A delimiter at the end says that the field before it is whole, not that an empty one follows.
            whole = len(fields) - (line[-1] == self.header.delimiter) >= self._needed
        if whole and self.header.quoted and end == len(block):
            whole = line[-1] in ('"', self.header.delimiter)
        if whole:
            return block
        self.cut = True
        return block[:start]

    def _sieve(self, block: bytes, text: np.ndarray) -> bytes:
        """The slow way, for blocks in which not every line is a record."""
        ends = np.flatnonzero(text == _NEWLINE) + 1
        if not len(ends) or ends[-1] != len(text):
            ends = np.append(ends, len(text))
        starts = np.concatenate(([0], ends[:-1]))
        quotes = np.add.reduceat((text == _QUOTE).astype(np.int32), starts)
        good = self._starts[text[starts]] & (quotes % 2 == 0)
        if good.all():
            return block
        pieces: list[bytes] = []
        done = 0
        clean_from = 0
        for line in np.flatnonzero(~good).tolist():
            if line < done:
                continue
            if line > done:
                pieces.append(block[starts[clean_from] : starts[line]])
            joined = self._join(block, starts, ends, quotes, line)
            if joined is None:
                self.noise += 1
                self.broken += bool(_RECORD.match(block, int(starts[line])))
                self._on_noise(block[starts[line] : ends[line]])
                done = line + 1
            else:
                stop, record = joined
                pieces.append(record)
                done = stop
            clean_from = done
        if clean_from < len(starts):
            pieces.append(block[starts[clean_from] :])
        return b"".join(pieces)

    def _join(
        self, block: bytes, starts: np.ndarray, ends: np.ndarray, quotes: np.ndarray, line: int
    ) -> tuple[int, bytes] | None:
        """The record that begins in a line and ends in a later one; None if there is none."""
        if not self._starts[block[starts[line]]] or quotes[line] % 2 == 0:
            return None
        for stop in range(line + 1, min(line + _JOINED_LINES, len(starts))):
            if quotes[stop] % 2:
                record = block[starts[line] : ends[stop]]
                flat = record.rstrip(b"\r\n").replace(b"\r\n", b" ").replace(b"\n", b" ")
                fields = split_record(flat.decode("utf-8", "replace"), self.header.delimiter)
                if fields is not None and len(fields) >= min(self._needed, self.header.width):
                    return stop + 1, flat + b"\n"
                return None
        return None


def _quotes(text: np.ndarray) -> int:
    """How many quotes there are. NumPy, since bytes.count is slow for what is frequent; pieces that stay in cache."""
    return sum(int(np.count_nonzero(text[at : at + _PIECE] == _QUOTE)) for at in range(0, len(text), _PIECE))
