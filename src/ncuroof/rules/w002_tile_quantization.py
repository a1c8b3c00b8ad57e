"""W002 tile-quantization: a size just misses a multiple of the tile, and the rest of the tile is computed for nothing.

What it does
    Finds matrix products whose M or N exceeds a multiple of the kernel's tile by a little, where arithmetic sets the
    time.

Why it matters
    N = 1030 takes nine tiles of 128 columns where N = 1024 takes eight: the last one is 95 % empty and costs as much.

How it decides
    With the tile read off the kernel's name: waste = ceil(M/tm) ceil(N/tn) tm tn / (M N) - 1. Names do not tell which
    side of the tile lies along M, so the smaller waste of the two counts. Where the name has no tile, 128 is assumed
    for sizes above 128 and the finding is a note. Where the same series holds the product of the multiples of 128 just
    below, the two times decide: a step of half the waste confirms it, less than a quarter of it refutes it. As with
    padding (W001) it costs time only right of the ridge point: left of it reading the matrices sets the time. The time
    at stake is that of the work that would not be done.

What to do
    Make sizes multiples of the tile (128 suits all current kernels): pad the vocabulary, the hidden size, the batch; or
    pick a kernel with a smaller tile.

When it is wrong
    Kernels that skip empty parts of a tile, and split-K or stream-K schedules, waste less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.quantity_text import percent
from ncuroof.rules import Limit, _sweeps, _tiles
from ncuroof.rules._findings import Evidence, Row, findings

if TYPE_CHECKING:
    from collections.abc import Mapping

CODE = "W002"
NAME = "tile-quantization"
SEVERITY = "warning"
NEEDS = ("op_m", "op_n", "op_k", "duration_s", "time_compute_s", "time_memory_s")
TIER = "annotation"
LIMITS = {
    "waste": Limit(0.10, "1", "a tenth of the arithmetic; less is the price of any tiling", "as for W001"),
    "confirmed": Limit(0.5, "1", "of the waste shows in the time: the tile is right", "judgement"),
    "refuted": Limit(0.25, "1", "of the waste at least must show, or the kernel wastes nothing", "judgement"),
    "assumed_tile": Limit(128.0, "1", "most tensor-core kernels have a side of 128", "cuBLAS and CUTLASS kernel names"),
}


def applies() -> pl.Expr:
    """Annotated matrix products."""
    return pl.col("op_m").is_not_null() & pl.col("op_n").is_not_null() & pl.col("op_k").is_not_null()


def check(kernels: pl.DataFrame, limits: Mapping[str, float]) -> pl.DataFrame:
    """Matrix products that miss their tile; see the module's documentation."""
    kernels = kernels.with_columns(_full_name=pl.coalesce("kernel_demangled", "kernel_name"))
    tiles = {name: _tiles.tile(name) for name in kernels["_full_name"].unique().drop_nulls()}
    known = pl.DataFrame(
        [(n, t[0], t[1]) for n, t in tiles.items() if t],
        schema={"_full_name": pl.String, "_tm": pl.Float64, "_tn": pl.Float64},
        orient="row",
    )
    frame = kernels.join(known, on="_full_name", how="left", maintain_order="left")
    m, n = pl.col("op_m").cast(pl.Float64), pl.col("op_n").cast(pl.Float64)

    def rounded(size: pl.Expr, tile: pl.Expr) -> pl.Expr:
        return (size / tile).ceil() * tile

    one = rounded(m, pl.col("_tm")) * rounded(n, pl.col("_tn"))
    other = rounded(m, pl.col("_tn")) * rounded(n, pl.col("_tm"))
    side = pl.lit(limits["assumed_tile"])
    guess = [pl.when(size > side).then(rounded(size, side)).otherwise(size) for size in (m, n)]
    area = pl.coalesce(pl.min_horizontal(one, other), guess[0] * guess[1])
    hit = (
        frame.with_columns(_waste=area / (m * n) - 1, _known=pl.col("_tm").is_not_null())
        .with_columns(
            _padded=pl.col("time_compute_s") * (1 + pl.col("_waste")),
            # Executed work that was counted holds the waste already.
            _counted=pl.col("executed_over_useful").is_not_null(),
        )
        .filter(
            pl.col("_matters")
            & (pl.col("_waste") >= limits["waste"])
            & (pl.when("_counted").then(pl.col("time_compute_s")).otherwise("_padded") > pl.col("time_memory_s"))
            & (pl.col("executed_over_useful").fill_null(2.0) >= 1 + limits["waste"])
        )
        .with_columns(_stake=pl.col("duration_s") * pl.col("_waste") / (1 + pl.col("_waste")))
    )
    hit = _with_neighbour(hit, frame, side).filter(
        (pl.col("_step") >= 1 + limits["refuted"] * pl.col("_waste")).fill_null(value=True)
    )
    return findings(
        hit,
        message=_message,
        advice="Make M and N multiples of the tile (128 suits all current kernels), or use one with smaller tiles.",
        stake="_stake",
        confidence=_confidence,
        evidence=[
            Evidence("op_m", "1", None, "annotation"),
            Evidence("op_n", "1", None, "annotation"),
            Evidence("_waste", "1", limits["waste"], "tile area / (M N) - 1"),
            Evidence("executed_over_useful", "x", None, "counted work / 2MNK"),
            Evidence("_step", "x", None, "time / time of the next smaller multiple of 128 in the series"),
        ],
        severity=lambda k: SEVERITY if k["_known"] or _confirmed(k) else "note",
    )


def _with_neighbour(hit: pl.DataFrame, frame: pl.DataFrame, side: pl.Expr) -> pl.DataFrame:
    """``_step``: time over that of the product whose M and N are the multiples of the tile just below."""
    below = {
        f"{size}_below": pl.when(pl.col(size) > side)
        .then((pl.col(size) / side).floor() * side)
        .otherwise(pl.col(size))
        .cast(frame.schema[size])
        for size in ("op_m", "op_n")
    }
    fits = _sweeps.points(frame).select(*_sweeps.SERIES, "op_k", "_t", op_m_below="op_m", op_n_below="op_n")
    key = [*_sweeps.SERIES, "op_k", *below]
    joined = hit.with_columns(**below).join(fits, on=key, how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(_step=pl.col("duration_s") / pl.col("_t"))


def _confirmed(k: Row) -> bool:
    return k["_step"] is not None and k["_step"] >= 1 + LIMITS["confirmed"].value * k["_waste"]


def _confidence(k: Row) -> str:
    if _confirmed(k) or (k["_known"] and k["_counted"]):
        return "high"
    return "medium" if k["_known"] else "low"


def _message(k: Row) -> str:
    tile = f"tiles of {k['_tm']:.0f} x {k['_tn']:.0f}" if k["_known"] else "tiles of 128"
    step = ""
    if k["_step"] is not None:
        step = f"; {k['op_m_below']} x {k['op_n_below']} is measured {percent(100 - 100 / k['_step'])} faster"
    return (
        f"{k['op_m']} x {k['op_n']} does not fit {tile}: {percent(100 * k['_waste'])} more is computed than asked for"
        f"{step}"
    )
