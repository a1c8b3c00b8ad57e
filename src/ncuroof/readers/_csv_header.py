"""Header rows of ncu's CSV outputs: where one stands, what its columns are."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ncuroof.readers._text_source import line_starts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# Column titles of ncu and of its window, lower case, and what they are called here.
TITLES = {
    "id": "id",
    "process id": "process",
    "pid": "process",
    "process": "process_text",
    "kernel name": "kernel",
    "function name": "function",
    "demangled name": "shown_name",
    "original demangled name": "kernel",
    "mangled name": "mangled",
    "name": "kernel",
    "kernel": "kernel",
    "context": "context",
    "context id": "context",
    "stream": "stream",
    "stream id": "stream",
    "block size": "block",
    "grid size": "grid",
    "device": "device",
    "device id": "device",
    "device name": "gpu",
    "gpu name": "gpu",
    "gpu": "gpu",
    "cc": "cc",
    "compute capability": "cc",
    "section name": "section",
    "body item label": "item",
    "metric name": "metric",
    "metric unit": "unit",
    "metric value": "value",
    "metric id": "metric_id",
    "minimum": "minimum",
    "maximum": "maximum",
    "average": "average",
    "invocations": "invocations",
    "rule name": "rule",
    "rule type": "rule_type",
    "rule description": "rule_text",
    "estimated speedup type": "speedup_type",
    "estimated speedup": "speedup",
}
# Columns that hold nothing for the tables: private names, times of day, addresses.
UNUSED_TITLES = {
    "process name",
    "host name",
    "kernel time",
    "time",
    "api call id",
    "thread id",
    "cuprogram",
    "cufunction",
    "grid offset",
    "grid dimensions",
    "issues detected",
    "runtime improvement",
    "unnamed: 0",
    "",
}
_SUFFIXED = re.compile(r"^(?P<name>.*\S)\s*(?:\[(?P<square>[^\[\]]*)\]|\((?P<round>[^()]*)\))$")
_METRIC = re.compile(r"^[A-Za-z][\w.:]*__[\w.:]+$")
# Every header of ncu has a title that ends in this; sought as it is, since ignoring case is a hundred times slower.
_CANDIDATES = (b" Name",)
# Tables written again by others have one header, at their beginning.
_FOREIGN = (b"Kernel_Name", b"kernel_name", b"kernel name", b"KernelName", b"metric_name")
_BEGINNING = 1 << 16
_MANY_LINES = 2000
_QUOTE, _ZERO, _NINE = b'"09'


@dataclass(frozen=True)
class Header:
    """A header row.

    Attributes:
        kind: ``long`` (a row per kernel and metric), ``summary`` (the same with minimum, maximum, average) or ``wide``.
        delimiter: the field separator.
        quoted: whether fields are in quotes.
        names: all column titles, in order.
        at: what is known here (``id``, ``kernel``, ``metric`` ...) to column number.
        nvtx: numbers of the columns with NVTX ranges.
        metrics: for wide tables, column number, metric name and unit where the title holds one.
    """

    kind: str
    delimiter: str
    quoted: bool
    names: tuple[str, ...]
    at: dict[str, int]
    nvtx: tuple[int, ...] = ()
    metrics: tuple[tuple[int, str, str | None], ...] = field(default=(), repr=False)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.names)


def split_unit(title: str) -> tuple[str, str | None]:
    """A column title without the unit that stands behind it in brackets, and that unit (None for none)."""
    match = _SUFFIXED.match(title)
    if not match:
        return title, None
    return match["name"], (match["square"] if match["square"] is not None else match["round"]).strip()


def parse_header(line: str) -> Header | None:
    """The header that a line is; None for any other line."""
    return _parsed(line.strip("\r\n").lstrip("\ufeff"))


@lru_cache(maxsize=2)
def _parsed(line: str) -> Header | None:
    """The header in a bare line. Every reader asks whether a file is its own: remembered."""
    if not line or len(line) > (8 << 20):
        return None
    delimiter = max(",;\t|", key=line.count)
    if line.count(delimiter) < 2:
        return None
    names = split_record(line, delimiter)
    if names is None:
        return None
    return from_titles(tuple(n.strip() for n in names), delimiter, quoted=line.lstrip().startswith('"'))


def from_titles(names: tuple[str, ...], delimiter: str, *, quoted: bool) -> Header | None:
    """The header with these column titles; None if they are not those of a table of ncu."""
    at: dict[str, int] = {}
    nvtx: list[int] = []
    metrics: list[tuple[int, str, str | None]] = []
    for number, title in enumerate(names):
        bare, unit = split_unit(title)
        key = bare.lower().replace("_", " ")
        if "push/pop" in key or "start/stop" in key or key in ("nvtx", "nvtx range"):
            nvtx.append(number)
        elif _METRIC.match(bare):
            metrics.append((number, bare, unit))
        elif key in TITLES:
            at.setdefault(TITLES[key], number)
        elif key not in UNUSED_TITLES:
            metrics.append((number, title if unit is None else bare, unit))
    named = at.keys() & {"kernel", "function", "shown_name"}
    if "metric" in at and "value" in at:
        kind = "long"
    elif "metric" in at and "average" in at:
        kind = "summary"
    elif named and (at.keys() & {"id", "grid", "block", "process"}) and any(_METRIC.match(m) for _, m, _ in metrics):
        kind = "wide"
    elif named and "id" in at and "section" not in at and any(u for _, _, u in metrics) and len(metrics) > 1:
        kind = "wide"  # a table copied from the summary page: display names with units
    else:
        return None
    if kind == "long" and not named and not at.keys() & {"id", "unit"}:
        return None
    return Header(kind, delimiter, quoted, names, at, tuple(nvtx), tuple(metrics) if kind == "wide" else ())


def split_record(line: str, delimiter: str) -> list[str] | None:
    """The fields of one record; None if it is none."""
    csv.field_size_limit(1 << 30)
    try:
        rows = list(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def find_headers(block: bytes, starts: NDArray[np.int64] | None = None) -> Iterator[tuple[int, int, Header]]:
    """All header rows of a block of lines: start and end of the line, and the header.

    Args:
        block: whole lines.
        starts: where they begin, if that is known already.
    """
    if not block:
        return
    if starts is None:
        starts = line_starts(block)
    text = np.frombuffer(block, np.uint8)
    first = text[starts]
    quoted = starts[first == _QUOTE] + 1
    first[first == _QUOTE] = text[np.minimum(quoted, len(text) - 1)]
    # Rows of data begin with a number in nearly every file; what does not may be a header.
    likely = starts[(first < _ZERO) | (first > _NINE)]
    if len(likely) > _MANY_LINES:
        yield from _search(block)
        return
    for start in likely.tolist():
        end = block.find(b"\n", start) + 1 or len(block)
        line = block[start:end]
        if any(word in line for word in (*_CANDIDATES, *_FOREIGN)):
            header = _header_in(line)
            if header is not None:
                yield start, end, header


def _search(block: bytes) -> Iterator[tuple[int, int, Header]]:
    """As :func:`find_headers`, for blocks in which most lines could be headers: by the words of their titles."""
    place = 0
    ahead = {word: block.find(word) for word in _CANDIDATES}
    ahead.update({word: block.find(word, 0, _BEGINNING) for word in _FOREIGN})
    while found := [at for at in ahead.values() if at >= 0]:
        at = min(found)
        start = block.rfind(b"\n", 0, at) + 1
        place = end = block.find(b"\n", at) + 1 or len(block)
        ahead = {word: at if at < 0 or at >= place else block.find(word, place) for word, at in ahead.items()}
        header = _header_in(block[start:end])
        if header is not None:
            yield start, end, header


def _header_in(line: bytes) -> Header | None:
    # A data row can hold these words only inside a field: a header has them as titles.
    first = line[:64].lstrip(b"\xef\xbb\xbf \t").lower()
    if first[:1] not in b'"abcdefghijklmnopqrstuvwxyz,;\t':
        return None
    return parse_header(line.decode("utf-8", "replace"))
