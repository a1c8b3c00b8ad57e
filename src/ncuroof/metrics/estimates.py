"""Tensor work where no operation counter was collected: from instruction counts or from the tensor pipe's activity.

Both give estimates. Activity against counters: T4 5.97 % for 5.86 %, RTX 5090 43.1 for 41.2, B200 5.204 for 5.204: 0 to
5 % high. The path of a kernel comes from its name and from the parts of the pipe that were active.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ncuroof import gpus
from ncuroof.metrics import tensor
from ncuroof.metrics.names import Hint, hint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ncuroof.metrics.catalogue import Candidate
    from ncuroof.metrics.engine import Context

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

PHANTOM_CHIPS = (80, 87, 90)
"""Chips whose tensor pipe also executes HFMA2 (NVIDIA's catalogue: …_op_hmma_type_hfma2 exists there only)."""

PHANTOM_PCT = 5.0
"""Activity below this on those chips is no sign of tensor work: 2 to 4 % on plain elementwise kernels."""

LEGACY_FAMILIES = ("hmma", "imma", "bmma")
"""Opcode families of mma.sync."""

FP16_IDLE_PCT = 1.0
"""A pipe for FP16 instructions below this share of its peak hides no work that matters."""

INTEGER_SHARE = 0.5
"""Share of the pipe's activity from which the integer or FP64 part names the path."""

FLOP_PER_INSTRUCTION: dict[str, tuple[tuple[int, int, float], ...]] = {
    "_inst_hmma": ((70, 72, 512.0), (75, 75, 2048.0), (80, 89, 4096.0), (90, 121, 4096.0)),
    "_inst_imma": ((72, 75, 2048.0), (80, 121, 8192.0)),
    "_inst_dmma": ((80, 80, 512.0),),
}
"""FLOP of a warp's matrix instruction by compute capability range: HMMA.884 step 512, HMMA.1688 2048 (67,108,864 × 2048
is the counter of a T4 report), HMMA.16816 4096 (RTX 5090 report), IMMA.8816 2048, IMMA.16832 8192, DMMA.884 512."""

TF32_FLOP = 2048.0
"""HMMA.1688.TF32: half the depth of an FP16 instruction."""


def hints(of: Context) -> list[Hint]:
    """What the name of every launch says."""
    if "hints" not in of.memo:
        names, longer = (of.launches[column].to_list() for column in ("kernel_name", "kernel_demangled"))
        of.memo["hints"] = [hint(f"{a or ''} {b or ''}") for a, b in zip(names, longer, strict=True)]
    found: list[Hint] = of.memo["hints"]
    return found


def is_tensor(of: Context) -> Flags:
    """Which launches did tensor work by the activity of the pipe, not counting register moves by HFMA2."""
    limit = np.where(np.isin(of.cc, PHANTOM_CHIPS) & ~_named(of), PHANTOM_PCT, 0.0)
    works: Flags = np.nan_to_num(of.values["tensor_pct"]) > limit
    return works


def _named(of: Context) -> Flags:
    """Which launches have the name of a matrix kernel."""
    return np.array([h.matrix for h in hints(of)], dtype=np.bool_)


def path_hint(of: Context, candidate: Candidate) -> list[str | None]:
    """The tensor path of every launch whose tensor pipe worked, or whose name is that of a matrix kernel.

    By the name, where it names an element type that fits the part of the pipe that worked; by the pipe itself only for
    FP64, which is the one type that its part has. A type that neither tells is not guessed.
    """
    total = of.values["tensor_pct"]
    integer = np.nan_to_num(of.values["tensor_imma_pct"])
    double = np.nan_to_num(of.values["tensor_dmma_pct"])
    hmma = np.nan_to_num(of.values["_tensor_hmma_pct"])
    works = is_tensor(of)
    found: list[str | None] = []
    for row, said in enumerate(hints(of)):
        parts = max(integer[row] + double[row] + hmma[row], 1e-30)
        mostly_integer, mostly_double = (part / parts >= INTEGER_SHARE for part in (integer[row], double[row]))
        if not works[row] and not (said.matrix and np.isnan(total[row])):
            found.append(None)
        elif candidate.args["by"] == "pipe":
            found.append("fp64_tensor" if mostly_double else None)
        elif mostly_integer:
            found.append(said.path if said.path in tensor.INTEGER_PATHS else None)
        elif hmma[row] > 0 and said.path in (*tensor.INTEGER_PATHS, "fp64_tensor"):
            found.append(None)  # the name speaks of an operand that is converted before the product
        else:
            found.append(said.path)
    return found


def flop_complete(of: Context, _candidate: Candidate) -> Floats | None:
    """1 where the work of all paths is known, 0 where some path may hide work.

    Tensor work is known where any tensor counter was collected or an estimate was made, and ruled out where the pipe
    was idle or the chip has none.
    """
    counted = np.isfinite(of.values["flop_fp32"]) & np.isfinite(of.values["flop_fp64"])
    columns = ("flop_tensor", *(tensor.work_column(path) for path in tensor.INTEGER_PATHS))
    tensor_known = np.any([np.isfinite(of.values[column]) for column in columns], axis=0)
    idle = np.isfinite(of.values["tensor_pct"]) & ~is_tensor(of)
    half_known = np.isfinite(of.values["flop_fp16_vector"]) | _without_half_work(of)
    complete: Flags = counted & half_known & (tensor_known | idle | _without_tensor_cores(of))
    return complete.astype(np.float64)


def _without_half_work(of: Context) -> Flags:
    """Launches whose FP16 pipe was idle; where the tensor pipe executes HFMA2, that must be idle or do matrix work too.

    On an A100, 3·10⁸ HFMA2 leave the FP16 pipe at 0.0 %.
    """
    spared: Flags = (of.values["tensor_pct"] <= PHANTOM_PCT) | ~_no_counter(of)
    quiet: Flags = (of.values["fp16_pipe_pct"] < FP16_IDLE_PCT) & (spared | ~np.isin(of.cc, PHANTOM_CHIPS))
    return quiet


def _without_tensor_cores(of: Context) -> Flags:
    """Chips that are known to have no tensor cores: Pascal and older, GTX 16."""
    names = of.launches["gpu_name"].to_list()
    chips = [_chip(int(cc), name) if cc and name else None for cc, name in zip(of.cc, names, strict=True)]
    cut = [chip is not None and not (chip.rates.keys() & set(tensor.paths())) for chip in chips]
    return ((of.cc > 0) & (of.cc < 70)) | np.array(cut, dtype=np.bool_)


def _legacy(of: Context, row: int, said: Hint) -> bool:
    """Whether a launch used mma.sync: by the wgmma part of the pipe where it is counted, else by the name."""
    gmma, hmma = of.values["_tensor_gmma_pct"][row], of.values["_tensor_hmma_pct"][row]
    if np.isfinite(gmma) and np.isfinite(hmma) and max(gmma, hmma) > 0:
        return bool(hmma > gmma)
    return said.legacy is True


@lru_cache(maxsize=256)
def _chip(cc: int, gpu_name: str | None) -> gpus.Architecture | None:
    return gpus.architecture(divmod(cc, 10), gpu_name)


def _rows_on(of: Context, path: str) -> list[int]:
    """The launches that the hint puts on a path."""
    return [row for row, hinted in enumerate(of.values["path_hint"]) if hinted == path]


def _rates(of: Context, path: str) -> Floats | None:
    """Dense operations per SM and cycle of a path on each launch's chip, for the kind of instruction it used."""
    rows = _rows_on(of, path)
    if not rows:
        return None
    names = of.launches["gpu_name"].to_list()
    said = hints(of)
    found = np.full(of.size, np.nan)
    for row in rows:
        chip = _chip(int(of.cc[row]), names[row])
        legacy = _legacy(of, row, said[row])
        rate = _rate(chip, path, legacy=legacy, fp16_accumulate=said[row].fp16_accumulate)
        if rate is not None:
            found[row] = rate
    return found


def _no_counter(of: Context) -> Flags:
    """Launches for which no operation counter shows tensor work: elsewhere an estimate would count it twice."""
    work = sum((np.nan_to_num(of.values[t.work]) for t in tensor.types()), np.zeros(of.size))
    return work <= 0


def tensor_from_activity(of: Context, candidate: Candidate) -> Floats | None:
    """Work from the pipe's activity: activity × dense rate × SMs × elapsed cycles."""
    rates = _rates(of, candidate.args["path"])
    if rates is None:
        return None
    work = of.values["tensor_pct"] / 100.0 * rates * of.values["sm_count"] * of.values["sm_cycles"]
    return np.where(_no_counter(of) & is_tensor(of), work, np.nan)


def tensor_from_instructions(of: Context, candidate: Candidate) -> Floats | None:
    """Work from matrix instructions × FLOP per instruction; wgmma and tcgen05 instructions have no fixed size."""
    path = candidate.args["path"]
    counter = "_inst_imma" if path in tensor.INTEGER_PATHS else "_inst_dmma" if path == "fp64_tensor" else "_inst_hmma"
    count = of.values[counter]
    rows = [row for row in _rows_on(of, path) if count[row] > 0]
    if not rows:
        return None
    said = hints(of)
    flop = np.full(of.size, np.nan)
    for row in rows:
        fixed = of.cc[row] < 90 or of.cc[row] >= 120 or _legacy(of, row, said[row])
        for low, high, per in FLOP_PER_INSTRUCTION[counter]:
            if fixed and low <= of.cc[row] <= high:
                flop[row] = TF32_FLOP if path == "tf32" else per
    phantom = np.isin(of.cc, PHANTOM_CHIPS) & ~is_tensor(of) & ~_named(of)
    return np.where(_no_counter(of) & ~phantom, count * flop, np.nan)


def tensor_rate_peak(of: Context, candidate: Candidate) -> Floats | None:
    """Dense rate of the instructions used × SMs × clock, for work that comes without a peak of the report's own.

    That is work estimated or counted by opcode: mma.sync is judged by its own rate there too.
    """
    path = candidate.args["path"]
    column = tensor.work_column(path)
    without = np.isin(of.sources[column], [of.label("estimated"), of.label("sass")]) & (of.values[column] > 0)
    if not without.any():
        return None
    names, said, hinted = of.launches["gpu_name"].to_list(), hints(of), of.values["path_hint"]
    half = _work(of, f"{column}_acc_fp16") > _work(of, f"{column}_acc_fp32")
    rates = np.full(of.size, np.nan)
    for row in np.flatnonzero(without).tolist():
        counted = of.source(column, row) == "sass"
        if not counted and hinted[row] != path:
            continue
        legacy = _legacy_by_work(of, path, row) if counted else _legacy(of, row, said[row])
        fp16 = bool(half[row]) if counted else said[row].fp16_accumulate
        rate = _rate(_chip(int(of.cc[row]), names[row]), path, legacy=legacy, fp16_accumulate=fp16)
        rates[row] = np.nan if rate is None else rate
    peaks: Floats = rates * of.values["sm_count"] * of.values["sm_hz"]
    return peaks


def _work(of: Context, column: str) -> Floats:
    work: Floats = np.nan_to_num(of.values.get(column, np.zeros(of.size)))
    return work


def _legacy_by_work(of: Context, path: str, row: int) -> bool:
    """Whether most of a path's counted work was done by mma.sync instructions."""
    done = {part: _work(of, tensor.part_work(part))[row] for part, t in tensor.parts().items() if t.path == path}
    old = sum(work for part, work in done.items() if tensor.family(part) in LEGACY_FAMILIES)
    return bool(2 * old > sum(done.values()))


def _rate(chip: gpus.Architecture | None, path: str, *, legacy: bool, fp16_accumulate: bool) -> float | None:
    """Dense operations per SM and cycle of a kind of instruction."""
    if chip is None:
        return None
    rate = chip.rates.get(path)
    if fp16_accumulate:
        rate = chip.fp16_accumulate.get(path, rate)
    return chip.legacy_mma.get(path, rate) if legacy else rate
