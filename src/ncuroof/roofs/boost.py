"""The same roofs at the highest clock: what the kernels would be held against if the profiler did not lock clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ncuroof.roofs.attach import INPUTS, attach, complete
from ncuroof.roofs.record import SOURCES
from ncuroof.tables import PATHS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def boost_roofs(
    kernels: pl.DataFrame,
    *,
    order: Sequence[str] = SOURCES,
    only: str | None = None,
    roofs_file: Path | None = None,
) -> pl.DataFrame:
    """Compute roofs at the maximum clock; arguments as for :func:`ncuroof.roofs.attach`.

    Returns:
        One row per kernel with ``roof_boost_flop_s_<path>`` (FLOP/s). The report's peaks are scaled by maximum over
        measured clock, device roofs use the maximum clock, measured and data sheet roofs hold at full clock already.
        Null where nothing is known.
    """
    inputs = complete(kernels)
    # A measured clock slightly above the maximum is measuring error: the boost roof is never below the run's.
    top = pl.max_horizontal("clock_max_hz", pl.when(pl.col("sm_hz") <= 1.02 * pl.col("clock_max_hz")).then("sm_hz"))
    peaks = [n for n, kind in INPUTS.items() if n.startswith(("peak_flop_s_", "peak_op_s_")) and kind == pl.Float64()]
    at_top = inputs.with_columns(
        *(pl.col(name) * top / pl.col("sm_hz") for name in peaks),
        sm_hz=pl.when(pl.col("clock_max_hz").is_not_null()).then(top),
    )
    roofs = attach(at_top, order=order, only=only, roofs_file=roofs_file)
    return roofs.select(pl.col(f"roof_flop_s_{path}").alias(f"roof_boost_flop_s_{path}") for path in PATHS)
