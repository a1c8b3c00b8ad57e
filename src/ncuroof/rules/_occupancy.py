"""When a kernel is short of warps: what T005 and T006 find, and T007 leaves to them."""

from __future__ import annotations

import polars as pl

THEORETICAL_PCT = 80.0
"""Below it Nsight Compute looks for the limiter (rule TheoreticalOccupancy)."""

GAP_PCT = 10.0
"""Points between theoretical and achieved above which Nsight Compute speaks (rule AchievedOccupancy)."""

ISSUE = 0.6
"""Schedulers that issue more often are not starved (Nsight rule IssueSlotUtilization)."""

TAIL = 0.10
"""A last wave that wastes this much explains a gap by itself (T003)."""


def few_fit(theoretical_pct: float = THEORETICAL_PCT, gap_pct: float = GAP_PCT, issue: float = ISSUE) -> pl.Expr:
    """Few warps fit on an SM, and those that fit are there; not for tensor kernels, which are made that way."""
    theory = pl.col("occupancy_theoretical_pct")
    present = (pl.col("occupancy_achieved_pct") >= theory - gap_pct).fill_null(value=True)
    starved = (pl.col("issue_active") < issue).fill_null(value=True)
    low = (theory < theoretical_pct) & (pl.col("waves") >= 1)
    return low.fill_null(value=False) & present & starved & ~pl.col("_tensor")


def few_active(gap_pct: float = GAP_PCT, tail: float = TAIL) -> pl.Expr:
    """Far fewer warps are active than fit, and neither the grid nor its last wave explains it."""
    gap = pl.col("occupancy_theoretical_pct") - pl.col("occupancy_achieved_pct")
    holds = (gap > gap_pct) & (pl.col("waves") >= 1) & (pl.col("_wave_loss") < tail)
    return holds.fill_null(value=False) & ~pl.col("_tensor")
