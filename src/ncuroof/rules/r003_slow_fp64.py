"""R003 slow-fp64: double precision on a GPU that has hardly any units for it.

What it does
    Finds kernels that spend their time in FP64 arithmetic on a GPU whose FP64 rate is a 32nd or a 64th of FP32.

Why it matters
    GeForce, L4, L40S, A10, T4 and B300 have few FP64 units: about 1 TFLOP/s or less. A handful of doubles, often
    literals such as 0.5 in FP32 code, can set the time of a kernel whose other work is 60 times as much.

How it decides
    The GPU's FP64 roof is at most a 16th of its FP32 roof, and W64 / F64 is at least 15 % of the kernel's time; where
    FLOPs were not counted, the FP64 pipe is at least 60 % busy. Where the annotation asks for FP64 it is a note: the
    program means it.

What to do
    Write literals as 0.5f, use float functions (sinf, not sin), check for hidden promotions; keep doubles for the sums
    that need them, or emulate them with pairs of floats.

When it is wrong
    Where double precision is needed, another GPU is the remedy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.verdicts import HIGH_PCT

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "R003"
NAME = "slow-fp64"
SEVERITY = "warning"
NEEDS = ("duration_s", ("flop_fp64", "fp64_pct"), "roof_flop_s_fp64", "roof_flop_s_fp32")
TIER = "roofline"
LIMITS = {
    "rate": Limit(1 / 16, "1", "FP64 over FP32; real FP64 chips have a half, others a 32nd or 64th", "GPU table"),
    "time": Limit(0.15, "1", "of the kernel's time; Nsight uses 15 % of the FP64 peak", "Nsight rule SOLFPRoofline"),
    "pipe_pct": Limit(HIGH_PCT, "%", "where only the pipe's activity is known", "Nsight rule HighPipeUtilization"),
}

ADVICE = (
    "Look for double literals (0.5 instead of 0.5f) and double functions (sin instead of sinf); keep doubles for the "
    "sums that need them."
)


def applies() -> pl.Expr:
    """Kernels on GPUs with few FP64 units."""
    return (pl.col("roof_flop_s_fp64") <= LIMITS["rate"].value * pl.col("roof_flop_s_fp32")).fill_null(value=True)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels whose time goes into FP64; see the module's documentation."""
    seconds = pl.coalesce(
        pl.col("flop_fp64") / pl.col("roof_flop_s_fp64"),
        pl.when(pl.col("fp64_pct") >= limits["pipe_pct"]).then(pl.col("fp64_pct") / 100 * pl.col("duration_s")),
    )
    slower = pl.col("roof_flop_s_fp32") / pl.col("roof_flop_s_fp64")
    hit = kernels.with_columns(_fp64_s=seconds, _slower=slower).filter(
        pl.col("_matters")
        & (pl.col("roof_flop_s_fp64") <= limits["rate"] * pl.col("roof_flop_s_fp32"))
        & (pl.col("_fp64_s") >= limits["time"] * pl.col("duration_s"))
    )
    hit = hit.with_columns(
        # What the same operations would cost in FP32 stays.
        _stake=pl.min_horizontal(pl.col("_fp64_s") * (1 - 1 / pl.col("_slower")), "duration_s"),
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence=lambda k: "high" if k["flop_fp64"] is not None else "medium",
        evidence=[
            Evidence("_fp64_s", "s", "duration_s", "FP64 work / FP64 roof; limit: duration"),
            Evidence("flop_fp64", "FLOP"),
            Evidence("roof_flop_s_fp64", "FLOP/s", "roof_flop_s_fp32"),
            Evidence("fp64_pct", "%"),
        ],
        severity=lambda k: "note" if k["op_dtype"] == "fp64" else SEVERITY,
    )


def _message(k: Row) -> str:
    work = f"{si(k['flop_fp64'], 'FLOP')} of FP64 work take" if k["flop_fp64"] is not None else "the FP64 pipe takes"
    return (
        f"{work} {percent(100 * k['_fp64_s'] / k['duration_s'])} of the time: this GPU does FP64 {k['_slower']:.0f} "
        f"times slower than FP32 ({si(k['roof_flop_s_fp64'], 'FLOP/s')})"
    )
