"""W005 debug-build: the kernel was compiled without optimization.

What it does
    Finds kernels of a debug build (``nvcc -G``, ``--device-debug``) by the instructions they execute.

Why it matters
    A debug build keeps every variable where the debugger can see it: half of the instructions move registers, each
    waits for the one before, loops are not unrolled, calls are not inlined. Whatever else is measured describes the
    compiler's flags and not the kernel, and no advice about the code holds.

How it decides
    At least a quarter of the executed warp instructions are plain moves (MOV), and global memory is accessed through
    generic addresses (LD, ST) more often than by its own opcodes (LDG, STG): deducing the address space is an
    optimization. Both together were found in no optimized kernel. Rules that would explain the waiting of such a kernel
    (T007, T008), its local memory (M004) or its many instructions (T009) leave it to this one. What the optimizer will
    save cannot be seen from counters, so no time is at stake.

What to do
    Compile without -G and profile again. ``-lineinfo`` keeps the source lines for Nsight Compute, and ``-G -dopt=on``
    keeps debug information with optimized code. In CMake, use the build type RelWithDebInfo or Release, not Debug.

When it is wrong
    Code that is hardly optimized for another reason (``-Xptxas -O0``, ``-Xcicc -O0``, a young compiler) looks alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit, _builds, _stalls
from ncuroof.rules._context import MATTERS_SHARE
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "W005"
NAME = "debug-build"
SEVERITY = "warning"
NEEDS = ("inst_warps", "inst_moves", "inst_generic", "inst_global")
TIER = "full"
LIMITS = {
    "moves": Limit(
        _builds.MOVES,
        "1",
        "of the instructions; -G gives 38 to 60 %, -O3 at most 13 %",
        "six kernels compiled both ways by CUDA 13.0 for CC 7.5 to 12.0; optimized public reports: at most 18 %",
    ),
}

ADVICE = (
    "Compile without -G (with -lineinfo instead, which keeps the source lines; in CMake: RelWithDebInfo) and profile "
    "again before changing any code."
)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels that look unoptimized; see the module's documentation."""
    wait = pl.col("stall_wait") / pl.when(pl.col("warp_latency") > 0).then(pl.col("warp_latency"))
    worth = pl.col("_kernel_share").is_null() | (pl.col("_kernel_share") >= MATTERS_SHARE)
    hit = kernels.filter(_builds.debug(limits["moves"]) & worth).with_columns(
        _moves=_builds.moves(), _generic=pl.col("inst_generic") / pl.col("inst_warps"), _wait=wait
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        confidence="high",
        evidence=[
            Evidence("_moves", "1", limits["moves"], "MOV / all warp instructions, by opcode"),
            Evidence("inst_generic", "inst", "inst_global", "LD and ST; limit: LDG, STG and atomics"),
            Evidence("_wait", "1", None, "cycles waiting for a fixed latency / cycles between two instructions"),
        ],
    )


def _message(k: Row) -> str:
    wait = ""
    if k["_wait"] is not None:
        wait = f"; {percent(100 * k['_wait'])} of the time waits for {_stalls.STALLS['stall_wait'][0]}"
    return (
        f"compiled without optimization (-G): {percent(100 * k['_moves'])} of its instructions only move registers, "
        f"and memory is accessed through generic addresses{wait}"
    )
