"""Fills in the GPU where an export names none, from what the user says it was."""

from __future__ import annotations

import polars as pl

from ncuroof.errors import UsageError
from ncuroof.gpus.matching import find


def state(kernels: pl.DataFrame, gpu: str) -> pl.DataFrame:
    """Complete the device of launches that come without a name; launches that name theirs stay as they are.

    Args:
        kernels: the kernels table; ``gpu_name``, ``cc_major``, ``cc_minor``, ``sm_count`` and ``dram_size_bytes`` are
            completed where they are null.
        gpu: what a person calls it; see :func:`ncuroof.gpus.matching.find`.

    Raises:
        UsageError: when the text names no GPU of the table, or several.
    """
    match = find(gpu)
    if match.gpu is None:
        msg = f"--gpu {gpu}: {match.reason}; `ncuroof roofs` lists the GPUs"
        raise UsageError(msg)
    known = match.gpu
    major, minor = known.cc or (None, None)
    values = {
        "gpu_name": known.driver_name or known.name,
        "cc_major": major,
        "cc_minor": minor,
        "sm_count": known.sms,
        "dram_size_bytes": known.memory_bytes,
    }
    nameless = pl.col("gpu_name").is_null()
    return kernels.with_columns(
        pl.when(nameless & pl.col(name).is_null())
        .then(pl.lit(value, dtype=kernels.schema[name]))
        .otherwise(pl.col(name))
        .alias(name)
        for name, value in values.items()
    )
