"""W003 divergence: many lanes of a warp do nothing.

What it does
    Finds kernels whose warp instructions run with few of their 32 threads active.

Why it matters
    A warp instruction takes the same time for 8 threads as for 32.

How it decides
    Threads per executed instruction, or threads that were also not predicated off, are below 24. A block size that is
    no multiple of 32 explains idle lanes by itself and is named instead. Memory-bound kernels lose nothing and are left
    out, as are kernels on tensor cores, where single threads issue copies and products by design. The time at stake is
    the idle share, as far as the busiest roof or unit leaves room, so it is an upper bound.

What to do
    Sort or bucket work so that threads of a warp take the same branch; give a warp one long item instead of each thread
    one (warp-centric loops); compact active items; choose block sizes that are multiples of 32.

When it is wrong
    Predicated instructions are often cheaper than a branch. Idle lanes in code that waits for memory cost little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import roofline
from ncuroof.quantity_text import digits
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
}


def applies() -> pl.Expr:
    """Kernels that do not compute on tensor cores."""
    return ~pl.col("_tensor")


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels with idle lanes; see the module's documentation."""
    active = pl.min_horizontal("threads_pred_on_per_inst", "threads_per_inst")
    # Lanes that exist: a block of 40 threads has two warps with 20 threads each on average.
    lanes = pl.col("block_threads") / (pl.col("block_threads") / 32).ceil()
    hit = kernels.with_columns(_active=active, _lanes=lanes.fill_null(32.0)).filter(
        pl.col("_matters") & (pl.col("_active") < limits["threads"]) & (pl.col("verdict") != roofline.MEMORY)
    )
    hit = hit.with_columns(
        _stake=pl.col("duration_s") * gain(1 - pl.col("_active") / 32),
        _by_block=pl.col("_active") >= 0.9 * pl.col("_lanes"),
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
        ],
        severity=lambda k: "warning" if k["_active"] < limits["severe"] else SEVERITY,
    )


def _message(k: Row) -> str:
    cause = ""
    if k["_by_block"]:
        noun = "thread" if k["block_threads"] == 1 else "threads"
        cause = f": a block of {k['block_threads']:.0f} {noun} has no more"
    elif (k["threads_per_inst"] or 0) >= LIMITS["threads"].value:
        cause = ": the others are predicated off"
    return f"{digits(k['_active'])} of 32 threads are active in an average instruction{cause}"


def _advice(k: Row) -> str:
    if k["_by_block"]:
        return "Use a block size that is a multiple of 32."
    return "Let threads of a warp take the same branch: sort or bucket the work, or give a warp one item together."
