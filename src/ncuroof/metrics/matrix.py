"""Turns the long metrics table into one NumPy array per needed metric: a pivot, by scattering over factorized ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def _rows_of(launches: pl.DataFrame, metrics: pl.DataFrame) -> NDArray[np.int64]:
    """For each metric row, the row of its launch; -1 where there is none.

    Metric rows of a result follow one another, so runs are looked up, not rows.
    """
    runs = (
        metrics.select(pl.struct("source_sha256", "result_index").rle().alias("run"))
        .unnest("run")
        .rename({"len": "_length"})
        .unnest("value")
    )
    index = launches.select("source_sha256", "result_index").with_row_index("_row")
    found = runs.join(index, on=["source_sha256", "result_index"], how="left", maintain_order="left")
    rows = found["_row"].cast(pl.Int64).fill_null(-1).to_numpy()
    return np.repeat(rows, found["_length"].to_numpy())


def _columns_of(names: pl.Series, wanted: dict[str, int]) -> NDArray[np.int64]:
    """For each metric row, the column of its metric; -1 where it is not wanted."""
    if isinstance(names.dtype, (pl.Categorical, pl.Enum)):
        used = names.drop_nulls().unique()
        codes, texts = used.to_physical().to_numpy(), used.cast(pl.String).to_list()
        lookup = np.full(int(codes.max(initial=0)) + 2, -1, dtype=np.int64)
        lookup[codes] = [wanted.get(text, -1) for text in texts]
        found_codes: NDArray[np.int64] = lookup[names.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()]
        return found_codes
    table = pl.DataFrame(
        {"metric": list(wanted), "_column": list(wanted.values())}, schema={"metric": pl.String, "_column": pl.Int64}
    )
    found = names.alias("metric").to_frame().join(table, on="metric", how="left", maintain_order="left")
    return np.asarray(found["_column"].fill_null(-1).to_numpy(), dtype=np.int64)


def scatter(launches: pl.DataFrame, metrics: pl.DataFrame, wanted: Iterable[str]) -> dict[str, Floats]:
    """The wanted metrics as arrays over the launches.

    Args:
        launches: one row per result, with ``source_sha256`` and ``result_index``.
        metrics: columns of :data:`ncuroof.tables.METRICS`; rows of other results and other metrics are passed over.
        wanted: metric names.

    Returns:
        Metric name to an array as long as ``launches``; NaN where the result lacks the metric or the report holds NaN
        or an infinity (the profiler's sign for "not measured"). Metrics that no result holds are left out. A metric
        given twice for one result keeps its last value, as Nsight Compute does.
    """
    if not launches.height or not metrics.height:
        return {}
    columns = {name: i for i, name in enumerate(wanted)}
    rows, cols = _rows_of(launches, metrics), _columns_of(metrics["metric"], columns)
    value = metrics["value"]
    if "value_int" in metrics.columns and metrics["value_int"].null_count() < metrics.height:
        value = metrics.select(pl.coalesce("value", pl.col("value_int").cast(pl.Float64))).to_series()
    numbers = value.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    keep = (rows >= 0) & (cols >= 0) & np.isfinite(numbers)
    matrix = np.full((len(columns), launches.height), np.nan)
    matrix[cols[keep], rows[keep]] = numbers[keep]
    held = np.isfinite(matrix).any(axis=1)
    return {name: matrix[i] for name, i in columns.items() if held[i]}


def scatter_text(launches: pl.DataFrame, metrics: pl.DataFrame, wanted: Iterable[str]) -> dict[str, list[str | None]]:
    """As :func:`scatter`, for metrics whose value is text; None where a result has none."""
    names = list(wanted)
    found: dict[str, list[str | None]] = {}
    if not names or "text" not in metrics.columns:
        return found
    held = metrics.filter(pl.col("text").is_not_null() & pl.col("metric").cast(pl.String).is_in(names))
    rows = _rows_of(launches, held) if held.height else np.empty(0, np.int64)
    for row, name, text in zip(
        rows.tolist(), held["metric"].cast(pl.String).to_list(), held["text"].to_list(), strict=True
    ):
        if row >= 0:
            found.setdefault(name, [None] * launches.height)[row] = text
    return found
