"""Annotations that cannot be true: they ask for more than was executed, or than the GPU can do in that time.

A mistyped size makes every figure that rests on the annotation wrong: useful work, compulsory bytes, padding, residency
in L2. Such an annotation is left out of the placement and of the rules, and D013 says so.
"""

from __future__ import annotations

import polars as pl

from ncuroof.paths import PATHS

COUNTED = 1.05
"""Useful over executed work from which counters contradict the shape, where all work was counted."""

DERIVED = 2.0
"""The same where the executed work was derived, or not every unit was counted."""

PEAK = 2.0
"""Useful work over what the GPU's fastest fitting unit can do in that time: 2:4 sparsity doubles a dense peak."""

L2 = 1.5
"""Compulsory bytes over what L2 can deliver in that time; its measured bandwidths scatter more than those of DRAM."""

DRAM = 10.0
"""The same over the DRAM roof where L2's is not known: L2 delivers two to seven times as much as DRAM."""

EXACT_OPS = ("gemm", "batched_gemm", "grouped_gemm", "linear", "attention")
"""Operations whose FLOPs no algorithm in use saves: convolutions (Winograd, FFT) execute fewer, and those of a softmax
are exponentials and comparisons that no counter calls FLOPs."""

_NARROW_TYPES = r"^(fp8|fp6|fp4|nvfp4|mxfp|int|uint)"


def doubts(flop_source: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Which limit the annotation exceeds (executed, peak, bandwidth; null: none) and how many times.

    Args:
        flop_source: how the executed work, in the column ``_executed``, was obtained.
    """
    useful, executed, time = pl.col("useful_flop"), pl.col("_executed"), pl.col("duration_s")
    narrow = pl.col("op_dtype").str.contains(_NARROW_TYPES).fill_null(value=True)
    # FP32 and FP64 products can run on the units for FP16 and TF32.
    wide = pl.max_horizontal(p.roof for p in PATHS if not p.narrow)
    any_path = pl.max_horizontal(p.roof for p in PATHS)
    whole = pl.col("flop_complete").fill_null(value=False) & (flop_source == "counter")
    # Integer products on CUDA cores (DP4A) and 2:4 sparse ones execute fewer operations than counted in a dense shape.
    comparable = (
        pl.col("op").is_in(list(EXACT_OPS))
        & ~pl.col("op_dtype").str.contains("^u?int").fill_null(value=False)
        & ~(pl.col("op_tensor_sparse") > 0).fill_null(value=False)
    )
    timed = pl.when(time > 0).then(time)
    over_executed = pl.when(comparable & (executed > 0)).then(useful / executed)
    over_peak = useful / pl.when(narrow).then(any_path).otherwise(wide) / timed
    l2_known = pl.col("roof_bytes_s_l2").is_not_null()
    over_bandwidth = pl.col("compulsory_bytes") / pl.coalesce("roof_bytes_s_l2", "roof_bytes_s") / timed
    cases = (
        ("executed", over_executed, pl.when(whole).then(COUNTED).otherwise(DERIVED)),
        ("peak", over_peak, pl.lit(PEAK)),
        ("bandwidth", over_bandwidth, pl.when(l2_known).then(L2).otherwise(DRAM)),
    )
    which: pl.Expr = pl.lit(None, dtype=pl.String)
    times: pl.Expr = pl.lit(None, dtype=pl.Float64)
    for name, ratio, limit in reversed(cases):
        holds = (ratio > limit).fill_null(value=False)
        which = pl.when(holds).then(pl.lit(name)).otherwise(which)
        times = pl.when(holds).then(ratio).otherwise(times)
    return which, times
