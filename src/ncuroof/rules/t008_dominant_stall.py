"""T008 dominant-stall: warps wait mostly for one thing.

What it does
    Names what the warps of a latency-bound kernel wait for, where one state takes much of their time.

Why it matters
    It is the difference between "slow" and "waits for shared memory": each state has its own remedy.

How it decides
    One warp state takes more than 30 % of the cycles between two instructions of a warp while the schedulers issue in
    less than 80 % of the cycles. Kernels that are busy on a roof are left out: there the wait follows from the roof.
    Being ready and not selected is no wait. The time at stake is the state's share of the time without the last wave
    (T003), as far as the busiest roof or unit leaves room. Grids with fewer blocks than SMs are left to T002,
    debug builds to W005, kernels that own less than 1 % of the report's time are left out.

What to do
    What the finding names; the source page of Nsight Compute shows the lines.

When it is wrong
    States are averages over all warps: a producer warp that waits on purpose counts like the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import digits, percent
from ncuroof.rules import Limit, _builds, _stalls
from ncuroof.rules._context import gain
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.verdicts import HIGH_PCT

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "T008"
NAME = "dominant-stall"
SEVERITY = "info"
NEEDS = ("duration_s", "warp_latency", "issue_active", "stall_long_scoreboard")
TIER = "full"
LIMITS = {
    "share": Limit(0.30, "1", "of the cycles between two instructions", "Nsight rule CPIStall"),
    "issue": Limit(0.8, "1", "schedulers that issue more often do not wait", "Nsight rule CPIStall"),
    "busy_pct": Limit(HIGH_PCT, "%", "above it waiting is the consequence of a roof", "Nsight rule SOLBottleneck"),
}


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels whose warps wait for one thing; see the module's documentation."""
    waits = (_stalls.largest() > limits["share"]) & (pl.col("issue_active") < limits["issue"])
    room = pl.col("_used_pct").fill_null(0) < limits["busy_pct"]
    filled = (pl.col("grid_blocks") >= pl.col("_sms")).fill_null(value=True)
    hit = kernels.filter(pl.col("_matters") & waits & room & filled & ~_builds.debug()).with_columns(
        _stall=_stalls.which(),
        _share=_stalls.largest(),
        # While the last wave leaves SMs empty (T003) no warp waits there.
        _stake=pl.col("duration_s") * gain(_stalls.largest() * (1 - pl.col("_tail_loss"))),
    )
    return findings(
        hit,
        message=_message,
        advice=lambda k: _stalls.STALLS[k["_stall"]][1],
        stake="_stake",
        confidence=lambda k: "medium" if k["_used_pct"] is not None else "low",
        evidence=[
            Evidence("_share", "1", limits["share"], "cycles in that state / cycles between two instructions"),
            Evidence("warp_latency", "cycle"),
            Evidence("issue_active", "1", limits["issue"]),
            Evidence("_used_pct", "%", limits["busy_pct"], "busiest roof or unit"),
        ],
    )


def _message(k: Row) -> str:
    return (
        f"warps spend {percent(100 * k['_share'])} of their time waiting for {_stalls.STALLS[k['_stall']][0]}: "
        f"{digits(k[k['_stall']])} of {digits(k['warp_latency'])} cycles an instruction; the schedulers issue in "
        f"{percent(100 * k['issue_active'])} of the cycles"
    )
