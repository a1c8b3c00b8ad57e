"""Text of any encoding as one buffer of UTF-8, and blocks of whole lines of it."""

from __future__ import annotations

import codecs
import mmap
import tempfile
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Buffer = bytes | mmap.mmap

BLOCK_BYTES = 16 << 20
"""How much text is worked on at a time."""
LINE_LIMIT = 64 << 20
"""A longer line is cut: no output of a profiler has one, and memory stays bounded."""

_BOM = codecs.BOM_UTF8
_STEP = 4 << 20
_NEWLINE = 10
_LONG_LINE = 4096


def encoding_of(head: bytes) -> str | None:
    """The encoding of text that begins like this; None if it is no text.

    UTF-16 is known by its byte order mark or, without one, by the zero bytes of its ASCII letters.
    """
    if head.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    sample = head[:4096]
    zeros = sample.count(0)
    if not zeros:
        return "utf-8"
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 0.4 * len(sample) / 2 and even < 0.05 * len(sample) / 2:
        return "utf-16-le"
    if even > 0.4 * len(sample) / 2 and odd < 0.05 * len(sample) / 2:
        return "utf-16-be"
    # A stray zero byte in a terminal log is noise; many of them are a binary file.
    return "utf-8" if zeros < 0.01 * len(sample) and head[:1] != b"\0" else None


def head_text(head: bytes) -> str | None:
    """The beginning of a file as text, for readers to recognise it by; None if it is no text."""
    encoding = encoding_of(head)
    if encoding is None:
        return None
    return head.decode(encoding, "replace").lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def open_text(data: Buffer) -> tuple[Buffer, int]:
    """The content as UTF-8 in one buffer, and where its first line begins.

    UTF-8 is used where it lies. Anything else is rewritten into an unnamed temporary file, piece by piece.
    """
    head = bytes(data[:4096])
    encoding = encoding_of(head) or "utf-8"
    if encoding == "utf-8":
        if b"\r" in head and b"\n" not in data[: 1 << 16]:
            return _rewritten(data, "latin-1", 0, lone_cr=True), 0
        return data, len(_BOM) if head.startswith(_BOM) else 0
    start = 2 if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else 0
    return _rewritten(data, encoding, start), 0


def _rewritten(data: Buffer, encoding: str, start: int, *, lone_cr: bool = False) -> Buffer:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    with tempfile.TemporaryFile() as file:
        for at in range(start, len(data), _STEP):
            text = decoder.decode(bytes(data[at : at + _STEP]), at + _STEP >= len(data))
            if lone_cr:
                text = text.replace("\r", "\n")
            file.write(text.encode("latin-1" if lone_cr else "utf-8", "replace"))
        file.flush()
        if file.tell() == 0:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def line_starts(block: bytes) -> NDArray[np.int64]:
    """Where each line of a block begins."""
    if block.find(b"\n", 0, _LONG_LINE) < 0:
        return _starts_of_long_lines(block)
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE) + 1
    if len(ends) and ends[-1] == len(block):
        ends = ends[:-1]
    return np.concatenate((np.zeros(1, np.int64), ends))


def _starts_of_long_lines(block: bytes) -> NDArray[np.int64]:
    """As :func:`line_starts`: one search for each line is faster than a look at each byte where lines are long."""
    starts = [0]
    at = block.find(b"\n")
    while 0 <= at < len(block) - 1:
        starts.append(at + 1)
        at = block.find(b"\n", at + 1)
    return np.array(starts, np.int64)


def blocks(data: Buffer, start: int, size: int = BLOCK_BYTES) -> Iterator[tuple[bytes, bool]]:
    """Blocks of whole lines, and for each whether it is the last; only the last may lack its line end."""
    end = len(data)
    while start < end:
        stop = min(start + size, end)
        if stop < end:
            line = data.rfind(b"\n", start, stop)
            if line < 0:
                line = data.find(b"\n", stop, min(end, start + LINE_LIMIT))
            stop = min(start + LINE_LIMIT, end) if line < 0 else line + 1
        yield bytes(data[start:stop]), stop == end
        start = stop
