"""W003 divergence: many lanes of a warp do nothing.

What it does
    Finds kernels whose warp instructions run with few of their 32 threads active.

Why it matters
    A warp instruction takes the same issue slot for 8 threads as for 32.

How it decides
    Threads per executed instruction, or threads that were also not predicated off, are below 24. A block size that is
    no multiple of 32 explains idle lanes by itself and is named instead. Memory-bound kernels lose nothing and are left
    out, as are kernels on tensor cores, where single threads issue copies and products by design. So are grids that
    leave nine SMs in ten without a block, where that is the cause (T002), unless the block itself is too small. The
    time at stake is the idle share of the time in which instructions are issued at all, where that was counted, as far
    as the busiest roof or unit leaves room. It is a warning where half the lanes idle and the schedulers issue in at
    least 40 % of the cycles, or where blocks of under 32 threads are the reason.

What to do
    Sort or bucket work so that threads of a warp take the same branch; give a warp one long item instead of each thread
    one (warp-centric loops); compact active items; choose block sizes that are multiples of 32.

When it is wrong
    Predicated instructions are often cheaper than a branch. Idle lanes in code that waits for memory cost little,
    unless the warp waits for its longest lane: then balancing lanes saves waiting, too, and more than is at stake here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import verdicts
from ncuroof.quantity_text import digits, percent
from ncuroof.rules import Limit
from ncuroof.rules._context import gain
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "W003"
NAME = "divergence"
SEVERITY = "info"
NEEDS = ("duration_s", ("threads_pred_on_per_inst", "threads_per_inst"))
TIER = "rules"
LIMITS = {
    "threads": Limit(24.0, "thread", "three quarters of a warp", "Nsight rule ThreadDivergence"),
    "severe": Limit(16.0, "thread", "half the lanes idle: a warning", "half a warp"),
    "issue": Limit(
        0.4, "1", "schedulers that issue less often are not what limits: no warning", "below Nsight's 60 % of peak"
    ),
    "blocks_per_sm": Limit(0.1, "1", "nine SMs in ten without a block are a small grid's fault (T002)", "one block"),
}


def applies() -> pl.Expr:
    """Kernels that do not compute on tensor cores."""
    return ~pl.col("_tensor")


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels with idle lanes; see the module's documentation."""
    active = pl.min_horizontal("threads_pred_on_per_inst", "threads_per_inst")
    # Lanes that exist: a block of 40 threads has two warps with 20 threads each on average.
    lanes = pl.col("block_threads") / (pl.col("block_threads") / 32).ceil()
    alone = (pl.col("grid_blocks") <= 1) | (pl.col("grid_blocks") <= limits["blocks_per_sm"] * pl.col("_sms"))
    issued = pl.col("issue_active").fill_null(1.0).clip(upper_bound=1.0)
    frame = kernels.with_columns(_active=active, _lanes=lanes.fill_null(32.0))
    frame = frame.with_columns(
        _by_block=(pl.col("_active") >= 0.9 * pl.col("_lanes")).fill_null(value=False),
        _stake=pl.col("duration_s") * gain((1 - pl.col("_active") / 32) * issued),
    )
    hit = frame.filter(
        pl.col("_matters")
        & (pl.col("_active") < limits["threads"])
        & (pl.col("verdict") != verdicts.MEMORY)
        & (~alone.fill_null(value=False) | pl.col("_by_block"))
    )
    return findings(
        hit,
        message=_message,
        advice=_advice,
        stake="_stake",
        confidence=lambda k: "medium" if k["_used_pct"] is not None else "low",
        evidence=[
            Evidence("threads_per_inst", "thread", limits["threads"]),
            Evidence("threads_pred_on_per_inst", "thread", limits["threads"]),
            Evidence("block_threads", "thread", None, "launch"),
            Evidence("issue_active", "1", limits["issue"]),
        ],
        severity=lambda k: _severity(k, limits),
    )


def _severity(k: Row, limits: Mapping[str, float]) -> str:
    if k["_active"] >= limits["severe"]:
        return SEVERITY
    issues = k["issue_active"] is None or k["issue_active"] >= limits["issue"]
    small_block = k["_by_block"] and k["block_threads"] is not None and k["block_threads"] < 32
    return "warning" if issues or small_block else SEVERITY


def _message(k: Row) -> str:
    cause = ""
    if k["_by_block"]:
        noun = "thread" if k["block_threads"] == 1 else "threads"
        cause = f": a block of {k['block_threads']:.0f} {noun} has no more"
    elif (k["threads_per_inst"] or 0) >= LIMITS["threads"].value:
        cause = ": the others are predicated off"
    rate = ""
    if k["issue_active"] is not None:
        rate = f"; the schedulers issue in {percent(100 * k['issue_active'])} of the cycles"
    return f"{digits(k['_active'])} of 32 threads are active in an average instruction{cause}{rate}"


def _advice(k: Row) -> str:
    if k["_by_block"]:
        return "Use a block size that is a multiple of 32."
    return "Let threads of a warp take the same branch: sort or bucket the work, or give a warp one item together."
