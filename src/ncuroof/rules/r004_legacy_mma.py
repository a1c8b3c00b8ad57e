"""R004 legacy-mma: tensor instructions of an older generation, on a GPU whose full rate needs the new ones.

What it does
    Finds compute-bound tensor kernels on Hopper and Blackwell data-centre GPUs that use mma.sync (HMMA) and not wgmma
    or tcgen05.

Why it matters
    mma.sync tops out at two thirds of wgmma on CC 9.0 and at a quarter of tcgen05 on CC 10.x. cuBLAS, too, sometimes
    picks a kernel that was written for CC 8.0.

How it decides
    The tensor operations were counted as HMMA or IMMA, or, where the family was not counted, the kernel's name says CC
    8.x or older. Reported where the time on the legacy path exceeds Q / B and makes up 60 % of the kernel's time: left
    of the ridge point the path costs nothing. The time at stake is down to max(W / F of the new path, Q / B).

What to do
    Use a library or compiler version that has kernels for this GPU (CUTLASS 3.x, Triton 3, cuBLAS of CUDA 12 and 13),
    align leading dimensions to 16 bytes (the tensor memory accelerator needs that), or write wgmma / tcgen05.

When it is wrong
    Small or odd shapes do not fill the larger tiles of the new instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings
from ncuroof.verdicts import HIGH_PCT

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "R004"
NAME = "legacy-mma"
SEVERITY = "warning"
NEEDS = ("duration_s", "time_compute_s", "time_memory_s", ("tensor_family", "kernel_name"))
TIER = "roofline"
LIMITS = {
    "hopper": Limit(2 / 3, "1", "2730.7 of 4096 FP16 operations a cycle and SM", "peaks in reports of CC 9.0"),
    "blackwell": Limit(1 / 4, "1", "2048 of 8192 FP16 operations a cycle and SM", "peaks in reports of CC 10.0"),
    "busy_pct": Limit(HIGH_PCT, "%", "below it the path is not what limits", "Nsight rule SOLBottleneck"),
}

ADVICE = (
    "Use a library or compiler with kernels for this GPU (CUTLASS 3, Triton 3, cuBLAS of CUDA 12 and later), align "
    "leading dimensions to 16 bytes, or write wgmma / tcgen05."
)
OLD_NAMES = r"(?i)^(cutlass_(70|75|80)_|(volta|turing|ampere)_|sm(70|75|80|86)_)"


def applies() -> pl.Expr:
    """Tensor kernels on CC 9.0 and 10.x."""
    return pl.col("cc_major").is_in([9, 10]) & (pl.col("flop_tensor") > 0)


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Tensor kernels that leave the new path unused; see the module's documentation."""
    by_family = pl.col("tensor_family").is_in(["hmma", "imma"])
    by_name = pl.col("tensor_family").is_null() & pl.col("kernel_name").str.contains(OLD_NAMES)
    share = pl.when(pl.col("cc_major") == 9).then(limits["hopper"]).otherwise(limits["blackwell"])
    # A report's own peak is that of the opcodes used; every other roof is that of the new path.
    own = pl.col("roof_flop_s_source").str.starts_with("report").fill_null(value=False)
    legacy = pl.when(own).then(pl.col("time_compute_s")).otherwise(pl.col("time_compute_s") / share)
    hit = (
        kernels.with_columns(_by_family=by_family.fill_null(value=False), _share=share, _legacy_s=legacy)
        .filter(
            pl.col("_matters")
            & (pl.col("_by_family") | by_name.fill_null(value=False))
            & (pl.col("_legacy_s") > pl.col("time_memory_s"))
            & (pl.col("_legacy_s") >= limits["busy_pct"] / 100 * pl.col("duration_s"))
        )
        .with_columns(
            _stake=pl.col("duration_s")
            * (1 - pl.max_horizontal(pl.col("_legacy_s") * pl.col("_share"), "time_memory_s") / pl.col("_legacy_s")),
        )
    )
    return findings(
        hit,
        message=_message,
        advice=ADVICE,
        stake="_stake",
        confidence=lambda k: "high" if k["_by_family"] else "medium",
        evidence=[
            Evidence("_legacy_s", "s", "duration_s", "W / F of the legacy path; limit: duration"),
            Evidence("_share", "1", None, "peak of the legacy path / peak of the new path"),
            Evidence("time_memory_s", "s", "_legacy_s", "Q / B"),
        ],
    )


def _message(k: Row) -> str:
    new = "wgmma" if k["cc_major"] == 9 else "tcgen05"
    how = "" if k["_by_family"] else " (by its name)"
    return (
        f"uses mma.sync{how}, whose peak is {percent(100 * k['_share'])} of {new}'s on this GPU, and reaches "
        f"{percent(100 * k['_legacy_s'] / k['duration_s'])} of that"
    )
