"""What several rules weigh in common, computed once before the rules run and the same for all of them.

The columns begin with an underscore; they belong to this run and are no part of any table:

``_floor_s``
    Launch floor of the kernel's chip and report, in seconds (:func:`ncuroof.verdicts.launch_floor`).
``_kernel_share``
    Share of the report's GPU time that all launches of this kernel take together, 0 to 1.
``_used_pct``
    Percent of the busiest roof or unit. The same work cannot take less than this share of the time, whatever hides
    latency better: it caps what such a change can gain. Null unless something is known of both sides.
``_sms``
    SMs that the launch could use.
``_side``
    Where the kernel lies: ``left`` or ``right`` of the ridge point, ``near`` it, or ``unknown``.
``_matters``
    Whether the kernel is long enough to judge and owns enough of the report's time to be worth a finding.
``_tensor``
    Whether the kernel computes on tensor cores: by their activity or work, or, where neither was counted, by its name.
``_sm_idle``
    Share of the time in which the average SM had nothing to do while another had: measured against the busiest SM, or,
    where that was not counted, against the whole kernel, which is never less.
``_wave_loss``
    Share of the time that a last, partly filled wave of blocks wastes by its size; 0 where there is none.
``_tail_loss``
    The same as far as SMs were idle at all, where that was measured: the time that filling the wave can save.
``_told_flop``, ``_told_bytes``
    Useful work and compulsory bytes as annotated. Where the annotation cannot be true (``annotation_doubt``), its
    operation, type and sizes, ``useful_flop`` and the compulsory bytes are null here: no rule judges by them.
"""

from __future__ import annotations

import polars as pl

from ncuroof import paths, roofline, verdicts
from ncuroof.rules import _tiles
from ncuroof.rules._findings import Row

MATTERS_FLOORS = 3.0
"""Below three launch floors launch and ramp dominate (T001), and efficiency figures describe those."""

MATTERS_SHARE = 0.01
"""A kernel whose launches take less than 1 % of the report's GPU time is not worth reading about."""

NEAR = 2.0
"""Within this factor of the ridge point neither side of the roof alone sets the time: the roof's corner is round."""

SCHEMA: dict[str, pl.DataType] = {
    "_floor_s": pl.Float64(),
    "_kernel_share": pl.Float64(),
    "_used_pct": pl.Float64(),
    "_sms": pl.Float64(),
    "_side": pl.String(),
    "_matters": pl.Boolean(),
    "_tensor": pl.Boolean(),
    "_sm_idle": pl.Float64(),
    "_wave_loss": pl.Float64(),
    "_tail_loss": pl.Float64(),
    "_told_flop": pl.Float64(),
    "_told_bytes": pl.Float64(),
}

TOLD = ("op", "op_dtype", "op_m", "op_n", "op_k", "useful_flop", "compulsory_bytes", "compulsory_write_bytes")
"""What an annotation says of the work, and what follows from it."""


def add(kernels: pl.DataFrame) -> pl.DataFrame:
    """The kernels with the columns above."""
    report = "source_sha256"
    frame = kernels.with_columns(
        _floor_s=verdicts.launch_floor(),
        _kernel_share=pl.col("gpu_time_s").sum().over([report, "kernel_name"])
        / pl.col("gpu_time_s").sum().over(report),
        _used_pct=pl.when(
            pl.coalesce("sm_pct", "roof_pct").is_not_null() & pl.coalesce("memory_pct", "memory_roof_pct").is_not_null()
        ).then(pl.max_horizontal("roof_pct", "memory_roof_pct", "compute_roof_pct", "sm_pct", "memory_pct")),
        _sms=verdicts.sms(),
        _side=_side(),
        _tensor=_tensor(kernels),
        _sm_idle=_sm_idle(),
        _wave_loss=_wave_loss(),
        _told_flop=pl.col("useful_flop"),
        _told_bytes=pl.col("compulsory_bytes"),
        **{name: pl.when(pl.col("annotation_doubt").is_null()).then(pl.col(name)) for name in TOLD},
    ).with_columns(_tail_loss=pl.min_horizontal("_wave_loss", "_sm_idle"))
    long = (pl.col("duration_s") >= MATTERS_FLOORS * pl.col("_floor_s")) & (pl.col("duration_s") > 0)
    return frame.with_columns(_matters=(long & (pl.col("_kernel_share") >= MATTERS_SHARE)).fill_null(value=False))


def _side() -> pl.Expr:
    ratio = pl.col("intensity") / pl.col("ridge")
    return (
        pl.when(ratio > NEAR)
        .then(pl.lit("right"))
        .when(ratio >= 1 / NEAR)
        .then(pl.lit("near"))
        .when(ratio < 1 / NEAR)
        .then(pl.lit("left"))
        .when(pl.col("bound") == "memory")
        .then(pl.lit("left"))
        .when(pl.col("bound") == "compute")
        .then(pl.lit("right"))
        .otherwise(pl.lit("unknown"))
    )


def _tensor(kernels: pl.DataFrame) -> pl.Expr:
    full = pl.coalesce("kernel_demangled", "kernel_name")
    names = [n for n in kernels.select(full).to_series().unique().drop_nulls() if _tiles.may_use_tensor_cores(n)]
    uncounted = pl.col("tensor_pct").is_null() & pl.col("flop_tensor").is_null()
    return (
        (pl.col("tensor_pct") >= roofline.TENSOR_ACTIVE_PCT).fill_null(value=False)
        | pl.col("path").is_in([p.name for p in paths.TENSOR]).fill_null(value=False)
        | (uncounted & full.is_in(names).fill_null(value=False))
    )


def _sm_idle() -> pl.Expr:
    """(max - mean) / cycles <= 1 - mean / cycles: no SM is active for longer than the kernel takes."""
    largest, mean = pl.col("sm_cycles_active_max"), pl.col("sm_cycles_active_avg")
    cycles = pl.when(pl.col("sm_cycles") > 0).then(pl.col("sm_cycles"))
    return pl.coalesce((largest - mean) / cycles, 1 - mean / cycles).clip(lower_bound=0.0)


def _wave_loss() -> pl.Expr:
    """1 - w / ceil(w): with w = 1.5 waves two rounds of blocks run where one and a half are needed."""
    waves = pl.col("waves")
    # A wave count is stored rounded: 2.0000001 waves are two, 1.001 are one block too many.
    whole = (waves - 1e-5).ceil()
    return pl.when(waves >= 1).then((1 - waves / whole).clip(lower_bound=0.0)).otherwise(0.0)


def gain(share: pl.Expr) -> pl.Expr:
    """What removing ``share`` of the time can save at most, given how busy the chip already is, as a share."""
    return pl.min_horizontal(share, 1 - pl.col("_used_pct") / 100).clip(lower_bound=0.0)


def by_side(row: Row, *, left: str, right: str, near: str | None = None, unknown: str | None = None) -> str:
    """The advice for the side of the ridge point on which the kernel lies."""
    texts = {"left": left, "right": right, "near": near or f"{left} {right}", "unknown": unknown or left}
    return texts[str(row["_side"])]
