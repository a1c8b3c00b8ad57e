"""T007 latency-bound: neither memory nor compute is busy.

What it does
    Finds kernels that reach less than 60 % of what either side of the chip can do, where no more telling cause is
    known.

Why it matters
    Such a kernel waits. Faster memory or more FLOP/s would not help it; more work in flight would.

How it decides
    The placement's verdict is latency-bound, every SM has work, the kernel is much longer than a launch, and it owns at
    least 1 % of the report's time. Where every SM had a block and yet the average one was active for less than half of
    the time, that is what it waits for, and the finding says so: blocks of very uneven length, or launch and drain. The
    busiest SM would tell which (T004); without it the idle time less a launch floor is at stake. Where only the roof is
    known and not how busy the units were, the cause may as well be a kernel that is wrong for the size: then it is a
    note without time at stake. Where warp states were counted and one of them dominates, T008 names it instead; grids
    with fewer blocks than SMs are T002, a last wave that accounts for what is missing to 60 % is T003, a shortage of
    warps is T005 or T006, a debug build W005. Two kernels in three of public reports are
    under 60 % on both sides, which is why the share of time counts. The time at stake leads to 60 % of the busiest
    unit, without the last wave.

What to do
    Collect warp states (the full tier) to learn what the warps wait for. In general: more warps, more independent work
    per thread, loads issued earlier.

When it is wrong
    A kernel that does different things one after the other can be busy in each phase and not on average.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import verdicts
from ncuroof.quantity_text import percent
from ncuroof.rules import Limit, _builds, _stalls
from ncuroof.rules._context import by_side, gain
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.rules._occupancy import few_active, few_fit
from ncuroof.rules.t004_load_imbalance import LIMITS as IMBALANCE_LIMITS

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "T007"
NAME = "latency-bound"
SEVERITY = "info"
NEEDS = ("duration_s", ("roof_pct", "sm_pct"))
TIER = "roofline"
LIMITS = {
    "floors": Limit(5.0, "x", "launch and ramp take a fifth of anything shorter", "shortest kernels of public reports"),
    "active": Limit(0.5, "1", "of the cycles: what the average SM at least does in a balanced grid", "judgement"),
    "stall": Limit(0.30, "1", "a state above this is named by T008", "Nsight rule CPIStall"),
    "issue": Limit(0.8, "1", "schedulers that issue more often do not wait", "Nsight rule CPIStall"),
}


IMBALANCE = IMBALANCE_LIMITS["idle"].value
_UNITS_KNOWN = pl.col("sm_pct").is_not_null() & pl.col("memory_pct").is_not_null()


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels that wait for latency; see the module's documentation."""
    named = ((_stalls.largest() > limits["stall"]) & (pl.col("issue_active") < limits["issue"])).fill_null(value=False)
    filled = (pl.col("grid_blocks") >= pl.col("_sms")).fill_null(value=True)
    # Without its last wave the kernel would be shorter and its units busier.
    explained = (pl.col("_used_pct") >= verdicts.HIGH_PCT * (1 - pl.col("_tail_loss"))).fill_null(value=False)
    active = pl.col("sm_cycles_active_avg") / pl.when(pl.col("sm_cycles") > 0).then(pl.col("sm_cycles"))
    empty = (pl.col("waves") >= 1) & (active < limits["active"])
    # With the busiest SM counted, T004 tells imbalance from launch and drain.
    told = pl.col("sm_cycles_active_max").is_not_null() & (pl.col("_sm_idle") - pl.col("_tail_loss") >= IMBALANCE)
    frame = kernels.with_columns(_active=active, _empty=empty.fill_null(value=False))
    hit = frame.filter(
        (pl.col("verdict") == verdicts.LATENCY)
        & pl.col("_matters")
        & (pl.col("duration_s") >= limits["floors"] * pl.col("_floor_s"))
        & filled
        & ~named
        & ~explained
        & ~(pl.col("_empty") & told.fill_null(value=False))
        & ~_builds.debug()
        & ~few_fit()
        & ~few_active()
    ).with_columns(
        # Nothing is known to bind below 60 % of a roof, so that is as far as hiding latency can be trusted to lead.
        _stake=pl.when(_UNITS_KNOWN).then(
            pl.when("_empty")
            .then(pl.col("duration_s") * gain(1 - pl.col("_active")) - pl.col("_floor_s"))
            .otherwise(pl.col("duration_s") * (1 - pl.col("_tail_loss") - pl.col("_used_pct") / verdicts.HIGH_PCT))
        ),
    )
    return findings(
        hit,
        message=_message,
        advice=_advice,
        stake="_stake",
        confidence="medium",
        evidence=[
            Evidence("sm_pct", "%", verdicts.HIGH_PCT, "Nsight's throughput"),
            Evidence("memory_pct", "%", verdicts.HIGH_PCT, "Nsight's throughput"),
            Evidence("roof_pct", "%", verdicts.HIGH_PCT, "max(W/F, Q/B) / T"),
            Evidence("occupancy_achieved_pct", "%"),
            Evidence("issue_active", "1"),
            Evidence("_active", "1", limits["active"], "active cycles of the average SM / cycles"),
        ],
        severity=lambda k: SEVERITY if k["sm_pct"] is not None and k["memory_pct"] is not None else "note",
    )


def _message(k: Row) -> str:
    if k["_empty"]:
        return (
            f"the average SM is active for {percent(100 * k['_active'])} of the time though each had a block: "
            f"blocks of very uneven length, or launch and drain; {k['verdict_reason']}"
        )
    fill = ""
    if k["waves"] is not None and k["waves"] < 1:
        fill = f"; the grid fills {percent(100 * k['waves'])} of the blocks that fit"
    return f"{k['verdict_reason']}{fill}"


def _advice(k: Row) -> str:
    if k["_empty"]:
        return (
            "Give blocks equal work, start the long ones first, or let blocks fetch work (a queue, stream-K); the "
            "busiest SM's active cycles (the rules tier) tell whether that is it."
        )
    known = k["warp_latency"] is not None
    more = "" if known else " The warp states of the full tier tell what the warps wait for."
    return by_side(
        k,
        left=f"Have more bytes in flight: more or wider loads a thread, issued earlier, or more warps.{more}",
        right=f"Give each thread more independent operations (unroll, several accumulators), or more warps.{more}",
        near=f"Overlap loads with arithmetic (prefetch, double buffering) and keep more warps active.{more}",
        unknown=f"Have more work in flight: more warps, more independent work a thread, loads issued earlier.{more}",
    )
