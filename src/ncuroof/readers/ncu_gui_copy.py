"""Reads tables copied out of Nsight Compute's window, transposed: a row per metric, a column per kernel.

Titles carry their unit in brackets (``gpu__time_duration.sum [us]``), and a value may be followed by its number of
instances in braces (``38 {372}``).
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.errors import NothingMeasuredError
from ncuroof.model import Chunk
from ncuroof.readers._csv_header import TITLES, UNUSED_TITLES, split_unit
from ncuroof.readers._display_names import is_metric_name
from ncuroof.readers._launch_rows import WHO, launches
from ncuroof.readers._metric_values import MetricValues
from ncuroof.readers._reading import GPU_NAME, Reading
from ncuroof.readers._text_numbers import evidence_in
from ncuroof.readers._text_source import blocks, head_text, open_text
from ncuroof.tables import NSIGHT_RULES, empty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ncuroof.inputs import InputFile
    from ncuroof.model import RawReport

NAME = "ncu-gui-copy"
DESCRIPTION = "table copied from Nsight Compute's window, a row per metric and a column per kernel"
RANK = 60

_TELLING = ("kernel", "function", "shown_name", "mangled", "grid", "block")
_CC = ("device__attribute_compute_capability_major", "device__attribute_compute_capability_minor")
_METRICS_NEEDED = 2
_MOST_COLUMNS = 100_000


def recognises(head: bytes, name: str) -> str | None:
    """By rows whose first cells are titles of launches and names of metrics."""
    text = head_text(head)
    if text is None:
        return None
    lines = text.split("\n")[:400]
    delimiter = _delimiter(lines)
    titles, metrics = set(), []
    for line in lines:
        cells = _cells(line, delimiter)
        if len(cells) < 2:
            continue
        bare, unit = split_unit(cells[0])
        key = TITLES.get(bare.lower())
        if key in _TELLING:
            titles.add(key)
        elif "__" in bare and is_metric_name(bare) and not any("__" in c and is_metric_name(c) for c in cells[1:2]):
            metrics.append(bare if unit is None else f"{bare} [{unit}]")
    if titles and len(metrics) >= _METRICS_NEEDED:
        return f"rows titled with metric names such as {metrics[0]!r}, and a column for each kernel"
    return None


def read(file: InputFile, recognised: str, want: frozenset[str] | None) -> RawReport:
    """One chunk with all kernels of the table.

    Raises:
        NothingMeasuredError: while the chunks are consumed, when no column holds a value.
    """
    reading = Reading(file, want, NAME, recognised)
    return reading.report(_chunks(reading))


def _chunks(reading: Reading) -> Iterator[Chunk]:
    data, start = open_text(reading.file.data)
    who: dict[str, list[str]] = {}
    rows: dict[str, list[Any]] = {"column": [], "metric": [], "unit": [], "value": []}
    cut = False
    delimiter: str | None = None
    for block, last in blocks(data, start):
        lines = block.decode("utf-8", "replace").splitlines()
        delimiter = delimiter or _delimiter(lines[:400])
        for number, line in enumerate(lines):
            cells = _cells(line, delimiter)
            if line.count('"') % 2:
                cut = cut or (last and number == len(lines) - 1)
                continue
            if len(cells) < 2 or len(cells) > _MOST_COLUMNS:
                continue
            bare, unit = split_unit(cells[0])
            key = TITLES.get(bare.lower())
            if key is not None and "__" not in bare:
                who.setdefault(key, cells[1:])
            elif bare.lower() not in UNUSED_TITLES:
                for column, value in enumerate(cells[1:]):
                    rows["column"].append(column)
                    rows["metric"].append(bare)
                    rows["unit"].append(unit or "")
                    rows["value"].append(value)
    frame = pl.DataFrame(rows, schema={"column": pl.UInt32, "metric": pl.String, "unit": pl.String, "value": pl.String})
    frame = frame.unique(["column", "metric"], keep="last", maintain_order=True)
    count = max([len(v) for v in who.values()] or [0])
    if not frame.height or not count:
        raise NothingMeasuredError(
            reading.file.name,
            f"a table without values; {reading.taken_for}",
            "Copy the table again, or save the report.",
        )
    index = reading.take(count)
    columns = {k: pl.Series(_padded(v, count), dtype=pl.String) for k, v in who.items()}
    if "kernel" not in columns and "shown_name" in columns:
        columns["kernel"] = columns["shown_name"]
    if "cc" not in columns:
        major, minor = (_of_each(frame, metric, count) for metric in _CC)
        columns["cc"] = pl.Series([f"{a}.{b}" for a, b in zip(major, minor, strict=True)])
    cc = pl.DataFrame({"column": pl.Series(range(count), dtype=pl.UInt32), "cc": columns["cc"]})
    metrics = MetricValues(reading, lambda: evidence_in(data, start)).metrics(
        frame.filter(pl.col("column") < count)
        .join(cc, on="column", how="left", maintain_order="left")
        .with_columns((pl.col("column") + index[0]).cast(pl.UInt32).alias("result_index"))
    )
    gpu = pl.Series(_of_each(frame, GPU_NAME, count), dtype=pl.String)
    if cut:
        reading.note("cut-file", "the file ends in the middle of a row; that row was left out, whole rows were used.")
    reading.finish()
    yield Chunk(
        launches(reading, {k: v for k, v in columns.items() if k in WHO}, index, gpu), metrics, empty(NSIGHT_RULES)
    )


def _of_each(frame: pl.DataFrame, metric: str, count: int) -> list[str | None]:
    """The text of a metric for each kernel."""
    found: dict[int, str] = dict(frame.filter(pl.col("metric") == metric).select("column", "value").iter_rows())
    return [found.get(i) for i in range(count)]


def _padded(values: list[str], count: int) -> list[str | None]:
    return [*values, *[None] * (count - len(values))]


def _delimiter(lines: list[str]) -> str:
    """The character that separates the first cells: that which most lines have."""
    return max(",;\t", key=lambda d: sum(d in line for line in lines))


def _cells(line: str, delimiter: str) -> list[str]:
    if not line or line.count('"') % 2:
        return []
    try:
        rows = list(csv.reader([re.sub("\0", "", line)], delimiter=delimiter))
    except csv.Error:
        return []
    return [c.strip() for c in rows[0]] if rows else []
