"""The same roofs at the highest clock: what the kernels would be held against if the profiler did not lock clocks."""

from __future__ import annotations

import polars as pl

from ncuroof.roofs.attach import CLOCK_TOLERANCE, complete
from ncuroof.tables import PATHS


def boost_roofs(kernels: pl.DataFrame) -> pl.DataFrame:
    """Compute roofs at the maximum clock.

    Args:
        kernels: the kernels table after :func:`ncuroof.roofs.attach`.

    Returns:
        One row per kernel with ``roof_boost_flop_s_<path>`` (FLOP/s): a roof that follows the clock of the run (report,
        device), times maximum over measured clock. A measured or data sheet roof is at full clock already and stays.
        Null where the roof or a clock it needs is unknown.
    """
    clocks = complete(kernels).select("sm_hz", "clock_max_hz")
    frame = kernels.select(c for p in PATHS for c in (f"roof_flop_s_{p}", f"roof_flop_s_{p}_source")).hstack(clocks)
    return frame.select(boost(path).alias(f"roof_boost_flop_s_{path}") for path in PATHS)


def boost(path: str) -> pl.Expr:
    """The expression for one path; needs ``sm_hz`` and ``clock_max_hz`` beside the roof."""
    roof, source = pl.col(f"roof_flop_s_{path}"), pl.col(f"roof_flop_s_{path}_source")
    follows = source.str.contains("measured clock|this run's clock") & ~source.str.contains("impossible")
    ratio = pl.col("clock_max_hz") / pl.col("sm_hz")
    # A clock slightly above the maximum is measuring error: the boost roof is never below the roof of the run.
    ratio = pl.when(ratio >= 1 - CLOCK_TOLERANCE).then(pl.max_horizontal(ratio, pl.lit(1.0)))
    return pl.when(follows).then(roof * ratio).otherwise(roof)
