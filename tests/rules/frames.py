"""Frames for rule tests: every column a rule can meet, null unless given; placed for real."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from ncuroof import roofline, rules, store
from ncuroof.config import Config
from ncuroof.paths import PATH_NAMES

if TYPE_CHECKING:
    from ncuroof.rules import Outcome

ROOFS = {f"roof_flop_s_{p}{end}": t for p in PATH_NAMES for end, t in (("", pl.Float64), ("_source", pl.String))} | {
    f"roof_bytes_s{level}{end}": t
    for level in ("", "_l2", "_l1")
    for end, t in (("", pl.Float64), ("_source", pl.String))
}
ROOFS |= {f"roof_boost_flop_s_{p}": pl.Float64 for p in PATH_NAMES}
COLUMNS = {c.name: c.dtype for c in store.stored_columns()} | ROOFS
DEFAULTS = {"source": "run.ncu-rep", "source_sha256": "0" * 64, "kernel_name": "k", "cc_major": 9, "cc_minor": 0}


def placed(*rows: dict[str, Any]) -> pl.DataFrame:
    """A placed kernels table with a ``row`` column. An unknown column is an error."""
    unknown = sorted({k for r in rows for k in r} - set(COLUMNS))
    if unknown:
        msg = f"no such column: {', '.join(unknown)}"
        raise KeyError(msg)
    numbered = [dict.fromkeys(COLUMNS) | DEFAULTS | {"result_index": i} | r for i, r in enumerate(rows)]
    return roofline.place(pl.DataFrame(numbered, schema=COLUMNS).with_row_index("row"))


def run(code: str, *rows: dict[str, Any], **thresholds: float) -> Outcome:
    """Run one rule over these kernels."""
    return rules.run(placed(*rows), Config(select=(code,), thresholds={code: thresholds}))


def hits(code: str, *rows: dict[str, Any], **thresholds: float) -> list[int]:
    """The rows that one rule finds, in order."""
    return sorted(run(code, *rows, **thresholds).findings["row"].to_list())
