"""The whole analysis as plain Python values with a stable order of keys: what the machine-readable formats write."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ncuroof import __version__, suite, tables
from ncuroof.reporters._names import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from ncuroof.model import Analysis

SCHEMA = "ncuroof-analysis"
SCHEMA_VERSION = "1.1"
"""Version of the JSON layout. A new key raises the second number, a changed or missing one the first."""

_IDENTITY = tuple(c.name for c in tables.LAUNCHES)
_WORKLOAD = tuple(c.name for c in tables.WORKLOAD)
_PLACEMENT = tuple(c.name for c in tables.PLACEMENT)
_FINDING = tuple(c.name for c in tables.ANOMALIES)


def header(analysis: Analysis) -> dict[str, Any]:
    """Which layout this is, what wrote it and over how much."""
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "tables_version": tables.SCHEMA_VERSION,
        "tool": {"name": "ncuroof", "version": __version__},
        "counts": {
            "kernels": analysis.kernels.height,
            "findings": analysis.findings.height,
            "skips": len(analysis.skips),
            "sources": len(analysis.dataset.sources),
        },
    }


def kernels(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """One record per kernel: identity, workload and placement with every key, and the quantities that are known.

    ``quantities`` maps the column name to ``{"value": …, "source": …}``; units are the column's suffix.
    """
    frame = analysis.kernels
    present = set(frame.columns)
    fixed = {"row", *_IDENTITY, *_WORKLOAD, *_PLACEMENT}
    quantities = [c for c in frame.columns if c not in fixed and not (c.endswith("_source") and c[:-7] in present)]
    for row in frame.iter_rows(named=True):
        yield {
            "row": row.get("row"),
            **{name: plain(row.get(name)) for name in _IDENTITY},
            "workload": {name: plain(row.get(name)) for name in _WORKLOAD},
            "placement": {name: plain(row.get(name)) for name in _PLACEMENT},
            "quantities": {
                name: {"value": value, "source": plain(row.get(f"{name}_source"))}
                for name in quantities
                if (value := plain(row[name])) is not None
            },
        }


def findings(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """One record per finding, in the order of the analysis; evidence as a list of records."""
    yield from _finding_records(analysis.findings)


def _finding_records(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for row in frame.iter_rows(named=True):
        record = {name: plain(row[name]) for name in _FINDING}
        record["evidence"] = record["evidence"] or []
        yield record


def suite_rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """One record per kernel and rule, those on most GPU time first; see :func:`ncuroof.suite.rows`."""
    for row in suite.rows(analysis).iter_rows(named=True):
        yield {name: plain(value) for name, value in row.items()}


def nsight_findings(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """One record per finding that Nsight Compute alone makes and that is not among the findings."""
    if analysis.nsight is not None:
        yield from _finding_records(analysis.nsight)


def skips(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """One record per rule that could not judge some kernels."""
    for skip in analysis.skips:
        yield {"code": skip.code, "count": skip.count, "missing": dict(sorted(skip.missing.items()))}


def notes(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """One record per note of a reader."""
    for note in analysis.dataset.notes:
        yield {"kind": clean(note.kind), "message": clean(note.message), "source": clean(note.source)}


def sources(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """One record per input file."""
    for source in analysis.dataset.sources:
        yield {
            "name": clean(source.name),
            "sha256": source.sha256,
            "size": source.size,
            "format": source.format,
            "recognised": clean(source.recognised),
        }


def nsight_rules(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Nsight Compute's own rule results as they stand in the reports."""
    for row in frame.iter_rows(named=True):
        yield {name: plain(value) for name, value in row.items()}


def plain(value: Any) -> Any:  # noqa: ANN401  any value of a table cell
    """A table cell as JSON can hold it: text that encodes, no NaN and no infinity (null instead)."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


def dump(value: object, *, indent: int | None = None) -> str:
    """JSON in ASCII alone, so that no control or bidirectional character reaches a terminal; NaN would be an error."""
    separators = (",", ":") if indent is None else None
    return json.dumps(value, ensure_ascii=True, allow_nan=False, indent=indent, separators=separators)
