"""M003 bank-conflicts: shared-memory accesses are serialized by bank conflicts.

What it does
    Finds kernels whose shared-memory accesses take extra passes because threads of a warp hit different words of one
    bank, where shared memory matters for the time.

Why it matters
    A 32-way conflict makes an access take 32 passes.

How it decides
    Extra passes as a share of all passes (wavefronts). Where Nsight counted the passes that the addresses ask for and
    the ideal, these decide: the hardware's conflict counter also counts arbitration between instructions. There must be
    at least a thousand passes, and shared memory must be busy or what the warps wait for.

What to do
    Pad rows of shared arrays by one element (by 16 bytes for vector accesses) or swizzle the index; read in the order
    in which it was written.

When it is wrong
    Matrix loads (ldmatrix) and copies by the tensor memory accelerator raise the conflict counter without a conflict in
    the code: then the counts per instruction are the ones to trust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "M003"
NAME = "bank-conflicts"
SEVERITY = "warning"
NEEDS = (
    "duration_s",
    ("shared_wavefronts_ideal", "bank_conflicts_ld"),
    ("shared_wavefronts", "shared_wavefronts_ld"),
)
TIER = "rules"
LIMITS = {
    "share": Limit(0.10, "1", "of all wavefronts", "Nsight rule SharedMemoryConflicts"),
    "strong": Limit(0.50, "1", "half of all passes: high confidence", "10 % of public kernels"),
    "wavefronts": Limit(1000.0, "1", "fewer passes cost nothing", "judgement"),
    "pipe_pct": Limit(40.0, "%", "below it L1 and shared memory have room for the extra passes", "share of peak"),
    "stall": Limit(0.30, "1", "unless warps wait for shared memory this much", "Nsight rule CPIStall"),
}

ADVICE = "Pad the rows of the shared array by one element (16 bytes for vector accesses), or swizzle its index."


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels slowed by bank conflicts; see the module's documentation."""
    conflicts = pl.col("bank_conflicts_ld") + pl.col("bank_conflicts_st").fill_null(0)
    passes = pl.col("shared_wavefronts_ld") + pl.col("shared_wavefronts_st").fill_null(0)
    ideal_known = pl.col("shared_wavefronts_ideal").is_not_null() & pl.col("shared_wavefronts").is_not_null()
    excess = pl.col("shared_wavefronts") - pl.col("shared_wavefronts_ideal")
    waits = pl.max_horizontal("stall_short_scoreboard", "stall_mio_throttle") / pl.col("warp_latency")
    hit = (
        kernels.with_columns(
            _extra=pl.when(ideal_known).then(excess).otherwise(conflicts),
            _passes=pl.when(ideal_known).then(pl.col("shared_wavefronts")).otherwise(passes),
            _waits=waits,
            # Shared memory's part of the data stage is the least that the stage can be busy.
            _stage_pct=pl.coalesce("shared_pipe_pct", "shared_wavefronts_pct"),
            _by_address=ideal_known,
        )
        .with_columns(_share=pl.when(pl.col("_passes") > 0).then(pl.col("_extra") / pl.col("_passes")))
        .filter(
            pl.col("_matters")
            & (pl.col("_share") >= limits["share"])
            & (pl.col("_passes") >= limits["wavefronts"])
            & (
                (pl.col("_stage_pct") >= limits["pipe_pct"]).fill_null(value=False)
                | (pl.col("_waits") >= limits["stall"]).fill_null(value=False)
            )
        )
        .with_columns(_stake=pl.col("duration_s") * pl.col("_share") * pl.col("_stage_pct") / 100)
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence=lambda k: "high" if k["_by_address"] and k["_share"] >= limits["strong"] else "medium",
        evidence=[
            Evidence("_share", "1", limits["share"], "extra passes / all passes of shared memory"),
            Evidence("_extra", "1", "_passes", "passes beyond one an access; limit: all passes"),
            Evidence("_stage_pct", "%", limits["pipe_pct"], "data stage of L1 and shared memory"),
            Evidence("_waits", "1", limits["stall"], "cycles waiting for shared memory / cycles an instruction"),
        ],
    )


def _message(k: Row) -> str:
    busy = f"; the data stage is {percent(k['_stage_pct'])} busy" if k["shared_pipe_pct"] is not None else ""
    waits = f", warps wait for it {percent(100 * k['_waits'])} of their time" if k["_waits"] is not None else ""
    return f"{percent(100 * k['_share'])} of the passes through shared memory are bank conflicts{busy}{waits}"
