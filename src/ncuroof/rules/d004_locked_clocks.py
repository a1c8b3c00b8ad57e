"""D004 locked-clocks: the clocks were locked below what the GPU runs at in production.

What it does
    Says how far below its maximum the SM clock ran while ncu measured, once per report.

Why it matters
    ncu locks the clocks to base by default (up to 2025.4). The time of a compute-bound kernel is then longer than in
    the real program, up to 2.7 times on a T4. The roof is drawn at the measured clock, so the percentages stay right.

How it decides
    Clock control is base, by ncu's command line or by the default of its version, and the measured SM clock is below
    the maximum by more than the threshold. Where the clock was not measured, the setting alone decides.

What to do
    To know the time of the real program, profile with --clock-control none and keep the GPU warm and cool.

When it is wrong
    The clock of a kernel of a few microseconds is not measured well; the median over the report is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._findings import Row
from ncuroof.rules._quality import per_report

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "D004"
NAME = "locked-clocks"
SEVERITY = "note"
NEEDS: tuple[str, ...] = ()
TIER = "roofline"
LIMITS = {
    "clock_share": Limit(
        0.95,
        "1",
        "boost clocks wander by a few percent on their own",
        "96 % of public kernels with locked clocks lie below",
    ),
}


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report whose clocks were locked to base."""
    share = (pl.col("sm_hz") / pl.col("clock_max_hz")).median()
    by_report = share.over("source_sha256")
    low = (by_report < limits["clock_share"]) | by_report.is_null()
    return per_report(
        kernels,
        (pl.col("clock_control") == "base") & low,
        carry=(share.alias("share"), pl.col("clock_control_source").first()),
        message=_message,
        advice="For the time of the real program profile with --clock-control none; the percentages hold as they are.",
    )


def _message(r: Row) -> str:
    share = r["share"]
    measured = f": the SM clock ran at {percent(100 * share)} of its maximum" if isinstance(share, float) else ""
    return f"{r['which']}: clocks locked to base ({r['clock_control_source']}){measured}"
