"""Reads what ncu prints to a terminal, with anything else between; the last reader for text with ncu's output in it.

A log can hold the details page, a summary, CSV tables, or only messages. Which, is found by looking through the whole
file; a log without a measured kernel is an error that names the reason ncu gives.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ncuroof.errors import UnrecognisedError
from ncuroof.readers import READABLE
from ncuroof.readers._csv_file import read_tables
from ncuroof.readers._csv_header import find_headers
from ncuroof.readers._errors_in_logs import CAUSES, explain
from ncuroof.readers._log_kernels import LogKernels
from ncuroof.readers._log_lines import INTERESTING, classify
from ncuroof.readers._reading import Reading
from ncuroof.readers._text_numbers import evidence_in
from ncuroof.readers._text_source import blocks, head_text, open_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncuroof.inputs import InputFile
    from ncuroof.model import Chunk, RawReport

NAME = "ncu-text-log"
DESCRIPTION = "what ncu prints to a terminal (details page, --print-summary), with any other output between"
RANK = 95

_MARK = re.compile(r"^[^\n=]{0,8}==(?:PROF|WARNING|ERROR)==", re.MULTILINE)
_SECTION = re.compile(r"^\s*(?:\S{1,8}\s*)?(?:Section: \S|Table Name : \S)", re.MULTILINE)
_LAUNCH = re.compile(r"\(\d+, \d+, \d+\)x\(\d+, \d+, \d+\)(?:,|\s*$)|, Context \d+, Stream \d+", re.MULTILINE)
_TEXT_SHARE = 0.9


def recognises(head: bytes, name: str) -> str | None:
    """By ncu's own marks, sections or kernel lines; any other text is taken too, to be looked through."""
    text = head_text(head)
    if text is None or not text.strip():
        return None
    if match := _MARK.search(text):
        return f"text with lines of ncu such as {match[0].strip()!r}"
    found = [what for what, pattern in (("sections", _SECTION), ("kernels", _LAUNCH)) if pattern.search(text)]
    if found:
        return f"text with {' and '.join(found)} as ncu prints them"
    if any(c.anywhere and c.found_in(text.encode()) for c in CAUSES):
        return "text with a message of ncu"
    readable = sum(c.isprintable() or c in "\n\t" for c in text[:4096])
    other = readable < _TEXT_SHARE * len(text[:4096]) or text.lstrip()[:1] in ("{", "[", "<")
    return None if other else _ANY_TEXT


_ANY_TEXT = "text, looked through for output of ncu"


def read(file: InputFile, recognised: str, want: frozenset[str] | None) -> RawReport:
    """All kernels of the log.

    Raises:
        InputError: while the chunks are consumed: nothing measured, with ncu's reason.
        UnrecognisedError: while the chunks are consumed: text without any output of ncu.
    """
    reading = Reading(file, want, NAME, recognised)
    return reading.report(_chunks(reading))


def _chunks(reading: Reading) -> Iterator[Chunk]:
    data, start = open_text(reading.file.data)
    if any(True for block, _ in blocks(data, start) for _ in find_headers(block)):
        yield from read_tables(reading)
        return
    kernels = LogKernels(reading, lambda: evidence_in(data, start))
    for block, _ in blocks(data, start):
        reading.facts.feed(block)
        if kernels.idle and not INTERESTING.search(block):
            continue
        for raw in block.decode("utf-8", "replace").splitlines():
            chunk = kernels.take(classify(raw))
            if chunk is not None:
                yield chunk
    chunk = kernels.close()
    if chunk is not None:
        yield chunk
    if not reading.next_index:
        facts = reading.facts
        if reading.recognised == _ANY_TEXT and not (facts.causes or facts.errors or facts.profiled or facts.connected):
            beginning = bytes(reading.file.data[:16])
            raise UnrecognisedError(
                reading.file.name,
                f"content that no reader knows (text without any output of ncu; it begins with {beginning!r})",
                READABLE,
            )
        raise explain(reading.file.name, facts, reading.taken_for)
    if kernels.anonymous:
        reading.note(
            "no-kernel-line",
            f"Metrics of {kernels.anonymous} kernel{'s' * (kernels.anonymous != 1)} stand in the file without the line "
            "that names the kernel; they were kept.",
        )
    reading.finish()
