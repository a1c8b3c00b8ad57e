"""Wide tables of ncu (``--csv --page raw``): a row per kernel, a column per metric, units below the titles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ncuroof.model import Chunk
from ncuroof.readers import _numbers
from ncuroof.readers._csv_header import Header, split_record
from ncuroof.readers._csv_parse import parse_lines
from ncuroof.readers._display_names import is_metric_name, metric_name
from ncuroof.readers._launch_rows import launches
from ncuroof.readers._melt import Melter
from ncuroof.readers._reading import GPU_NAME, Reading
from ncuroof.readers._units import base_unit, counts_whole, unit_of
from ncuroof.tables import METRICS, NSIGHT_RULES, empty

if TYPE_CHECKING:
    from collections.abc import Callable

_SAMPLE_BYTES = 4 << 20
_SAMPLE_ROWS = 200
_PLAIN_FLOAT = r"^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$"
_PLAIN_INTEGER = r"^\d{1,19}$"
_IDENTITY = (
    "id",
    "process",
    "process_text",
    "context",
    "stream",
    "device",
    "gpu",
    "cc",
    "grid",
    "block",
    "kernel",
    "function",
    "mangled",
)


class WideTable:
    """Turns blocks of records of one wide table into chunks."""

    def __init__(self, header: Header, reading: Reading, further: Callable[[], _numbers.Evidence]) -> None:
        self.header = header
        self.reading = reading
        self._further = further
        self._started = False
        self._format = _numbers.NumberFormat(".", ",")
        self._columns: list[int] = []
        self._types: dict[int, pl.DataType] = {}
        self._nulls: list[str] = []
        self._melter: Melter | None = None
        self._gpu: str | None = None

    def begin(self, records: bytes) -> bytes:
        """Look at the first records and give back those that :meth:`prepare` shall parse."""
        if self._started or not records or records.isspace():
            return records
        return self._start(records)

    def prepare(self, records: bytes, *, last: bool) -> pl.DataFrame | None:
        """Parse some whole records. May run beside :meth:`finish` of the records before them."""
        if not records or records.isspace():
            return None
        frame = self._parse(records)
        good = self._is_record(frame)
        if not good.all():
            frame = frame.filter(good)
        return frame if frame.height else None

    def _is_record(self, frame: pl.DataFrame) -> pl.Series:
        """Which rows are records: their id is a number, or they name a kernel."""
        at = self.header.at
        if "id" in at:
            return frame[f"c{at['id']}"].str.contains(r"^\s*\d[\d.,' ]*$").fill_null(False)
        return frame[next(f"c{at[k]}" for k in ("kernel", "function", "shown_name") if k in at)].fill_null("") != ""

    def _start(self, records: bytes) -> bytes:
        """Take the row of units, decide number format and column types; gives back the records without that row."""
        self._started = True
        end = records.find(b"\n") + 1 or len(records)
        first = split_record(records[:end].decode("utf-8", "replace").strip("\r\n"), self.header.delimiter) or []
        identity = [self.header.at[k] for k in _IDENTITY if k in self.header.at]
        units: dict[int, str] = {}
        if first and all(i >= len(first) or not first[i].strip() for i in identity):
            units = dict(enumerate(first))
            records = records[end:]
        elif not any(unit for _, _, unit in self.header.metrics):
            self.reading.note(
                "no-units", "the table has no row of units: its values were taken to be in base units (ns, byte, hz)."
            )
        texts = self._sample(records)
        columns: list[tuple[int, str, str | None, float]] = []
        want = self.reading.want
        for column, title, own in self.header.metrics:
            unit = own or units.get(column, "").strip()
            name = title
            if not is_metric_name(title):
                known = metric_name(None, None, title, unit, None)
                name = known or title
                if known is None:
                    self.reading.unknown[title] = self.reading.unknown.get(title, 0) + texts.height
            if want is None or name in want or name == GPU_NAME:
                base, factor = unit_of(name, unit)
                columns.append((column, name, base, factor))
        columns = _last_of_each(columns)
        self._columns = [c for c, _, _, _ in columns]
        names = [n for _, n, _, _ in columns]
        self._melter = Melter(
            [f"c{c}" for c in self._columns],
            pl.Series(names, dtype=pl.String).cast(pl.Categorical),
            pl.Series([u for _, _, u, _ in columns], dtype=pl.String).cast(pl.Categorical),
            np.array([f for _, _, _, f in columns], np.float64),
            # All metrics as they lie; a few kernel by kernel, which a pivot likes better.
            "F" if want is None else "C",
            self.reading.file,
        )
        if GPU_NAME in names:
            self._gpu = f"c{self._columns[names.index(GPU_NAME)]}"
        self._decide(texts, units)
        return records

    def _sample(self, records: bytes) -> pl.DataFrame:
        stop = min(len(records), _SAMPLE_BYTES)
        cut = records.rfind(b"\n", 0, stop) + 1 if stop < len(records) else len(records)
        if not records or records.isspace():
            return pl.DataFrame()
        every = [c for c, _, _ in self.header.metrics]
        return self._read(records[: cut or len(records)], {}, every).head(_SAMPLE_ROWS)

    def _decide(self, texts: pl.DataFrame, units: dict[int, str]) -> None:
        """Number format and column types, from a sample of the columns as texts."""
        if not texts.height:
            return
        metrics = self.header.metrics
        printed = [own or units.get(column, "").strip() for column, _, own in metrics]
        flags = pl.DataFrame(
            {
                "column": pl.Series([column for column, _, _ in metrics], dtype=pl.UInt32),
                "whole": [counts_whole(title, unit) for (_, title, _), unit in zip(metrics, printed, strict=True)],
                "percent": [base_unit(unit)[0] == "%" for unit in printed],
            }
        )
        values = pl.concat(texts[[f"c{column}" for column, _, _ in metrics]].get_columns(), rechunk=True)
        which = np.repeat(np.arange(len(metrics)), texts.height)
        sample = flags[which].with_columns(
            values.alias("value"), (values.is_in(_numbers.NULL_TEXTS) & (values != "")).alias("null")
        )
        evidence = _numbers.gather(sample["value"], sample["whole"], sample["percent"])
        self._format = self.reading.number_format(evidence, self._further)
        self._nulls = sample.filter("null")["value"].unique().sort().to_list() or ["n/a"]
        held = sample.filter((pl.col("value") != "") & ~pl.col("null"))
        plain = held.group_by("column").agg(
            pl.col("value").str.contains(_PLAIN_INTEGER).all().alias("integer"),
            pl.col("value").str.contains(_PLAIN_FLOAT).all().alias("float"),
        )
        # How the parser may read a column at once: as numbers where the sample holds nothing else, else as text.
        points = self._format.decimal == "."
        for column, integer, real in plain.iter_rows():
            self._types[column] = pl.UInt64() if integer else pl.Float64() if real and points else pl.String()

    def _read(self, records: bytes, types: dict[int, pl.DataType], columns: list[int]) -> pl.DataFrame:
        identity = set(self.header.at.values()) | set(self.header.nvtx)
        nulls = self._nulls if types else ()
        return parse_lines(records, self.header, identity | set(columns), types, nulls=nulls)[1]

    def _parse(self, records: bytes) -> pl.DataFrame:
        if self._types:
            try:
                return self._read(records, self._types, self._columns)
            except pl.exceptions.PolarsError:
                pass  # a value of another form further down: read this block as text
        return self._read(records, {}, self._columns)

    def finish(self, frame: pl.DataFrame) -> Chunk:
        """The kernels of parsed records."""
        index = self.reading.take(frame.height)
        metrics = empty(METRICS)
        gpu = None
        if self._melter is not None and self._columns:
            metrics, refused = self._melter.melt(frame, index, self._format)
            self.reading.refused += refused
        if self._gpu is not None and frame[self._gpu].dtype == pl.String:
            gpu = frame[self._gpu]
        return Chunk(launches(self.reading, self._identity(frame), index, gpu), metrics, empty(NSIGHT_RULES))

    def _identity(self, frame: pl.DataFrame) -> dict[str, pl.Series]:
        at = {k: f"c{i}" for k, i in self.header.at.items()}
        columns = {k: frame[at[k]] for k in _IDENTITY if k in at and k != "id"}
        if "kernel" not in columns and "shown_name" in at:
            columns["kernel"] = frame[at["shown_name"]]
        if self.header.nvtx:
            columns["nvtx"] = frame.select(
                pl.concat_str([f"c{i}" for i in self.header.nvtx], separator=" ", ignore_nulls=True)
            ).to_series()
        return columns


def _last_of_each(columns: list[tuple[int, str, str | None, float]]) -> list[tuple[int, str, str | None, float]]:
    """One column for each metric: of several with one name the last, as in reports."""
    return list({name: (column, name, unit, factor) for column, name, unit, factor in columns}.values())
