"""Turns columns of a wide table into rows of the metrics table, all cells at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from ncuroof.readers import _numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    """

    columns: list[str]
    names: pl.Series
    units: pl.Series
    factors: NDArray[np.float64]
    order: Literal["C", "F"]
    _kept: dict[tuple[tuple[int, ...], int], tuple[pl.Series, pl.Series]] = field(default_factory=dict, repr=False)

    def melt(self, frame: pl.DataFrame, index: pl.Series, form: _numbers.NumberFormat) -> tuple[pl.DataFrame, int]:
        """Metric rows of all cells.

        Args:
            frame: a row per kernel; metric columns are Float64, UInt64 or text.
            index: the result index of each row.
            form: how texts write numbers.

        Returns:
            ``result_index``, ``metric``, ``value``, ``unit`` and, where there are any, ``value_int`` and ``text``;
            and how many texts were refused as numbers.
        """
        types = dict(zip(frame.columns, frame.dtypes, strict=True))
        numbers, integers, texts = (
            [i for i, c in enumerate(self.columns) if types[c] == kind] for kind in (pl.Float64, pl.UInt64, pl.String)
        )
        parts: list[pl.DataFrame] = []
        refused = 0
        if numbers:
            parts.append(self._rows(self._values(frame, numbers), numbers, index, {}))
        if integers:
            exact = self._stack(frame, integers)
            if (self.factors[integers] != 1.0).any():
                unscaled, _ = self._spread(self.factors[integers] == 1.0, index.to_numpy())
                exact = pl.select(pl.when(pl.Series(unscaled)).then(exact)).to_series()
            parts.append(self._rows(self._values(frame, integers), integers, index, {"value_int": exact}))
        if texts:
            stacked = self._stack(frame, texts)
            values, refused = _numbers.to_float(stacked, form)
            factors, _ = self._spread(self.factors[texts], index.to_numpy())
            more = {
                "text": _numbers.split_text(stacked, values),
                "value_int": _numbers.to_integer(stacked, values, pl.Series(factors), form),
            }
            parts.append(self._rows(values.to_numpy() * factors, texts, index, more))
        return pl.concat(parts, how="diagonal") if parts else pl.DataFrame(), refused

    def _values(self, frame: pl.DataFrame, places: list[int]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self._stack(frame, places).cast(pl.Float64).to_numpy()
        if (self.factors[places] == 1.0).all():
            return values
        factors, _ = self._spread(self.factors[places], np.empty(frame.height, np.bool_))
        scaled: NDArray[np.float64] = values * factors
        return scaled

    def _stack(self, frame: pl.DataFrame, places: list[int]) -> pl.Series:
        """Columns of one type as one series."""
        whole = pl.concat([frame[self.columns[i]].alias("cells") for i in places], rechunk=True)
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
        self, values: NDArray[np.float64], places: list[int], index: pl.Series, more: dict[str, pl.Series]
    ) -> pl.DataFrame:
        names, units = self._titles(tuple(places), len(index))
        _, result = self._spread(np.empty(len(places), np.bool_), index.to_numpy())
        finite = np.isfinite(values)
        whole = bool(finite.all())
        number = pl.Series(values if whole else np.where(finite, values, np.nan), nan_to_null=not whole)
        return pl.DataFrame(
            {
                "result_index": result,
                "metric": names,
                "value": number,
                "unit": units,
                **more,
            }
        )
