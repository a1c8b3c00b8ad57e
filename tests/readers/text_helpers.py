"""Reads texts through the chosen reader, as the pipeline does, and gives back plain Python values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof.inputs import InputFile
from ncuroof.readers import choose
from ncuroof.tables import LAUNCHES, METRICS, NSIGHT_RULES

if TYPE_CHECKING:
    from ncuroof.model import Note


@dataclass
class Read:
    reader: str
    launches: list[dict[str, Any]]
    metrics: dict[tuple[int, str], dict[str, Any]]
    rules: list[dict[str, Any]]
    notes: list[Note]

    def value(self, result: int, metric: str) -> float | None:
        return self.metrics[result, metric]["value"]

    def unit(self, result: int, metric: str) -> str | None:
        return self.metrics[result, metric]["unit"]

    def kinds(self) -> set[str]:
        return {n.kind for n in self.notes}


def read_bytes(data: bytes, name: str = "x.txt", want: frozenset[str] | None = None, only: str | None = None) -> Read:
    """Read bytes; checks on the way that every chunk has exactly the promised columns and that indices are complete."""
    file = InputFile(name, None, data, "0" * 64, len(data))
    reader, why = choose(file, only)
    assert why
    report = reader.read(file, why, want)
    launches, rules = [], []
    metrics: dict[tuple[int, str], dict[str, Any]] = {}
    for chunk in report.chunks:
        assert chunk.launches.schema == pl.Schema({c.name: c.dtype for c in LAUNCHES})
        assert chunk.metrics.columns == [c.name for c in METRICS]
        for column in METRICS:
            dtype = chunk.metrics.schema[column.name]
            assert dtype == column.dtype or (
                column.name in ("metric", "unit") and isinstance(dtype, (pl.Categorical, pl.Enum))
            )
        assert chunk.rules.schema == pl.Schema({c.name: c.dtype for c in NSIGHT_RULES})
        assert not chunk.metrics["value"].is_nan().any()
        mine = set(chunk.launches["result_index"].to_list())
        assert set(chunk.metrics["result_index"].to_list()) <= mine
        assert set(chunk.rules["result_index"].to_list()) <= mine
        launches += chunk.launches.rows(named=True)
        rules += chunk.rules.rows(named=True)
        for row in chunk.metrics.with_columns(pl.col("metric", "unit").cast(pl.String)).iter_rows(named=True):
            key = (row["result_index"], row["metric"])
            assert key not in metrics, f"{key} twice"
            metrics[key] = row
    assert [r["result_index"] for r in launches] == list(range(len(launches)))
    return Read(reader.NAME, launches, metrics, rules, report.notes)


def read_text(text: str, **how: Any) -> Read:
    return read_bytes(text.encode(), **how)
