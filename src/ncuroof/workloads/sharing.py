"""Which launches share one instance of an annotated range.

A range that runs several kernels (split-K and its reduction, a clear before the product) describes them together. A
report does not number the instances of a range; what it keeps is the order of launches and the ranges around each. A
run of consecutive launches inside an equal annotation is one instance, or several where it repeats: the launch that
opened the run (same kernel, grid and block) coming again opens the next one. An ``id`` in the annotation settles it,
because then instances have different texts.
"""

from __future__ import annotations

import polars as pl

IDENTITY = ("source_sha256", "process_id")
SIGNATURE = ("kernel_name", "kernel_demangled", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")

_ID = r'"id"\s*:'


def shared_ranges(kernels: pl.DataFrame, ranges: pl.Series | None = None) -> pl.DataFrame:
    """Number the range instances.

    Args:
        kernels: the kernels table, in launch order, with ``op`` (see :func:`ncuroof.workloads.annotate.annotate`).
        ranges: for each launch the text of the annotated range; found from ``nvtx`` or ``nvtx_path`` if not given.

    Returns:
        One row per kernel: ``range_instance`` (UInt32, null without a usable annotation from a range) and
        ``range_launches`` (UInt32, how many launches share that instance).
    """
    if ranges is None:
        ranges = _texts(kernels)
    columns = [name for name in (*IDENTITY, *SIGNATURE) if name in kernels.columns]
    used = kernels["op"].is_not_null() if "op" in kernels.columns else ranges.is_not_null()
    text = pl.select(pl.when(used).then(ranges)).to_series().alias("range")
    frame = pl.DataFrame([text, *(kernels[name] for name in columns)])
    identity = [pl.col(name).cast(pl.String).fill_null("") for name in IDENTITY if name in columns]
    signature = [pl.col(name).cast(pl.String).fill_null("") for name in SIGNATURE if name in columns]
    frame = frame.with_columns(
        run=pl.concat_str([*identity, pl.col("range").fill_null("")], separator="\x1f").rle_id(),
        signature=pl.concat_str(signature, separator="\x1f") if signature else pl.lit(""),
    )
    position = pl.int_range(pl.len()).over("run")
    numbered = pl.col("range").str.contains(_ID).fill_null(value=False)
    again = (pl.col("signature") == pl.col("signature").first().over("run")) & ~numbered
    frame = frame.with_columns(instance=((position == 0) | again).cum_sum().cast(pl.UInt32))
    return frame.select(
        pl.when(pl.col("range").is_not_null()).then(pl.col("instance")).alias("range_instance"),
        pl.when(pl.col("range").is_not_null()).then(pl.len().over("instance").cast(pl.UInt32)).alias("range_launches"),
    )


def _texts(kernels: pl.DataFrame) -> pl.Series:
    """The innermost annotated range of each launch as text."""
    from ncuroof.workloads.annotate import _from_ranges  # noqa: PLC0415  that module uses this one

    return _from_ranges(kernels, [])[1]
