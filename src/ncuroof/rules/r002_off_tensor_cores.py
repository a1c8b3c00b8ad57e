"""R002 off-tensor-cores: a matrix product runs on CUDA cores where tensor cores would do it faster.

What it does
    Finds matrix products whose arithmetic ran in FP32 or FP64 on CUDA cores, where arithmetic sets the time and the GPU
    has tensor cores for it.

Why it matters
    On an H100 an FP32 product reaches 51.9 TFLOP/s, with TF32 it reaches 418; FP64 on tensor cores is faster than FP32
    without them.

How it decides
    From counters, never from the annotation alone: at least 80 % of the FLOPs are on the FP32 (or FP64) path, the
    kernel is a matrix product by its annotation or its name, it lies right of that path's ridge point and reaches half
    of its roof, and the GPU's tensor roof for it (TF32, FP16 where there is no TF32; FP64 on data-centre GPUs) is at
    least 1.3 times higher. The time at stake assumes that the same share of the new roof is reached. Where the
    annotation says a tensor type and the counters say CUDA cores, it is a warning, whatever is reached: the program
    does not run what it says.

What to do
    FP32: allow TF32 (torch.set_float32_matmul_precision("high"), CUBLAS_COMPUTE_32F_FAST_TF32) where 10 bits of
    mantissa suffice, else BF16 x 3. FP64: use a library version with DMMA kernels. Custom kernels: use mma.

When it is wrong
    Where the full FP32 mantissa is needed the FP32 path is right. Left of the ridge point nothing is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import digits, percent, si
from ncuroof.rules import Limit, _tiles
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.workloads.matrix import MATRIX_OPS

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "R002"
NAME = "off-tensor-cores"
SEVERITY = "info"
NEEDS = ("path", "path_share", "duration_s", "time_compute_s", "time_memory_s")
TIER = "roofline"
LIMITS = {
    "path_share": Limit(0.8, "1", "of the FLOPs; less is an epilogue or a mix", "definition"),
    "reached_pct": Limit(
        50.0, "%", "a kernel that reaches less of its roof is limited by something else than the path", "judgement"
    ),
    "faster": Limit(1.3, "x", "a smaller step is not worth another precision", "FP32 to FP16 on CUDA cores is 1 to 2"),
}

TENSOR_TYPES = ("tf32", "fp16", "bf16", "fp8", "fp8_e4m3", "fp8_e5m2", "int8")


def applies() -> pl.Expr:
    """Kernels whose work was counted on the FP32 or FP64 path; on GPUs with tensor cores."""
    return pl.col("path").is_in(["fp32", "fp64"]) & pl.col("path_share").is_not_null()


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Matrix products off the tensor cores; see the module's documentation."""
    full = pl.coalesce("kernel_demangled", "kernel_name")
    names = [n for n in kernels.select(full).to_series().unique().drop_nulls() if _tiles.is_matrix_kernel(n)]
    matrix = pl.col("op").is_in(list(MATRIX_OPS)).fill_null(value=False) | full.is_in(names).fill_null(value=False)
    labelled = pl.col("op_dtype").is_in(list(TENSOR_TYPES)).fill_null(value=False)
    fp64 = pl.col("path") == "fp64"
    tensor = (
        pl.when(fp64)
        .then(pl.col("roof_flop_s_fp64_tensor"))
        .otherwise(pl.coalesce("roof_flop_s_tf32", "roof_flop_s_fp16"))
    )
    target = (
        pl.when(fp64)
        .then(pl.lit("FP64 on tensor cores"))
        .when(pl.col("roof_flop_s_tf32").is_not_null())
        .then(pl.lit("TF32"))
        .otherwise(pl.lit("FP16"))
    )
    after = pl.max_horizontal(pl.col("flop") / tensor, "time_memory_s")
    hit = (
        kernels.with_columns(_tensor_roof=tensor, _target=target, _after=after)
        .filter(
            pl.col("_matters")
            & matrix
            & (pl.col("path_share") >= limits["path_share"])
            & (pl.col("bound") == "compute")
            & (labelled | (pl.col("compute_roof_pct") >= limits["reached_pct"]))
            & (pl.col("_tensor_roof") >= limits["faster"] * pl.col("roof_flop_s"))
        )
        .with_columns(_stake=pl.col("duration_s") * (1 - pl.col("_after") / pl.col("time_bound_s")))
    )
    return findings(
        hit,
        message=_message,
        advice=_advice,
        stake="_stake",
        confidence=lambda k: "high" if k["op"] is not None else "medium",
        evidence=[
            Evidence("path_share", "1", limits["path_share"], "share of FLOPs on the path"),
            Evidence("roof_flop_s", "FLOP/s", "_tensor_roof"),
            Evidence("intensity", "FLOP/byte", "ridge", "W / Q; limit: ridge point of the path used"),
        ],
        severity=lambda k: "warning" if k["op_dtype"] in TENSOR_TYPES else SEVERITY,
    )


def _message(k: Row) -> str:
    said = f"annotated as {k['op_dtype']}, but " if k["op_dtype"] in TENSOR_TYPES else ""
    return (
        f"{said}{percent(100 * k['path_share'])} of its FLOPs run on the {k['path'].upper()} path of the CUDA cores, "
        f"whose roof is {si(k['roof_flop_s'], 'FLOP/s')}; {k['_target']} has {si(k['_tensor_roof'], 'FLOP/s')}, "
        f"{digits(k['_tensor_roof'] / k['roof_flop_s'])} x"
    )


def _advice(k: Row) -> str:
    if k["path"] == "fp64":
        return "Use a library version with FP64 tensor-core kernels (DMMA), or mma in the kernel: same precision."
    return (
        'If 10 bits of mantissa suffice, allow TF32 (torch.set_float32_matmul_precision("high")) or use BF16; in a '
        "kernel of your own, use mma. If the full FP32 mantissa is needed, this is the right path."
    )
