"""Reads kernel tables of Nsight Systems: ``nsys stats`` reports cuda_gpu_kern_sum, cuda_gpu_sum and cuda_gpu_trace.

They carry times and launch counts, no counters: enough to say where the time goes, not why. Both the CSV form and the
form printed to a terminal are read, in older and newer spellings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.errors import NothingMeasuredError
from ncuroof.model import Chunk
from ncuroof.readers import _numbers
from ncuroof.readers._csv_header import split_record, split_unit
from ncuroof.readers._launch_rows import launches
from ncuroof.readers._reading import INVOCATIONS, Reading, metric_rows, stack
from ncuroof.readers._text_source import blocks, head_text, open_text
from ncuroof.readers._units import base_unit
from ncuroof.tables import NSIGHT_RULES, empty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncuroof.inputs import InputFile
    from ncuroof.model import RawReport

NAME = "nsys-kernel-times"
DESCRIPTION = "kernel times of nsys stats (cuda_gpu_kern_sum, cuda_gpu_sum, cuda_gpu_trace), CSV or text"
RANK = 55

DURATION = "gpu__time_duration.sum"
TOTAL = "summary__total_time"
"""Metric with the time of all launches that a row of a summary stands for."""

_TITLE_LINE = re.compile(
    r"^\s*\"?(?:Time ?\(%\)\"?\s*[,;\t ]\s*\"?Total Time|Start \([munp]?s(?:ec)?\)\"?\s*[,;\t ]\s*\"?Duration)",
    re.MULTILINE,
)
_DASHES = re.compile(r"^\s*-{2,}(?:\s+-{2,})+\s*$")
_TITLES = {
    "total time": "total",
    "instances": "count",
    "count": "operations",
    "num calls": "calls",
    "avg": "average",
    "average": "average",
    "min": "minimum",
    "minimum": "minimum",
    "max": "maximum",
    "maximum": "maximum",
    "name": "kernel",
    "operation": "kernel",
    "kernel name": "kernel",
    "category": "category",
    "gridxyz": "grid",
    "blockxyz": "block",
    "duration": "duration",
    "device": "device_text",
    "ctx": "context",
    "strm": "stream",
    "start": "start",
    **{f"grd{a}": f"grid_{a}" for a in "xyz"},
    **{f"blk{a}": f"block_{a}" for a in "xyz"},
}
_KEPT = (
    "kernel",
    "total",
    "count",
    "average",
    "minimum",
    "maximum",
    "category",
    "grid",
    "block",
    "duration",
    "device_text",
    "context",
    "stream",
    *(f"{s}_{a}" for s in ("grid", "block") for a in "xyz"),
)
_FLUSH_ROWS = 100_000
_DELIMITERS_NEEDED = 3


class _Table:
    """A table's titles.

    Attributes:
        delimiter: field separator; None for a table printed with blanks, whose columns the dashes below show.
        at: what is known here (``kernel``, ``total`` ...) to column number.
        factors: what to multiply times with to have nanoseconds.
        columns: where the columns of a printed table lie.
    """

    def __init__(self, line: str) -> None:
        self.delimiter = next((d for d in ",;\t" if line.count(d) >= _DELIMITERS_NEEDED), None)
        self.at: dict[str, int] = {}
        self.factors: dict[str, float] = {}
        self.columns: list[tuple[int, int]] = []
        self._line = line
        self._take(split_record(line, self.delimiter) or [] if self.delimiter else re.split(r"\s{2,}", line.strip()))

    def align(self, dashes: str) -> None:
        """Find the columns of a printed table by the dashes below its titles."""
        self.columns = [m.span() for m in re.finditer("-+", dashes)]
        last = self.columns[-1][0]
        self._take([self._line[a:b] for a, b in self.columns[:-1]] + [self._line[last:]])

    def _take(self, titles: list[str]) -> None:
        self.at, self.factors = {}, {}
        own = None
        for number, title in enumerate(titles):
            bare, unit = split_unit(title.strip())
            key = _TITLES.get(bare.lower().strip())
            if key is None:
                continue
            self.at.setdefault(key, number)
            base, factor = base_unit(unit)
            if base == "ns":
                self.factors[key] = factor
                own = own or factor
        for key in ("average", "minimum", "maximum"):
            self.factors.setdefault(key, own or 1.0)

    @property
    def kind(self) -> str:
        """``summary`` or ``trace`` of kernels, or ``other``."""
        if "kernel" not in self.at:
            return "other"
        if "duration" in self.at and "start" in self.at:
            return "trace"
        return "summary" if {"total", "count"} <= self.at.keys() else "other"

    def cells(self, line: str) -> list[str] | None:
        """The cells of a row; None if the line is none."""
        if self.delimiter is not None:
            fields = split_record(line, self.delimiter)
            return fields if fields is not None and len(fields) > max(self.at.values()) else None
        if not self.columns:
            return None
        last = self.columns[-1][0]
        cells = [line[a:b].strip() for a, b in self.columns[:-1]] + [line[last:].strip()]
        return cells if len(line) > last else None


def recognises(head: bytes, name: str) -> str | None:
    """By the titles of its tables."""
    text = head_text(head)
    if text is None:
        return None
    match = _TITLE_LINE.search(text)
    if match is None or "==PROF==" in text:
        return None
    return f"a table of nsys stats with the titles {match[0].strip()!r} ..."


def read(file: InputFile, recognised: str, want: frozenset[str] | None) -> RawReport:
    """All kernel rows of the file.

    Raises:
        NothingMeasuredError: while the chunks are consumed, when the tables hold no kernel.
    """
    reading = Reading(file, want, NAME, recognised)
    return reading.report(_chunks(reading))


def _chunks(reading: Reading) -> Iterator[Chunk]:
    data, start = open_text(reading.file.data)
    table: _Table | None = None
    rows: list[dict[str, Any]] = []
    others = 0
    for block, last in blocks(data, start):
        lines = block.decode("utf-8", "replace").splitlines()
        for number, line in enumerate(lines):
            if _TITLE_LINE.match(line):
                table = _Table(line)
                others += table.kind == "other"
                continue
            if table is None or not line.strip():
                continue
            if table.delimiter is None and _DASHES.match(line):
                table.align(line)
                continue
            if table.kind == "other":
                continue
            whole = not last or number < len(lines) - 1 or block.endswith(b"\n") or line.count('"') % 2 == 0
            cells = table.cells(line) if whole else None
            if cells is None:
                if line[:1].isdigit() and last and number == len(lines) - 1:
                    reading.note(
                        "cut-file", "the file ends in the middle of a row; that row was left out, whole rows were used."
                    )
                continue
            row: dict[str, Any] = {k: cells[i].strip() for k, i in table.at.items() if i < len(cells) and k in _KEPT}
            if not _is_kernel(row, table):
                continue
            row["_kind"], row["_factors"] = table.kind, table.factors
            rows.append(row)
            if len(rows) >= _FLUSH_ROWS:
                yield _chunk(reading, rows)
                rows = []
    if rows:
        yield _chunk(reading, rows)
    if not reading.next_index:
        found = (
            "tables of nsys stats about something else than kernels"
            if others
            else "a table of nsys stats without any row"
        )
        raise NothingMeasuredError(
            reading.file.name, f"{found}; {reading.taken_for}", "Use `nsys stats --report cuda_gpu_kern_sum`."
        )
    reading.finish()


def _is_kernel(row: dict[str, Any], table: _Table) -> bool:
    if not row.get("kernel") or not re.match(r"^[\d.,' ]+$", row.get("total") or row.get("duration") or ""):
        return False
    if table.kind == "trace":
        return bool(row.get("grid_x"))
    return "category" not in row or "KERNEL" in row["category"].upper()


def _chunk(reading: Reading, rows: list[dict[str, Any]]) -> Chunk:
    index = reading.take(len(rows))
    form = _format(reading, rows)
    kernel = pl.Series([r["kernel"] for r in rows], dtype=pl.String)
    who = {"kernel": kernel}
    for key in ("context", "stream"):
        if any(r.get(key) for r in rows):
            who[key] = pl.Series([r.get(key) for r in rows], dtype=pl.String)
    for side in ("grid", "block"):
        sizes = [r.get(side) or _three(r, side) for r in rows]
        if any(sizes):
            who[side] = pl.Series(
                [re.sub(r"\s+", " x ", s.strip(" ()")) if s and "," not in s else s for s in sizes], dtype=pl.String
            )
    devices = [re.match(r"^(.*?)\s*\((\d+)\)$", r.get("device_text") or "") for r in rows]
    if any(devices):
        who["gpu"] = pl.Series([d[1] if d else None for d in devices], dtype=pl.String)
        who["device"] = pl.Series([d[2] if d else None for d in devices], dtype=pl.String)
    parts = []

    def add(metric: str, values: pl.Series, unit: str | None) -> None:
        if reading.want is None or metric in reading.want or metric in (INVOCATIONS, TOTAL):
            frame = pl.DataFrame({"result_index": index, "value": values})
            parts.append(
                metric_rows(
                    reading,
                    frame.with_columns(
                        pl.lit(metric).cast(pl.Categorical).alias("metric"), pl.lit(unit, dtype=pl.String).alias("unit")
                    ),
                )
            )

    def column(key: str) -> pl.Series:
        values, refused = _numbers.to_float(pl.Series([r.get(key) for r in rows], dtype=pl.String), form)
        reading.refused += refused
        return values * pl.Series([r["_factors"].get(key, 1.0) for r in rows])

    if any(r["_kind"] == "trace" for r in rows):
        add(DURATION, column("duration"), "ns")
    else:
        reading.note(
            "summary",
            "the file is a summary of nsys: each row stands for all launches of a kernel together; the duration "
            "is their "
            f"average, {TOTAL} their sum, {INVOCATIONS} their number; nsys measures times only, no counters.",
        )
        total, count = column("total"), column("count")
        mean = pl.select(pl.when(count > 0).then(total / count)).to_series()
        add(DURATION, mean, "ns")
        add(f"{DURATION}:min", column("minimum"), "ns")
        add(f"{DURATION}:max", column("maximum"), "ns")
        add(TOTAL, total, "ns")
        add(INVOCATIONS, count, None)
    return Chunk(launches(reading, who, index), stack(parts), empty(NSIGHT_RULES))


def _three(row: dict[str, Any], side: str) -> str | None:
    sizes = [row.get(f"{side}_{a}") for a in "xyz"]
    return " x ".join(str(s) for s in sizes) if all(sizes) else None


def _format(reading: Reading, rows: list[dict[str, Any]]) -> _numbers.NumberFormat:
    """Totals and counts are whole numbers, averages have decimals."""
    texts, whole = [], []
    for row in rows[:20_000]:
        for key in ("total", "count", "duration", "average", "minimum", "maximum"):
            if row.get(key):
                texts.append(row[key])
                whole.append(key == "count" or (key in ("total", "duration") and row["_factors"].get(key) == 1.0))
    evidence = _numbers.gather(pl.Series(texts, dtype=pl.String), pl.Series(whole, dtype=pl.Boolean))
    return reading.number_format(evidence, _numbers.Evidence)
