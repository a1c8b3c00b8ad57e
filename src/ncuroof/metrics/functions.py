"""What does not fit a structured row of the counter tables: named functions, referenced by name from the rows.

Each takes the evaluation context and its candidate and gives one value per launch, NaN (or None) where it cannot say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ncuroof import gpus
from ncuroof.metrics import estimates, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ncuroof.metrics.catalogue import Candidate
    from ncuroof.metrics.engine import Context

    Floats = NDArray[np.float64]

WITHOUT_DRAM_COUNTERS = (72, 87, 110, 121)
"""Xavier, Orin, Thor, GB10: memory shared with the CPU, no frame buffer units (NVIDIA's metric catalogue)."""

PHANTOM_SHARE = 0.25
"""HFMA2 work below this share of all other work is taken for register moves (64 of 64 kernels on CC 8.0 and 9.0)."""


LEAST_PERCENT = 5.0
"""Printed percentages have two decimals: above this, a peak worked out from one is good to 0.1 %."""


def product(of: Context, candidate: Candidate) -> Floats | None:
    """Product of columns of the launches table."""
    total = np.ones(of.size)
    for name in candidate.args["columns"]:
        total = total * of.launches[name].cast(float).to_numpy()
    return total


def dram_counters_absent(of: Context, _candidate: Candidate) -> Floats | None:
    """1 where the chip has no DRAM counters, 0 where it has, NaN where the chip is unknown."""
    return np.where(of.cc == 0, np.nan, np.isin(of.cc, WITHOUT_DRAM_COUNTERS).astype(float))


def peak_from_percent(of: Context, candidate: Candidate) -> Floats | None:
    """A peak rate from a rate and the percentage of the peak that it is, where that is not too small to divide by."""
    rate = of.metrics.get(candidate.args["rate"])
    if rate is None:
        return None
    nothing = np.full(of.size, np.nan)
    percent = nothing
    for name in candidate.args["percents"]:
        percent = np.where(np.isfinite(percent), percent, of.metrics.get(name, nothing))
    return np.where(percent >= LEAST_PERCENT, 100.0 * rate / percent, np.nan)


def gpu_table(of: Context, candidate: Candidate) -> Floats | None:
    """A figure of the GPU table for devices whose name leaves no doubt about the variant."""
    if "gpus" not in of.memo:
        sizes = of.metrics.get("device__attribute_total_memory", np.full(of.size, np.nan))
        keys = list(zip(of.launches["gpu_name"].to_list(), of.cc.tolist(), sizes.tolist(), strict=True))
        known = {key: _variant(*key) for key in set(keys)}
        of.memo["gpus"] = [known[key] for key in keys]
    found = (getattr(gpu, candidate.args["field"], None) for gpu in of.memo["gpus"])
    return np.array([np.nan if value is None else float(value) for value in found])


def _variant(gpu_name: str | None, cc: int, size: float) -> gpus.Gpu | None:
    return gpus.match(gpu_name, divmod(cc, 10) if cc else None, None, None if np.isnan(size) else size).gpu


def busiest(of: Context, candidate: Candidate) -> Floats | None:
    """The largest of the metrics that a result holds."""
    held = [of.metrics[term.name] for term in candidate.needs if term.name in of.metrics]
    return np.fmax.reduce(held) if held else None


def fp16_without_phantom(of: Context, _candidate: Candidate) -> Floats | None:
    """FP16 vector work, 0 where it is only register moves and conversions.

    Compilers write ``HFMA2 Rx, -RZ, RZ, imm, imm`` to load a constant. Without the operands of the instructions, HFMA2
    count only if there are half additions or multiplications and 4·hfma exceeds a quarter of all other work. Where
    they do not, multiplications count still, and additions where the mnemonics told them from conversions (HADD2.F32).
    """
    raw = of.values["flop_fp16_vector_raw"]
    plain = of.values["fp16_add"] + of.values["fp16_mul"]
    other = sum(np.nan_to_num(of.values[name]) for name in ("flop_fp32", "flop_fp64", "flop_tensor"))
    real = (plain > 0) & (4 * of.values["fp16_fma"] > PHANTOM_SHARE * other)
    told_apart = of.sources["fp16_add"] == of.label("sass")
    certain = 2 * (of.values["fp16_mul"] + np.where(told_apart, of.values["fp16_add"], 0.0))
    return np.where(np.isfinite(raw), np.where(real, raw, certain), np.nan)


def _parallel(pairs: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Work and peak of several kinds of work together: total work over the sum of the times each would take.

    A kind with no work plays no part; a kind with work but no peak makes the result unknown.
    """
    work = sum((np.nan_to_num(w) for w, _ in pairs), np.zeros_like(pairs[0][0]))
    time = sum((np.where(np.nan_to_num(w) > 0, w / p, 0.0) for w, p in pairs), np.zeros_like(pairs[0][0]))
    return work, np.where(work > 0, work / time, np.nan)


def _type_peak(of: Context, row: tensor.TensorType, *, halved: bool) -> Floats:
    """Dense peak of one type: of the opcodes that worked, else the fastest opcode's, else the type's own.

    ``halved`` admits half the peak of an aggregate, which is a sparse one.
    """
    own: Floats = of.values[row.peak]
    if not halved:
        own = np.where(of.sources[row.peak] == of.label(tensor.HALVED), np.nan, own)
    if not row.parts:
        return own
    work, used = _parallel([(of.values[tensor.part_work(p)], of.values[tensor.part_peak(p)]) for p in row.parts])
    fastest = np.fmax.reduce([of.values[tensor.part_peak(p)] for p in row.parts])
    # Where the type has one opcode family on the chip, its own peak is that family's.
    single = (of.cc < 90) | (of.cc >= 120)
    used = np.where(np.isfinite(used) | ~single, used, own)
    return np.where(work > 0, used, np.where(np.isfinite(fastest), fastest, own))


def tensor_peak(of: Context, candidate: Candidate) -> Floats | None:
    """Dense peak of a path for what was really used; without work, that of its first type with a known peak."""
    rows = [t for t in tensor.types() if t.path == candidate.args["path"]]
    peaks = {row.name: _type_peak(of, row, halved=candidate.args["halved"]) for row in rows}
    together = [t for t in rows if t.covers]
    apart = [t for t in rows if not t.covers]
    work, used = _parallel([(of.values[t.work], peaks[t.name]) for t in apart])
    for row in together:
        whole = np.nan_to_num(of.values[row.work])
        used = np.where((whole > 0) & np.isfinite(peaks[row.name]), peaks[row.name], used)
        work = np.maximum(work, whole)
    idle = np.full(of.size, np.nan)
    for row in (*apart, *together):
        idle = np.where(np.isfinite(idle), idle, peaks[row.name])
    return np.where(work > 0, used, idle)


def tensor_family(of: Context, _candidate: Candidate) -> list[str | None]:
    """The opcode families with work, joined by ``+``; None where the counters do not tell."""
    names: list[str | None] = [None] * of.size
    for part in tensor.parts():
        for index in np.flatnonzero(np.nan_to_num(of.values[tensor.part_work(part)]) > 0):
            known = (names[index] or "").split("+") if names[index] else []
            if tensor.family(part) not in known:
                names[index] = "+".join([*known, tensor.family(part)])
    return names


REGISTRY: dict[str, Callable[[Context, Candidate], Floats | None]] = {
    "product": product,
    "busiest": busiest,
    "peak_from_percent": peak_from_percent,
    "gpu_table": gpu_table,
    "dram_counters_absent": dram_counters_absent,
    "fp16_without_phantom": fp16_without_phantom,
    "tensor_peak": tensor_peak,
    "tensor_from_activity": estimates.tensor_from_activity,
    "tensor_from_instructions": estimates.tensor_from_instructions,
    "flop_complete": estimates.flop_complete,
    "tensor_rate_peak": estimates.tensor_rate_peak,
}
"""Functions that give numbers."""

TEXT_REGISTRY: dict[str, Callable[[Context, Candidate], list[str | None]]] = {
    "tensor_family": tensor_family,
    "path_hint": estimates.path_hint,
}
"""Functions that give text."""
