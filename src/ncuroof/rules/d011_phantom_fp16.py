"""D011 phantom-fp16: half-precision work that is none.

What it does
    Says where FP16 instructions were counted that only move constants or convert to FP32, and where a busy tensor pipe
    is no tensor work.

Why it matters
    Compilers load constants with HFMA2 on zero registers, and convert halves to FP32 with HADD2.F32. Counted as FLOPs
    they add a fifth to an FP32 kernel, and on GPUs of CC 8.0 and 9.0, whose tensor pipe executes HFMA2, they make 2 to
    4 % of "tensor activity".

How it decides
    Half instructions were counted and the counter table set them aside (see ``ncuroof ingest --explain``): fused
    ones alone are constants, additions alone, where no mnemonics tell them apart, are taken for conversions. Or the
    tensor pipe was active for 0.1 to 5 % without any tensor operation, floating-point or integer.

What to do
    Nothing: the FLOPs of these kernels are given without them. Do not read the tensor activity as use of tensor cores.

When it is wrong
    A kernel with a little genuine half arithmetic beside much other work is set aside as well; that little is then
    missing, and its FLOP count is low by at most a quarter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import paths
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
    "floor_pct": Limit(0.1, "%", "less is nothing that anybody would take for tensor work", "shown with one decimal"),
    "active_pct": Limit(TENSOR_ACTIVE_PCT, "%", "constants and conversions reach 2 to 4 %", "64 of 64 public kernels"),
}


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """One note per report with such kernels; see the module's documentation."""
    phantom = (pl.col("flop_fp16_vector_raw") > 0) & (pl.col("flop_fp16_vector").fill_null(0) == 0)
    converts = (pl.col("fp16_add") > 0) & (pl.sum_horizontal("fp16_mul", "fp16_fma") == 0)
    idle = (
        (pl.col("tensor_pct") >= limits["floor_pct"])
        & (pl.col("tensor_pct") < limits["active_pct"])
        & (pl.sum_horizontal("flop_tensor", *(p.work for p in paths.INTEGER)) == 0)
    )
    frame = kernels.with_columns(
        _converts=(phantom & converts).fill_null(value=False),
        _phantom=(phantom & ~converts.fill_null(value=False)).fill_null(value=False),
        _idle=idle.fill_null(value=False),
    )
    counts = ("_converts", "_phantom", "_idle")
    return per_report(
        frame,
        pl.any_horizontal(counts),
        carry=(*(pl.col(c).sum() for c in counts), pl.col("tensor_pct").filter("_idle").max().alias("top")),
        message=_message,
        advice="Nothing to do: FLOPs are given without them; small tensor activity is no use of tensor cores.",
    )


def _message(r: Row) -> str:
    parts = []
    if r["_converts"]:
        parts.append(f"half instructions that are conversions are left out of the FLOPs ({r['_converts']})")
    if r["_phantom"]:
        parts.append(f"half instructions that only move constants are left out of the FLOPs ({r['_phantom']})")
    if r["_idle"]:
        parts.append(f"tensor activity up to {r['top']:.1f} % without tensor operations ({r['_idle']})")
    return f"{r['which']}: {', '.join(parts)}"
