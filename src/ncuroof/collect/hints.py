"""What a list of kernels tells before they are profiled: which counters they need, and what may go wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from ncuroof.collect.command import ANNOTATED
from ncuroof.collect.tiers import COMMON_TYPES, tensor_types

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ncuroof.collect.command import Filters

COLLECTIVE = re.compile(
    r"nccl|nvshmem|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast_kernel|multimem", re.IGNORECASE
)
NAME_TYPES = {
    "fp16": r"(?<![b\d])f16|fp16|half|hgemm|h884|h1688|h16816|nvjet_h",
    "bf16": r"bf16|bfloat16|nvjet_t",
    "tf32": r"tf32|s1688gemm",
    "fp64": r"dgemm|f64|d884|double",
    "fp8": r"e4m3|e5m2|fp8|qgmma|nvjet_q",
    "fp4": r"e2m1|fp4|nvfp4|nvjet_o",
    "int8": r"i8816|i16832|s8_|_s8|int8|igemm",
}
"""Signs of an input type in kernel names of cuBLAS, CUTLASS and Triton. Hints: they only decide what is counted."""
AUTOTUNE_VARIABLES = ("TORCHINDUCTOR_MAX_AUTOTUNE", "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM", "TRITON_PRINT_AUTOTUNING")
CANDIDATES = 3
"""Different kernels or block sizes in a row under one annotation from which on it looks like a choice being made."""
RANK_VARIABLES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
LAUNCHERS = ("torchrun", "mpirun", "mpiexec", "srun", "deepspeed", "accelerate")


def types_used(kernels: pl.DataFrame) -> tuple[str, ...]:
    """Return the tensor types that annotations and kernel names point to; the common ones if none does.

    Args:
        kernels: columns ``kernel_demangled``, ``kernel_name`` and, where annotated, ``op_dtype``.
    """
    found: set[str] = set()
    if "op_dtype" in kernels.columns:
        found.update(str(value).split("_")[0] for value in kernels["op_dtype"].drop_nulls().unique())
    for name in kernels.select(pl.coalesce("kernel_demangled", "kernel_name")).to_series().drop_nulls().unique():
        found.update(kind for kind, pattern in NAME_TYPES.items() if re.search(pattern, name, re.IGNORECASE))
    known = tuple(name for name in tensor_types() if name in found)
    return known or COMMON_TYPES


def collectives(kernels: pl.DataFrame) -> list[str]:
    """Return the names of kernels that communicate between GPUs."""
    names = kernels["kernel_name"].drop_nulls().unique().sort()
    return [name for name in names if COLLECTIVE.search(name)]


def several_processes(environment: Mapping[str, str], program: Sequence[str]) -> str:
    """Return the sign that this is one of several processes that work together; empty if there is none."""
    for variable in RANK_VARIABLES:
        value = environment.get(variable, "")
        if value.isdigit() and int(value) > 1:
            return f"{variable}={value}"
    words = [word.rsplit("/", 1)[-1] for word in program[:4]]
    return next((word for word in words if word in LAUNCHERS), "")


def autotuning(kernels: pl.DataFrame, environment: Mapping[str, str]) -> str:
    """Return why autotuning may happen inside the profiled range; empty if nothing says so."""
    for variable in AUTOTUNE_VARIABLES:
        if environment.get(variable, "0") not in ("", "0"):
            return f"{variable} is set"
    if kernels.is_empty() or "op_shape" not in kernels.columns:
        return ""
    runs = (
        kernels.filter(pl.col("op").is_not_null())
        .with_columns(run=pl.struct("op", "op_dtype", "op_shape").rle_id())
        .group_by("run", maintain_order=True)
        .agg(
            launches=pl.len(),
            kinds=pl.struct("kernel_name", "block_x", "block_y", "grid_x", "grid_y").n_unique(),
            op=pl.col("op").first(),
        )
        # A product with a reduction behind it is two kernels; candidates being tried are many, several times each.
        .filter((pl.col("kinds") >= CANDIDATES) & (pl.col("launches") >= 3 * pl.col("kinds")))
    )
    if runs.is_empty():
        return ""
    first = runs.row(0, named=True)
    return f"one {first['op']} is launched {first['launches']} times in a row by {first['kinds']} different kernels"


def count(kernels: pl.DataFrame, filters: Filters) -> int | None:
    """Return how many launches the filters let through; None where only ncu can tell."""
    known = {(), (ANNOTATED,)}
    if filters.nvtx_exclude or filters.nvtx_include not in known or not filters.from_start:
        return None
    left = kernels
    if filters.nvtx_include == (ANNOTATED,):
        left = left.filter(pl.col("nvtx_path").fill_null("").str.contains("ncuroof:", literal=True))
    if filters.kernel_name is not None:
        column = "kernel_demangled" if filters.kernel_name_base == "demangled" else "kernel_name"
        names = left[column].fill_null("").to_list()
        try:
            wanted = _matcher(filters.kernel_name)
        except re.error:
            return None
        left = left.filter(pl.Series([wanted(name) for name in names], dtype=pl.Boolean))
    number = max(0, left.height - (filters.launch_skip or 0))
    return number if filters.launch_count is None else min(number, filters.launch_count)


def annotated_span(kernels: pl.DataFrame) -> pl.DataFrame | None:
    """Return the launches from the first annotated one to the last; None without any."""
    rows = kernels["nvtx_path"].fill_null("").str.contains("ncuroof:", literal=True).arg_true()
    return None if rows.is_empty() else kernels[int(rows[0]) : int(rows[-1]) + 1]


def _matcher(expression: str) -> Callable[[str], bool]:
    if expression.startswith("regex:"):
        pattern = re.compile(expression.removeprefix("regex:"))
        return lambda name: pattern.search(name) is not None
    return lambda name: name == expression
