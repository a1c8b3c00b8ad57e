"""D011 phantom-fp16: half-precision work that is none.

What it does
    Says where FP16 instructions were counted that only move constants, and where a busy tensor pipe is no tensor work.

Why it matters
    Compilers load constants with HFMA2 on zero registers. Counted as FLOPs they add a fifth to an FP32 kernel, and on
    GPUs of CC 8.0 and 9.0, whose tensor pipe executes HFMA2, they make 2 to 4 % of "tensor activity".

How it decides
    Half instructions were counted and the counter table set them aside (see ``ncuroof ingest --explain``), or the
    tensor pipe was active for less than 5 % without any tensor operation.

What to do
    Nothing: the FLOPs of these kernels are given without them. Do not read the tensor activity as use of tensor cores.

When it is wrong
    A kernel with a little genuine half arithmetic beside much other work is set aside as well; that little is then
    missing, and its FLOP count is low by at most a quarter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.roofline import TENSOR_ACTIVE_PCT
from ncuroof.rules import Limit
from ncuroof.rules._findings import Row
from ncuroof.rules._quality import per_report

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "D011"
NAME = "phantom-fp16"
SEVERITY = "note"
NEEDS: tuple[str | tuple[str, ...], ...] = (("flop_fp16_vector_raw", "tensor_pct"),)
TIER = "roofline"
LIMITS = {
    "active_pct": Limit(TENSOR_ACTIVE_PCT, "%", "constants and conversions reach 2 to 4 %", "64 of 64 public kernels"),
}


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report with such kernels; see the module's documentation."""
    phantom = (pl.col("flop_fp16_vector_raw") > 0) & (pl.col("flop_fp16_vector").fill_null(0) == 0)
    idle = (
        (pl.col("tensor_pct") > 0)
        & (pl.col("tensor_pct") < limits["active_pct"])
        & (pl.col("flop_tensor").fill_null(0) == 0)
    )
    frame = kernels.with_columns(_phantom=phantom.fill_null(value=False), _idle=idle.fill_null(value=False))
    return per_report(
        frame,
        pl.col("_phantom") | pl.col("_idle"),
        carry=(pl.col("_phantom").sum(), pl.col("_idle").sum(), pl.col("tensor_pct").max().alias("top")),
        message=_message,
        advice="Nothing to do: FLOPs are given without them; small tensor activity is no use of tensor cores.",
    )


def _message(r: Row) -> str:
    parts = []
    if r["_phantom"]:
        parts.append(f"half instructions that only move constants are left out of the FLOPs ({r['_phantom']})")
    if r["_idle"]:
        parts.append(f"tensor activity up to {r['top']:.1f} % without tensor operations ({r['_idle']})")
    return f"{r['which']}: {', '.join(parts)}"
