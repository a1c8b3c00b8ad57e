"""Points of a sweep: launches of one operation and element type that differ in size, measured alike.

A point is a shape; repeated launches of it count with their median, and the range of their times is kept.
"""

from __future__ import annotations

import polars as pl

SERIES = ["source_sha256", "gpu_name", "op", "op_dtype", "op_sweep"]
"""What launches of one series have in common. ``op_sweep`` is null for launches outside a named sweep."""

SIZES = ["op_m", "op_n", "op_k"]
CLOSE = 1.10
"""A point within 10 % of the fastest will do, and the least padding is the best advice."""


def points(kernels: pl.DataFrame) -> pl.DataFrame:
    """One row per point of a matrix-product series.

    Columns: those of :data:`SERIES` and :data:`SIZES`, ``_t`` (median duration, s), ``_t_min``, ``_t_max``, ``_w``
    (useful work, FLOP), ``_bound``.
    """
    given = pl.all_horizontal(pl.col(c).is_not_null() for c in SIZES)
    known = kernels.filter(given & (pl.col("duration_s") > 0) & (pl.col("useful_flop") > 0))
    return known.group_by([*SERIES, *SIZES], maintain_order=True).agg(
        _t=pl.col("duration_s").median(),
        _t_min=pl.col("duration_s").min(),
        _t_max=pl.col("duration_s").max(),
        _w=pl.col("useful_flop").first(),
        _bound=pl.col("bound").first(),
    )


def faster_larger(
    of: pl.DataFrame, ratio: float, *, same: tuple[str, ...] = (), other: tuple[str, ...] = ()
) -> pl.DataFrame:
    """For each point a faster one at least as large in every size and larger in one, where there is one.

    Only where it is ``ratio`` times faster and, with repeated launches, where their ranges do not overlap. Of several
    the one with the least work is taken that is within 10 % of the fastest.

    Args:
        of: see :func:`points`.
        ratio: how many times slower the smaller point must be.
        same: sizes in which the two must agree.
        other: sizes in one of which at least they must differ.

    Returns:
        The slow points with ``_t_other``, ``op_m_other``, ``op_n_other`` and ``op_k_other``.
    """
    # Sizes that must agree are part of the join: within a series of n points it makes n² pairs.
    on = [*SERIES, *same]
    columns = [*SERIES, *SIZES, "_t", "_t_max", "_w"]
    right = of.select(columns).with_columns(pl.col(s).alias(f"{s}_other") for s in same)
    pairs = of.join(right, on=on, nulls_equal=True, suffix="_other")
    not_smaller = pl.all_horizontal(pl.col(f"{s}_other") >= pl.col(s) for s in SIZES)
    larger = pl.any_horizontal(pl.col(f"{s}_other") > pl.col(s) for s in (other or SIZES))
    clear = (pl.col("_t") > ratio * pl.col("_t_other")) & (pl.col("_t_min") > pl.col("_t_max_other"))
    point = [*SERIES, *SIZES]
    fastest = pl.col("_t_other").min().over(point)
    return (
        pairs.filter(not_smaller & larger & clear)
        .filter(pl.col("_t_other") <= CLOSE * fastest)
        .sort("_w_other", maintain_order=True)
        .unique(point, keep="first", maintain_order=True)
    )
