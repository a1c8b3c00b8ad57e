"""Wide tables of ncu (``--csv --page raw``): one row per kernel, one column per metric, units in the row below the titles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ncuroof.model import Chunk
from ncuroof.readers import _numbers
from ncuroof.readers._csv_header import Header, split_record
from ncuroof.readers._csv_parse import parse
from ncuroof.readers._display_names import is_metric_name, metric_name
from ncuroof.readers._reading import GPU_NAME, Reading, launches, metric_rows, stack
from ncuroof.readers._units import base_unit, counts_whole
from ncuroof.tables import NSIGHT_RULES, empty

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

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
_NUMBER_TYPES = (pl.Float64, pl.UInt64)


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
        self._names = pl.Series([], dtype=pl.String)
        self._units = pl.Series([], dtype=pl.String)
        self._factors: NDArray[np.float64] = np.empty(0)

    def feed(self, records: bytes, *, last: bool) -> Chunk | None:  # noqa: ARG002  the same interface as LongTable
        """The kernels of some whole records."""
        if not self._started:
            records = self._start(records)
        if not records.strip():
            return None
        frame = self._parse(records)
        identity = self.header.at
        if "id" in identity:
            frame = frame.filter(pl.col(f"c{identity['id']}").str.contains(r"^\s*\d[\d.,' ]*$"))
        else:
            name = next(f"c{identity[k]}" for k in ("kernel", "function", "shown_name") if k in identity)
            frame = frame.filter(pl.col(name).is_not_null() & (pl.col(name) != ""))
        return self._chunk(frame) if frame.height else None

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
            unit = own if own else units.get(column, "").strip()
            name = title
            if not is_metric_name(title):
                known = metric_name(None, None, title, unit, None)
                name = known or title
                if known is None:
                    self.reading.unknown[title] = self.reading.unknown.get(title, 0) + texts.height
            if want is None or name in want or name == GPU_NAME:
                base, factor = base_unit(unit)
                columns.append((column, name, base, factor))
        columns = _last_of_each(columns)
        self._columns = [c for c, _, _, _ in columns]
        self._names = pl.Series([n for _, n, _, _ in columns], dtype=pl.String).cast(pl.Categorical)
        self._units = pl.Series([u for _, _, u, _ in columns], dtype=pl.String)
        self._factors = np.array([f for _, _, _, f in columns], np.float64)
        evidence = _numbers.Evidence()
        for column, title, own in self.header.metrics:
            if f"c{column}" not in texts.columns:
                continue
            values = texts[f"c{column}"]
            unit = own if own else units.get(column, "").strip()
            if values.str.contains(r"\d[^\d]+\d").any():
                whole, percent = counts_whole(title, unit), base_unit(unit)[0] == "%"
                flags = [pl.Series([flag]).new_from_index(0, len(values)) for flag in (whole, percent)]
                evidence = evidence + _numbers.gather(values, *flags)
        self._format = self.reading.number_format(evidence, self._further)
        self._types = {c: self._type_of(texts[f"c{c}"]) for c in self._columns if f"c{c}" in texts.columns}
        return records

    def _sample(self, records: bytes) -> pl.DataFrame:
        stop = min(len(records), _SAMPLE_BYTES)
        cut = records.rfind(b"\n", 0, stop) + 1 if stop < len(records) else len(records)
        if not records[:cut].strip():
            return pl.DataFrame()
        every = [c for c, _, _ in self.header.metrics]
        return self._read(records[: cut or len(records)], {}, every).head(_SAMPLE_ROWS)

    def _type_of(self, sample: pl.Series) -> pl.DataType:
        """How the parser may read a column at once: as numbers where the sample holds nothing else, else as text."""
        values = sample.filter(sample.is_not_null() & ~sample.is_in(_numbers.NULL_TEXTS))
        if not len(values):
            return pl.String()
        if values.str.contains(_PLAIN_INTEGER).all():
            return pl.UInt64()
        if self._format.decimal == "." and self._format.thousands != "." and values.str.contains(_PLAIN_FLOAT).all():
            return pl.Float64()
        return pl.String()

    def _read(self, records: bytes, types: dict[int, pl.DataType], columns: list[int]) -> pl.DataFrame:
        identity = set(self.header.at.values()) | set(self.header.nvtx)
        return parse(records, self.header, identity | set(columns), types)

    def _parse(self, records: bytes) -> pl.DataFrame:
        if self._types:
            try:
                return self._read(records, self._types, self._columns)
            except pl.exceptions.PolarsError:
                pass  # a value of another form further down: read this block as text
        return self._read(records, {}, self._columns)

    def _chunk(self, frame: pl.DataFrame) -> Chunk:
        index = self.reading.take(frame.height)
        parts = []
        numbers = [i for i, c in enumerate(self._columns) if frame.schema[f"c{c}"] == pl.Float64]
        integers = [i for i, c in enumerate(self._columns) if frame.schema[f"c{c}"] == pl.UInt64]
        texts = [i for i, c in enumerate(self._columns) if frame.schema[f"c{c}"] == pl.String]
        if numbers:
            parts.append(self._melt(frame, numbers, index, {}))
        if integers:
            exact = self._stack(frame, integers, pl.UInt64)
            scaled = np.tile(self._factors[integers] != 1.0, frame.height)
            parts.append(
                self._melt(
                    frame,
                    integers,
                    index,
                    {"value_int": pl.select(pl.when(~pl.Series(scaled)).then(exact)).to_series()},
                )
            )
        gpu = None
        if texts:
            stacked = self._stack(frame, texts, pl.String)
            values, refused = _numbers.to_float(stacked, self._format)
            self.reading.refused += refused
            parts.append(
                self._rows(
                    values.to_numpy() * np.tile(self._factors[texts], frame.height),
                    texts,
                    index,
                    {"text": _numbers.split_text(stacked, values)},
                )
            )
        names = self._names.cast(pl.String).to_list()
        if GPU_NAME in names:
            column = frame[f"c{self._columns[names.index(GPU_NAME)]}"]
            gpu = column if column.dtype == pl.String else None
        metrics = stack(parts)
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

    def _melt(
        self, frame: pl.DataFrame, places: list[int], index: pl.Series, more: dict[str, pl.Series]
    ) -> pl.DataFrame:
        """Number columns as metric rows, kernel by kernel."""
        values = frame.select(f"c{self._columns[i]}" for i in places).to_numpy()
        return self._rows((values * self._factors[places]).ravel(), places, index, more)

    def _stack(self, frame: pl.DataFrame, places: list[int], dtype: type[pl.DataType]) -> pl.Series:
        """Columns as one series, kernel by kernel."""
        order = np.arange(frame.height * len(places)).reshape(len(places), frame.height).T.ravel()
        whole = pl.concat([frame[f"c{self._columns[i]}"].alias("v").cast(dtype) for i in places], rechunk=True)
        return whole.gather(order)

    def _rows(
        self, values: NDArray[np.float64], places: list[int], index: pl.Series, more: dict[str, pl.Series]
    ) -> pl.DataFrame:
        values[~np.isfinite(values)] = np.nan
        which = np.tile(np.array(places, np.uint32), len(index))
        frame = pl.DataFrame(
            {
                "result_index": np.repeat(index.to_numpy(), len(places)),
                "metric": self._names.gather(which),
                "value": pl.Series(values, nan_to_null=True),
                "unit": self._units.gather(which),
                **more,
            }
        )
        return metric_rows(self.reading, frame)


def _last_of_each(columns: list[tuple[int, str, str | None, float]]) -> list[tuple[int, str, str | None, float]]:
    """One column for each metric: of several with one name the last, as in reports."""
    return list({name: (column, name, unit, factor) for column, name, unit, factor in columns}.values())
