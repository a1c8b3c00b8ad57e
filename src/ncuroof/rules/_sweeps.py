"""Points of a sweep: launches of one operation and element type that differ in size, measured alike.

A point is a shape; repeated launches of it count with their median, and the range of their times is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    differ = other or SIZES
    slow, partners = [], []
    alike = [*SERIES, *same]
    # A point alone in its series has nothing to be held against.
    several = of.with_row_index("_i").filter(pl.len().over(alike) > 1)
    for _, series in several.group_by(alike, maintain_order=True):
        for i, j in _pairs(series, ratio, differ):
            slow.append(i)
            partners.append(j)
    found = of[slow]
    others = of[partners].select(pl.col(c).alias(f"{c.removesuffix('_other')}_other") for c in ["_t", *SIZES])
    return found.hstack(others)


def _pairs(series: pl.DataFrame, ratio: float, differ: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Row numbers of slow points and of what they are held against, within one series."""
    # Fastest first: what can be faster than a point are the points before it.
    series = series.sort("_t", maintain_order=True)
    index = series["_i"].to_numpy()
    times, least, most = (series[c].to_numpy() for c in ("_t", "_t_min", "_t_max"))
    work = series["_w"].to_numpy()
    sizes = {s: series[s].to_numpy() for s in SIZES}
    for i in range(len(times)):
        end = int(np.searchsorted(times, times[i] / ratio))
        holds = most[:end] < least[i]
        for size in sizes.values():
            holds &= size[:end] >= size[i]
        holds &= np.any([sizes[s][:end] > sizes[s][i] for s in differ], axis=0)
        found = np.flatnonzero(holds)
        if not len(found):
            continue
        found = found[times[found] <= CLOSE * times[found[0]]]
        yield int(index[i]), int(index[found[np.argmin(work[found])]])
