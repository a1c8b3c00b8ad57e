"""Fills in the GPU where an export names none, from what the user says it was; says where that had no effect."""

from __future__ import annotations

import polars as pl

from ncuroof.errors import UsageError
from ncuroof.gpus.matching import find, match


def state(kernels: pl.DataFrame, gpu: str) -> pl.DataFrame:
    """Complete the device of launches that come without a name; launches that name theirs stay as they are.

    Args:
        kernels: the kernels table; ``gpu_name``, ``cc_major``, ``cc_minor``, ``sm_count`` and ``dram_size_bytes`` are
            completed where they are null.
        gpu: what a person calls it; see :func:`ncuroof.gpus.matching.find`.

    Raises:
        UsageError: when the text names no GPU of the table, or several.
    """
    meant = find(gpu)
    if meant.gpu is None:
        msg = f"--gpu {gpu}: {meant.reason}; `ncuroof roofs` lists the GPUs"
        raise UsageError(msg)
    known = meant.gpu
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


def remarks(kernels: pl.DataFrame, gpu: str) -> list[str]:
    """What a user who says ``--gpu`` should know: that a name was ambiguous, or that reports name another GPU.

    Args:
        kernels: the kernels table before :func:`state`.
        gpu: what a person calls it.
    """
    meant = find(gpu)
    if meant.gpu is None:
        return []
    told = []
    if meant.candidates and kernels["gpu_name"].null_count():
        others = ", ".join(other.id for other in meant.candidates)
        told.append(f"--gpu {gpu} is taken as {meant.gpu.name}; others of that name: {others}")
    identity = ("gpu_name", "cc_major", "cc_minor", "sm_count", "dram_size_bytes")
    others_named: dict[str, int] = {}
    named = kernels.filter(pl.col("gpu_name").is_not_null()).group_by(identity, maintain_order=True).len()
    for name, major, minor, sms, memory, launches in named.iter_rows():
        cc = None if major is None or minor is None else (major, minor)
        if match(name, cc, sms, memory).gpu not in (meant.gpu, *meant.candidates):
            others_named[name] = others_named.get(name, 0) + launches
    told += [
        f"--gpu {gpu} was not used for {launches} launch{'es' * (launches != 1)}: the report names {name}"
        for name, launches in others_named.items()
    ]
    return told
