"""R003 slow-fp64: double precision on a GPU that has hardly any units for it.

What it does
    Finds kernels that spend their time in FP64 arithmetic on a GPU whose FP64 rate is a 32nd or a 64th of FP32.

Why it matters
    GeForce, L4, L40S, A10, T4 and B300 have few FP64 units: about 1 TFLOP/s or less. A handful of doubles, often
    literals such as 0.5 in FP32 code, can set the time of a kernel whose other work is 60 times as much.

How it decides
    The GPU's FP64 rate is at most a 16th of its FP32 rate, by its roofs or, for a GPU without a name, by its compute
    capability; and FP64 takes at least 15 % of the kernel's time. That share is the activity of the FP64 pipe, no more
    than the throughput of the SM, which counts idle cycles too. Where the pipe was not counted, it is the time of the
    FP64 instructions at one multiply-add each: an addition or a multiplication takes the same slot for half the FLOPs,
    so W64 / F64 alone would be short by up to a half. Memory-bound kernels are left out unless the FP64 pipe is busy
    for 60 % of the time: else it hides behind memory. Where the annotation asks for FP64 it is a note: the program
    means it.

What to do
    Write literals as 0.5f, use float functions (sinf, not sin), check for hidden promotions; keep doubles for the sums
    that need them, or emulate them with pairs of floats.

When it is wrong
    Where double precision is needed, another GPU is the remedy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import verdicts
from ncuroof.gpus.architectures import architectures, shared
from ncuroof.quantity_text import percent, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.verdicts import HIGH_PCT

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "R003"
NAME = "slow-fp64"
SEVERITY = "warning"
NEEDS = (
    "duration_s",
    ("flop_fp64", "fp64_pct"),
    ("fp64_pct", "roof_flop_s_fp64"),
    ("roof_flop_s_fp64", "cc_major"),
    ("roof_flop_s_fp32", "cc_major"),
)
TIER = "roofline"
LIMITS = {
    "rate": Limit(1 / 16, "1", "FP64 over FP32; real FP64 chips have a half, others a 32nd or 64th", "GPU table"),
    "time": Limit(0.15, "1", "of the kernel's time; Nsight uses 15 % of the FP64 peak", "Nsight rule SOLFPRoofline"),
    "pipe_pct": Limit(HIGH_PCT, "%", "beside busy memory, FP64 must be as busy to matter", "Nsight rule SOLBottleneck"),
}

ADVICE = (
    "Look for double literals (0.5 instead of 0.5f) and double functions (sin instead of sinf); keep doubles for the "
    "sums that need them."
)


def applies() -> pl.Expr:
    """Kernels on GPUs with few FP64 units, and on those of which neither roofs nor rates are known."""
    return (_slower() >= 1 / LIMITS["rate"].value).fill_null(value=True)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels whose time goes into FP64; see the module's documentation."""
    pipe = pl.when(pl.col("fp64_pct").is_not_null()).then(pl.min_horizontal("fp64_pct", "sm_pct"))
    # Two FLOPs a slot: those of additions and multiplications that leave half of theirs unused are counted twice.
    slots = pl.col("flop_fp64") + pl.sum_horizontal("fp64_add", "fp64_mul")
    taken = pl.coalesce(pipe / 100 * pl.col("duration_s"), slots / pl.col("roof_flop_s_fp64"))
    seconds = pl.when(taken.is_not_null()).then(pl.min_horizontal(taken, "duration_s"))
    frame = kernels.with_columns(_fp64_s=seconds, _slower=_slower())
    share = pl.col("_fp64_s") / pl.col("duration_s")
    hit = frame.filter(
        pl.col("_matters")
        & (pl.col("_slower") >= 1 / limits["rate"])
        & (share >= limits["time"])
        & ((pl.col("verdict") != verdicts.MEMORY) | (share >= limits["pipe_pct"] / 100))
    )
    hit = hit.with_columns(
        # What the same operations would cost in FP32 stays.
        _stake=pl.col("_fp64_s") * (1 - 1 / pl.col("_slower")),
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence="high",
        evidence=[
            Evidence("_fp64_s", "s", "duration_s", "activity of the FP64 pipe, or its instructions; limit: duration"),
            Evidence("flop_fp64", "FLOP"),
            Evidence("roof_flop_s_fp64", "FLOP/s", "roof_flop_s_fp32"),
            Evidence("fp64_pct", "%"),
        ],
        severity=lambda k: "note" if k["op_dtype"] == "fp64" else SEVERITY,
    )


def _message(k: Row) -> str:
    share = percent(100 * k["_fp64_s"] / k["duration_s"])
    work = f"the FP64 pipe is busy for {share} of the time"
    if k["fp64_pct"] is None:
        work = f"{si(k['flop_fp64'], 'FLOP')} of FP64 work take {share} of the time"
    roof = f" ({si(k['roof_flop_s_fp64'], 'FLOP/s')})" if k["roof_flop_s_fp64"] is not None else ""
    return f"{work}: this GPU does FP64 {k['_slower']:.0f} times slower than FP32{roof}"


def _slower() -> pl.Expr:
    """FP32 rate over FP64 rate, by the roofs or else by what every GPU of the compute capability has in common."""
    by_roof = pl.col("roof_flop_s_fp32") / pl.col("roof_flop_s_fp64")
    by_cc: pl.Expr = pl.lit(None, dtype=pl.Float64)
    for cc in {each.cc for each in architectures()}:
        rates = shared([each for each in architectures() if each.cc == cc]).rates
        if "fp64" in rates and "fp32" in rates:
            here = (pl.col("cc_major") == cc[0]) & (pl.col("cc_minor") == cc[1])
            by_cc = pl.when(here).then(rates["fp32"] / rates["fp64"]).otherwise(by_cc)
    return pl.coalesce(by_roof, pl.when(pl.col("gpu_name").is_null()).then(by_cc))
