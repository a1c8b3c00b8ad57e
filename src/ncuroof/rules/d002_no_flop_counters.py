"""D002 no-flop-counters: the report does not tell how much arithmetic was executed.

What it does
    Counts the kernels for which no floating-point work can be had: no thread-instruction counts, no tensor operation
    counts, and no annotation of the shape.

Why it matters
    Without W a kernel has a place on the bandwidth axis only; whether it computes near its peak stays unknown.

How it decides
    The placement's ``flop`` is null.

What to do
    Profile with the roofline tier of ``ncuroof collect``; ncu's default section set has no FLOP counters.

When it is wrong
    Never for what the report holds; with the shape known, an annotation (``ncuroof.annotate``) gives the useful work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.rules._quality import per_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ncuroof.rules import Limit

CODE = "D002"
NAME = "no-flop-counters"
SEVERITY = "note"
NEEDS: tuple[str, ...] = ()
TIER = "roofline"
LIMITS: dict[str, Limit] = {}


def check(kernels: pl.DataFrame, _limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report that holds kernels without any known work."""
    return per_report(
        kernels,
        pl.col("flop").is_null(),
        message=lambda r: f"{r['which']}: no FLOP counters for the path used, so no place on a FLOP roof",
        advice="Collect the roofline tier (`ncuroof collect`); ncu's default section set has no FLOP counters.",
    )
