"""T005 low-occupancy: few warps fit on an SM, and latency is not hidden.

What it does
    Finds kernels whose registers, shared memory or block size keep an SM from holding enough warps, where the kernel
    waits for latency and not for a roof. Names the resource that limits.

Why it matters
    A scheduler hides the latency of one warp with others. With few warps it has nothing to issue.

How it decides
    Theoretical occupancy is low, no roof or unit is busy, the grid fills the GPU at least once, and the warps that fit
    are indeed there (achieved occupancy close to theoretical: otherwise T006). Kernels that compute on tensor cores are
    left out: they run at 10 to 25 % by design, with their tiles in shared memory and registers. Where the issue rate is
    known it must be low as well. Of all public kernels 45 % have low theoretical occupancy; most of them lose nothing.

What to do
    By the limiter: fewer registers (launch bounds, smaller tiles per thread), less shared memory per block, or a block
    size that divides the SM's warps. More independent work per thread hides latency just as well.

When it is wrong
    A kernel with many loads in flight per thread needs few warps (Volkov 2010). Raising occupancy by spilling
    registers makes it slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent, si
from ncuroof.rules import Limit
from ncuroof.rules._context import gain
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.rules._occupancy import GAP_PCT, ISSUE, THEORETICAL_PCT, few_fit
from ncuroof.verdicts import HIGH_PCT

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "T005"
NAME = "low-occupancy"
SEVERITY = "info"
NEEDS = ("occupancy_theoretical_pct", "waves", "duration_s", "sm_pct", ("memory_pct", "memory_roof_pct"))
TIER = "roofline"
LIMITS = {
    "theoretical_pct": Limit(
        THEORETICAL_PCT, "%", "below it Nsight looks for the limiter", "Nsight rule TheoreticalOccupancy"
    ),
    "busy_pct": Limit(HIGH_PCT, "%", "above it latency is hidden well enough", "Nsight rule SOLBottleneck"),
    "issue": Limit(ISSUE, "1", "schedulers that issue more often are not starved", "Nsight rule IssueSlotUtilization"),
    "achieved_gap_pct": Limit(GAP_PCT, "%", "a larger gap has another cause (T006)", "Nsight rule AchievedOccupancy"),
}

LIMITERS = ("registers", "shared", "warps", "blocks", "barriers")


def applies() -> pl.Expr:
    """Kernels that do not compute on tensor cores."""
    return ~pl.col("_tensor")


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels that are short of warps; see the module's documentation."""
    theory = pl.col("occupancy_theoretical_pct")
    short = few_fit(limits["theoretical_pct"], limits["achieved_gap_pct"], limits["issue"])
    room = pl.col("_used_pct") < limits["busy_pct"]
    fits = [pl.col(f"occupancy_limit_{name}") for name in LIMITERS]
    smallest = pl.min_horizontal(fits)
    hit = kernels.filter(pl.col("_matters") & short & room).with_columns(
        _stake=pl.col("duration_s") * gain(1 - theory / 100),
        _fit=smallest,
        _limiter=pl.concat_list(
            pl.when(pl.col(f"occupancy_limit_{name}") == smallest).then(pl.lit(name)) for name in LIMITERS
        ).list.drop_nulls(),
    )
    return findings(
        hit,
        message=_message,
        advice=_advice,
        stake="_stake",
        confidence=lambda k: "medium" if k["issue_active"] is not None else "low",
        evidence=[
            Evidence("occupancy_theoretical_pct", "%", limits["theoretical_pct"], "launch"),
            Evidence("occupancy_achieved_pct", "%", "occupancy_theoretical_pct"),
            Evidence("_fit", "block", None, "blocks that fit on an SM"),
            Evidence("registers_per_thread", "register", None, "launch"),
            Evidence("_used_pct", "%", limits["busy_pct"], "busiest roof or unit"),
            Evidence("issue_active", "1", limits["issue"]),
        ],
    )


def _message(k: Row) -> str:
    by = " and ".join(_resource(name, k) for name in k["_limiter"] or []) or "an unknown resource"
    return (
        f"only {percent(k['occupancy_theoretical_pct'])} of an SM's warps fit, limited by {by}, and no roof or unit "
        f"is busier than {percent(k['_used_pct'])}"
    )


def _resource(name: str, k: Row) -> str:
    if name == "registers":
        return f"registers ({k['registers_per_thread']:.0f} a thread)" if k["registers_per_thread"] else name
    if name == "shared":
        return f"shared memory{_shared(k)}"
    if name == "warps":
        return f"block size ({k['block_threads']:.0f} threads)" if k["block_threads"] else "block size"
    return {"blocks": "the limit on blocks per SM (blocks are small)", "barriers": "barriers"}[name]


def _shared(k: Row) -> str:
    own = [k[name] for name in ("shared_static_bytes", "shared_dynamic_bytes") if k[name] is not None]
    if sum(own):
        return f" ({si(sum(own), 'byte')} a block)"
    if not own:
        return ""
    driver, room = k["shared_driver_bytes"], k["shared_config_bytes"]
    reserved = si(driver, "byte") if driver else "what"
    of = f" of the {si(room, 'byte')} configured" if room else ""
    return f" (a block uses none of its own; {reserved} the driver reserves for each{of})"


def _advice(k: Row) -> str:
    names = k["_limiter"] or []
    parts = []
    if "registers" in names:
        parts.append("use fewer registers (__launch_bounds__, fewer results per thread) without spilling")
    if "shared" in names:
        own = (k["shared_static_bytes"] or 0) + (k["shared_dynamic_bytes"] or 0)
        less = "use less shared memory a block, or smaller stages"
        parts.append(less if own else "use larger blocks, or let an SM have more shared memory (carve-out)")
    if "warps" in names or "blocks" in names:
        parts.append("choose a block size of 128 to 256 threads that divides the SM's warps")
    parts.append("or give each thread more independent loads and operations")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."
