"""Turns columns of a wide table into rows of the metrics table, all cells at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from ncuroof.readers import _numbers
from ncuroof.tables import METRICS, empty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ncuroof.inputs import InputFile

_KEPT = 8


@dataclass(frozen=True)
class Melter:
    """The metric columns of a table.

    Attributes:
        columns: their names in the frames to come.
        names: metric of each (Categorical).
        units: base unit of each (Categorical).
        factors: what to multiply the values of each with.
        order: ``F`` gives column after column, as they lie in memory; ``C`` gives kernel after kernel.
        file: the file, for its digest.
    """

    columns: list[str]
    names: pl.Series
    units: pl.Series
    factors: NDArray[np.float64]
    order: Literal["C", "F"]
    file: InputFile
    _constant: dict[tuple[str | None, pl.DataType], pl.Series] = field(default_factory=dict, repr=False)
    _kept: dict[tuple[tuple[int, ...], int], tuple[pl.Series, pl.Series]] = field(default_factory=dict, repr=False)

    def melt(self, frame: pl.DataFrame, index: pl.Series, form: _numbers.NumberFormat) -> tuple[pl.DataFrame, int]:
        """Metric rows of all cells.

        Args:
            frame: a row per kernel; metric columns are Float64, UInt64 or text.
            index: the result index of each row.
            form: how texts write numbers.

        Returns:
            Columns of :data:`ncuroof.tables.METRICS`; and how many texts were refused as numbers.
        """
        frame = frame[self.columns]
        numbers, integers, texts = self._kinds(frame)
        parts: list[pl.DataFrame] = []
        refused = 0
        if numbers:
            parts.append(self._rows(self._values(frame, numbers), numbers, index, None, None))
        if integers:
            exact = self._stack(frame, integers)
            parts.append(self._rows(exact.cast(pl.Float64).to_numpy(), integers, index, exact, None))
        if texts:
            stacked = self._stack(frame, texts)
            values, refused = _numbers.to_float(stacked, form)
            factors, _ = self._spread(self.factors[texts], index.to_numpy())
            exact = _numbers.to_integer(stacked, values, pl.Series(factors), form)
            text = _numbers.split_text(stacked, values)
            parts.append(self._rows(values.to_numpy() * factors, texts, index, exact, text))
        return pl.concat(parts) if parts else empty(METRICS), refused

    def _kinds(self, frame: pl.DataFrame) -> tuple[list[int], list[int], list[int]]:
        """Which columns hold numbers, integers that stay exact since nothing scales them, and texts."""
        numbers, integers, texts = [], [], []
        for place, kind in enumerate(frame.dtypes):
            if isinstance(kind, pl.String):
                texts.append(place)
            elif isinstance(kind, pl.UInt64) and self.factors[place] == 1.0:
                integers.append(place)
            else:
                numbers.append(place)
        return numbers, integers, texts

    def _values(self, frame: pl.DataFrame, places: list[int]) -> NDArray[np.float64]:
        """Columns of numbers as one array in this table's order, scaled; NaN for null."""
        cells = frame[:, places].to_numpy(order="c" if self.order == "C" else "fortran", writable=True)
        cells = cells.astype(np.float64, copy=False)
        if (self.factors[places] != 1.0).any():
            cells *= self.factors[places]
        return cells.ravel(order=self.order)

    def _stack(self, frame: pl.DataFrame, places: list[int]) -> pl.Series:
        """Columns of one type as one series."""
        whole = pl.concat(frame[:, places].get_columns(), rechunk=True).alias("cells")
        if self.order == "F":
            return whole
        return whole.gather(np.arange(len(whole)).reshape(len(places), frame.height).T.ravel())

    def _spread(self, of_columns: NDArray[Any], of_rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """What belongs to columns and what belongs to rows, once for every cell, in this table's order."""
        if self.order == "F":
            return np.repeat(of_columns, len(of_rows)), np.tile(of_rows, len(of_columns))
        return np.tile(of_columns, len(of_rows)), np.repeat(of_rows, len(of_columns))

    def _titles(self, places: tuple[int, ...], rows: int) -> tuple[pl.Series, pl.Series]:
        """Metric and unit of every cell. Blocks mostly have as many rows as one before them: the last ones are kept."""
        known = self._kept.get((places, rows))
        if known is None:
            which, _ = self._spread(np.array(places, np.uint32), np.empty(rows, np.bool_))
            known = self.names.gather(which), self.units.gather(which)
            if len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[places, rows] = known
        return known

    def _rows(
        self,
        values: NDArray[np.float64],
        places: list[int],
        index: pl.Series,
        exact: pl.Series | None,
        text: pl.Series | None,
    ) -> pl.DataFrame:
        names, units = self._titles(tuple(places), len(index))
        _, result = self._spread(np.empty(len(places), np.bool_), index.to_numpy())
        finite = np.isfinite(values)
        whole = bool(finite.all())
        rows = len(values)
        return pl.DataFrame(
            {
                "source_sha256": self._same(self.file.sha256, rows),
                "result_index": result,
                "metric": names,
                "value": pl.Series(values if whole else np.where(finite, values, np.nan), nan_to_null=not whole),
                "value_int": self._same(None, rows, pl.UInt64()) if exact is None else exact,
                "text": self._same(None, rows) if text is None else text,
                "unit": units,
            }
        )

    def _same(self, value: str | None, rows: int, kind: pl.DataType = pl.String()) -> pl.Series:  # noqa: B008
        """A column of one value: a piece of the longest one that was needed so far."""
        known = self._constant.get((value, kind))
        if known is None or len(known) < rows:
            known = self._constant[value, kind] = pl.Series([value], dtype=kind).new_from_index(0, rows)
        return known.head(rows)
