"""D012 precision-label: the roof's precision or sparsity does not fit the kernel.

What it does
    Finds kernels that executed 2:4 sparse tensor operations and are held against a dense roof, and roofs given by the
    user that are twice the dense peak: the sparse figure of a data sheet.

Why it matters
    Data sheets print the sparse figure large. Three tools ship three FP16 roofs for the H100: 989, 1,071 and 1,979
    TFLOP/s. Against the last one a perfect dense kernel looks half as fast as it is.

How it decides
    Operations counted with sparsity on; or a user's roof within 5 % of twice the report's own dense peak (or twice the
    measured peak clock times the dense rate of the device, where the report has none).

What to do
    Give dense roofs for dense kernels (H100 SXM FP16: 989 TFLOP/s), and say "2:4" in the roofs file for sparse ones.

When it is wrong
    A roof that happens to be twice another for good reason (a board with two chips counted as one).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof import paths
from ncuroof.quantity_text import percent, si
from ncuroof.rules import Limit
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "D012"
NAME = "precision-label"
SEVERITY = "info"
NEEDS = ("path",)
TIER = "roofline"
LIMITS = {
    "sparse_share": Limit(0.01, "1", "of the tensor operations with sparsity on", "none at all in dense kernels"),
    "double": Limit(0.05, "1", "distance from twice the dense peak", "data sheets round to three digits"),
}


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Kernels whose roof has the wrong label; see the module's documentation."""
    peak = paths.pick(lambda p: p.peak)
    tensor = pl.col("flop_tensor").fill_null(0) + pl.sum_horizontal(p.work for p in paths.INTEGER)
    sparse = pl.col("op_tensor_sparse") > limits["sparse_share"] * tensor
    users = pl.col("roof_flop_s_source").str.starts_with("user")
    twice = users & ((pl.col("roof_flop_s") / peak / 2 - 1).abs() <= limits["double"])
    hit = kernels.with_columns(
        _dense_peak=peak, _sparse=sparse.fill_null(value=False), _twice=twice.fill_null(value=False), _tensor=tensor
    )
    hit = hit.filter(pl.col("_sparse") | pl.col("_twice"))
    return findings(
        hit,
        message=_message,
        advice=_advice,
        confidence=lambda k: "high" if k["_sparse"] else "medium",
        evidence=[
            Evidence("op_tensor_sparse", "op", "_tensor"),
            Evidence("roof_flop_s", "FLOP/s", "_dense_peak"),
        ],
    )


def _message(k: Row) -> str:
    if k["_twice"]:
        return (
            f"the roof given for {k['path']}, {si(k['roof_flop_s'], 'FLOP/s')}, is twice the dense peak of "
            f"{si(k['_dense_peak'], 'FLOP/s')}: a figure with 2:4 sparsity"
        )
    share = k["op_tensor_sparse"] / k["_tensor"] if k["_tensor"] else 1.0
    return f"{percent(100 * min(share, 1.0))} of its tensor operations use 2:4 sparsity; the roof is dense"


def _advice(k: Row) -> str:
    if k["_twice"]:
        return "Give the dense figure, or mark the roof as 2:4 in the roofs file."
    return "Hold it against the sparse roof, twice the dense one, and say 2:4 when quoting the rate."
