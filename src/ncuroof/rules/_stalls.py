"""What warps wait for: the states of Nsight Compute's warp scheduler, in words, with what helps against each."""

from __future__ import annotations

import polars as pl

STALLS: dict[str, tuple[str, str]] = {
    "stall_long_scoreboard": (
        "data from global, local or texture memory (long scoreboard)",
        "Have more loads in flight: unroll, load before use (prefetch, cp.async), more warps; keep reused data close.",
    ),
    "stall_short_scoreboard": (
        "shared memory, special functions or other short queues (short scoreboard)",
        "Remove bank conflicts, read shared memory in wider pieces, and use fewer special functions.",
    ),
    "stall_mio_throttle": (
        "a full queue of shared-memory and special-function instructions (MIO throttle)",
        "Issue fewer and wider shared-memory instructions; keep operands in registers.",
    ),
    "stall_lg_throttle": (
        "a full queue of global and local memory instructions (LG throttle)",
        "Issue fewer and wider loads (float4), avoid register spills, and merge adjacent accesses.",
    ),
    "stall_tex_throttle": ("a full texture queue", "Use fewer texture, surface and FP64 instructions in a row."),
    "stall_barrier": (
        "other warps at a barrier",
        "Give warps of a block equal work between barriers, use smaller blocks, or split arrive from wait.",
    ),
    "stall_membar": ("a memory fence", "Use narrower fences (block instead of device scope) and fewer of them."),
    "stall_wait": (
        "the fixed latency of the previous instruction",
        "Give each thread more independent operations (unroll, several accumulators).",
    ),
    "stall_math_pipe_throttle": (
        "a busy arithmetic pipe",
        "Balance the instruction mix over pipes, or move work to tensor cores.",
    ),
    "stall_no_instruction": (
        "instructions (instruction cache misses)",
        "Shrink the loop body: unroll less, avoid jumps across large code; short kernels pay for their first pass.",
    ),
    "stall_imc_miss": (
        "constants (constant cache misses)",
        "Index constant memory alike for all threads of a warp, or move the table to shared memory.",
    ),
    "stall_branch_resolving": ("a branch target", "Replace short branches by predication or arithmetic."),
    "stall_dispatch_stall": ("the dispatcher", "Avoid long runs of instructions for one pipe."),
    "stall_drain": ("stores draining at exit", "Write results in wide, coalesced stores, and not all at the end."),
    "stall_sleeping": ("its own sleep instruction", "Poll less often, or wait on a barrier instead."),
    "stall_gmma": ("a warpgroup matrix operation", "Have several warpgroup operations in flight, with deeper stages."),
    "stall_warpgroup_arrive": ("a warpgroup to assemble", "Give the warps of a warpgroup equal work before they meet."),
    "stall_misc": ("a reason without a name", "Look at the source page for the lines with most samples."),
}
"""Column of the kernels table to what the warp waits for, and what to do."""


def shares() -> dict[str, pl.Expr]:
    """Each stall's share of the cycles between two instructions of a warp, 0 to 1."""
    latency = pl.when(pl.col("warp_latency") > 0).then(pl.col("warp_latency"))
    return {name: pl.col(name) / latency for name in STALLS}


def largest() -> pl.Expr:
    """The largest of these shares; null where none is known."""
    return pl.max_horizontal(shares().values())


def which() -> pl.Expr:
    """The column name of the largest."""
    top = largest()
    return pl.coalesce(pl.when(share == top).then(pl.lit(name)) for name, share in shares().items())
