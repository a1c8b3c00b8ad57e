"""Builds the rows that a rule's ``check`` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Row = Mapping[str, Any]
EVIDENCE = next(c.dtype for c in tables.ANOMALIES if c.name == "evidence")
_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "row": pl.UInt32,
    "message": pl.String,
    "advice": pl.String,
    "time_at_stake_s": pl.Float64,
    "confidence": pl.String,
    "evidence": EVIDENCE,
}


@dataclass(frozen=True)
class Evidence:
    """One number a finding rests on.

    Attributes:
        column: column of the kernels table that holds it; shown under this name.
        unit: its unit.
        limit: the limit it was held against: a number, the name of a column, or None.
        source: where it came from; by default the column's ``*_source``, where there is one.
    """

    column: str
    unit: str
    limit: float | str | None = None
    source: str | None = None


def none() -> pl.DataFrame:
    """No finding."""
    return pl.DataFrame(schema=_SCHEMA)


def findings(
    hit: pl.DataFrame,
    *,
    message: Callable[[Row], str],
    advice: Callable[[Row], str] | str,
    stake: str | None = None,
    confidence: Callable[[Row], str] | str = "high",
    evidence: Sequence[Evidence] = (),
    severity: Callable[[Row], str] | None = None,
) -> pl.DataFrame:
    """One finding per row of ``hit``.

    Args:
        hit: the kernels concerned, with whatever columns the texts use.
        message: what was measured against which limit, from a row.
        advice: what to do next.
        stake: column with the time at stake in seconds; None when it is unknown. Counters that contradict each other
            can give any number: what is not finite becomes unknown, and no more than the kernel's time can be saved.
        confidence: high, medium or low.
        evidence: the numbers it rests on, see :class:`Evidence`.
        severity: overrides the rule's severity per row.
    """
    if hit.is_empty():
        return none()
    cells = _Cells(hit)
    rows = [_RowView(cells, i) for i in range(hit.height)]
    columns = {
        "row": hit["row"],
        "message": pl.Series([message(r) for r in rows], dtype=pl.String),
        "advice": pl.Series([advice if isinstance(advice, str) else advice(r) for r in rows], dtype=pl.String),
        "time_at_stake_s": hit.select(stake=_stake(stake))["stake"],
        "confidence": pl.Series(
            [confidence if isinstance(confidence, str) else confidence(r) for r in rows], dtype=pl.String
        ),
        "evidence": hit.select(evidence=_evidence(evidence, hit.columns))["evidence"],
    }
    if severity is not None:
        columns["severity"] = pl.Series([severity(r) for r in rows], dtype=pl.String)
    return pl.DataFrame(columns)


def _stake(column: str | None) -> pl.Expr:
    if column is None:
        return pl.repeat(None, pl.len(), dtype=pl.Float64)
    value = pl.min_horizontal(pl.col(column).clip(lower_bound=0.0), "duration_s")
    return pl.when(pl.col(column).is_finite()).then(value)


class _Cells:
    """The columns of a frame as lists, each made when it is first asked for: texts use a few of hundreds."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        self._lists: dict[str, list[Any]] = {}

    def __getitem__(self, column: str) -> list[Any]:
        if column not in self._lists:
            if column not in self.frame.columns:
                raise KeyError(column)
            self._lists[column] = self.frame[column].to_list()
        return self._lists[column]


class _RowView(Mapping[str, Any]):
    """One row of a frame, read like a mapping."""

    __slots__ = ("_cells", "_index")

    def __init__(self, cells: _Cells, index: int) -> None:
        self._cells = cells
        self._index = index

    def __getitem__(self, column: str) -> Any:  # noqa: ANN401  a cell of any type
        return self._cells[column][self._index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells.frame.columns)

    def __len__(self) -> int:
        return self._cells.frame.width


def report_findings(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Findings that concern a whole report (or, without a source, the whole run) and no single kernel.

    Args:
        rows: mappings with message, advice, confidence, and optionally time_at_stake_s, evidence, source,
            source_sha256, severity.
    """
    columns = _SCHEMA | {"source": pl.String, "source_sha256": pl.String}
    if any("severity" in r for r in rows):
        columns = columns | {"severity": pl.String}
    complete = [{"evidence": []} | dict(r) for r in rows]
    return pl.DataFrame(complete, schema=columns)


def _evidence(items: Sequence[Evidence], columns: Sequence[str]) -> pl.Expr:
    """The evidence column: a list of structs, built for all rows at once."""
    structs = []
    for item in items:
        own = f"{item.column}_source"
        if item.source is not None:
            source: pl.Expr = pl.lit(item.source)
        else:
            source = pl.col(own) if own in columns else pl.lit(None)
        limit = pl.col(item.limit) if isinstance(item.limit, str) else pl.lit(item.limit)
        structs.append(
            pl.struct(
                metric=pl.lit(item.column.lstrip("_")),
                value=pl.col(item.column).cast(pl.Float64),
                unit=pl.lit(item.unit),
                limit=limit.cast(pl.Float64),
                source=source.cast(pl.String),
            )
        )
    if not structs:
        return pl.lit([], dtype=EVIDENCE)
    known = pl.element().filter(pl.element().struct.field("value").is_not_null())
    return pl.concat_list(structs).cast(EVIDENCE).list.eval(known)
