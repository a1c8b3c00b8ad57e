"""Builds the rows that a rule's ``check`` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Row = dict[str, Any]
EVIDENCE = next(c.dtype for c in tables.ANOMALIES if c.name == "evidence")
_SCHEMA = {
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
        stake: column with the time at stake in seconds; None when it is unknown.
        confidence: high, medium or low.
        evidence: the numbers it rests on, see :class:`Evidence`.
        severity: overrides the rule's severity per row.
    """
    rows = []
    for row in hit.iter_rows(named=True):
        found: Row = {
            "row": row["row"],
            "message": message(row),
            "advice": advice if isinstance(advice, str) else advice(row),
            "time_at_stake_s": row[stake] if stake else None,
            "confidence": confidence if isinstance(confidence, str) else confidence(row),
            "evidence": [_evidence(e, row) for e in evidence],
        }
        if severity is not None:
            found["severity"] = severity(row)
        rows.append(found)
    extra = {"severity": pl.String} if severity is not None else {}
    return pl.DataFrame(rows, schema=_SCHEMA | extra)


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


def _evidence(item: Evidence, row: Row) -> Row:
    limit = row[item.limit] if isinstance(item.limit, str) else item.limit
    source = item.source if item.source is not None else row.get(f"{item.column}_source")
    return {
        "metric": item.column,
        "value": row[item.column],
        "unit": item.unit,
        "limit": limit,
        "source": source,
    }
