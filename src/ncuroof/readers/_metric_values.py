"""Turns rows of section, name, unit and value texts into the metrics table: names mapped, values in base units."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.readers import _numbers
from ncuroof.readers._display_names import is_metric_name, metric_name
from ncuroof.readers._reading import GPU_NAME, Reading, metric_rows, stack
from ncuroof.readers._units import base_unit, counts_whole, unit_of
from ncuroof.tables import METRICS, empty

if TYPE_CHECKING:
    from collections.abc import Callable

_SAMPLE_ROWS = 200_000
_WHAT = ("section", "item", "metric", "unit", "cc")
EXTREMES = {"minimum": ":min", "maximum": ":max"}
"""Columns of a summary beside the average, and what their metrics' names end in."""


class MetricValues:
    """Converts the metric rows of one table, block by block; the number format is decided from the first.

    Args:
        reading: the file.
        further: finds more evidence on the number format where a block does not settle it.
    """

    def __init__(self, reading: Reading, further: Callable[[], _numbers.Evidence]) -> None:
        self.reading = reading
        self._further = further
        self._format: _numbers.NumberFormat | None = None
        self._names: dict[tuple[Any, ...], tuple[str, str | None, float, bool]] = {}

    @property
    def format(self) -> _numbers.NumberFormat:
        """The number format; that of the C locale as long as no number has been seen."""
        return self._format or _numbers.NumberFormat(".", ",")

    def metrics(self, rows: pl.DataFrame, value: str = "value") -> pl.DataFrame:
        """The metrics table of some rows.

        Args:
            rows: ``result_index``, ``metric`` (not empty), the column named by ``value`` and, where known, ``section``,
                ``item``, ``unit``, ``cc``, ``minimum`` and ``maximum``, all but the first as printed.
            value: name of the column that holds the values.

        Returns:
            Columns of :data:`ncuroof.tables.METRICS`; one row for each result and metric.
        """
        if not rows.height:
            return empty(METRICS)
        keys = [k for k in _WHAT if k in rows.columns]
        table = self._vocabulary(rows, keys)
        rows = rows.join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")
        if self.reading.want is not None:
            rows = rows.filter(pl.col("_name").is_in([*self.reading.want, GPU_NAME]))
            if not rows.height:
                return empty(METRICS)
        if self._format is None:
            self._format = self._decide(rows, value)
        frame = self._scaled(rows, value, "")
        # The details page repeats some metrics, rounded more or less.
        if table["_name"].is_duplicated().any():
            frame = _most_exact(frame)
        parts = [metric_rows(self.reading, frame)]
        parts.extend(
            metric_rows(self.reading, self._scaled(rows, column, suffix))
            for column, suffix in EXTREMES.items()
            if column in rows.columns
        )
        return stack(parts)

    def _vocabulary(self, rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
        """The distinct (section, item, metric, unit, CC) of some rows with metric name, base unit and factor."""
        counted = rows.group_by(keys, maintain_order=True).len()
        names, units, factors, own = [], [], [], []
        for row in counted.iter_rows(named=True):
            key = tuple(row[k] for k in keys)
            known = self._names.get(key)
            if known is None:
                known = self._names[key] = self._name(row)
            names.append(known[0])
            units.append(known[1])
            factors.append(known[2])
            own.append(known[3])
            if not known[3] and known[0] == row["metric"] and not is_metric_name(known[0]):
                self.reading.unknown[known[0]] = self.reading.unknown.get(known[0], 0) + row["len"]
        return counted.select(keys).with_columns(
            pl.Series("_name", names, dtype=pl.String),
            pl.Series("_unit", units, dtype=pl.String),
            pl.Series("_factor", factors, dtype=pl.Float64),
            pl.Series("_own", own, dtype=pl.Boolean),
        )

    def _name(self, row: dict[str, Any]) -> tuple[str, str | None, float, bool]:
        """Metric name, base unit, factor, and whether the metric was given by its own name."""
        printed = row["metric"].strip()
        base, factor = unit_of(printed, row.get("unit"))
        if is_metric_name(printed):
            return printed, base, factor, True
        # With --print-metric-name label-name the name follows the label.
        last = printed.split()[-1].strip("()[]") if printed else printed
        if "__" in last and is_metric_name(last):
            return last, base, factor, True
        cc = None
        with contextlib.suppress(ValueError):
            cc = float((row.get("cc") or "").replace(",", "."))
        known = metric_name(row.get("section"), row.get("item"), printed, row.get("unit"), cc)
        return known or row["metric"], base, factor, False

    def _decide(self, rows: pl.DataFrame, value: str) -> _numbers.NumberFormat:
        sample = rows.head(_SAMPLE_ROWS)
        kinds = sample.group_by("_name", "unit") if "unit" in sample.columns else sample.group_by("_name")
        table = kinds.len().drop("len")
        units = table["unit"].to_list() if "unit" in table.columns else [None] * table.height
        names = table["_name"].to_list()
        table = table.with_columns(
            pl.Series("_whole", [counts_whole(n, u) for n, u in zip(names, units, strict=True)], dtype=pl.Boolean),
            pl.Series("_percent", [base_unit(u)[0] == "%" for u in units], dtype=pl.Boolean),
        )
        on = [c for c in ("_name", "unit") if c in table.columns]
        sample = sample.join(table, on=on, how="left", nulls_equal=True)
        evidence = _numbers.gather(
            sample[value], sample["_whole"].fill_null(False), sample["_percent"].fill_null(False)
        )
        return self.reading.number_format(evidence, self._further)

    def _scaled(self, rows: pl.DataFrame, column: str, suffix: str) -> pl.DataFrame:
        texts = rows[column]
        values, refused = _numbers.to_float(texts, self.format)
        self.reading.refused += refused
        frame = rows.select(
            "result_index",
            (pl.col("_name") + suffix).cast(pl.Categorical).alias("metric")
            if suffix
            else pl.col("_name").alias("metric"),
            (values * pl.col("_factor")).alias("value"),
            pl.col("_unit").alias("unit"),
            _numbers.split_text(texts, values).alias("text"),
            texts.alias("_printed"),
            pl.col("_own"),
            pl.col("_factor"),
        )
        exact = _numbers.to_integer(texts, values, frame["_factor"], self.format)
        return frame.with_columns(exact.alias("value_int"), pl.col("metric").cast(pl.Categorical))


def _most_exact(frame: pl.DataFrame) -> pl.DataFrame:
    """One row for each kernel and metric: with a value, by its own name, with the most digits; else the last."""
    digits = frame["_printed"].str.count_matches(r"\d")
    ranked = frame.with_columns(
        (pl.col("value").is_not_null() | pl.col("text").is_not_null()).alias("_has"), digits.alias("_digits")
    ).with_row_index("_row")
    kept = ranked.sort(["_has", "_own", "_digits", "_row"]).unique(["result_index", "metric"], keep="last").sort("_row")
    return kept.drop("_has", "_digits", "_row")
