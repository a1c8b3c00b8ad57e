"""The GPU that the stand-in ncu pretends to have: an H100 whose times are the published ones where there are any.

Times of FP16 matrix products are medians of the M sweep and the square products published with "The Roofline Model,
Starting from Measured Data" (github.com/RealZST/llm-infra-notes, roofline/data, commit 272851c). Executed work is what
Nsight Compute counted there: products of two and more rows run 64-row tiles on tensor cores, one row is a GEMV on
CUDA cores. All else follows max(W/F, Q/B) with that article's measured F and B.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "NVIDIA H100 80GB HBM3"
CHIP = "GH100"
CC = (9, 0)
SMS = 132
L2_BYTES = 50 * 2**20
SM_HZ, DRAM_HZ = 1.755e9, 2.619e9
BANDWIDTH = 3.0849e12
PEAK = {"fp16": 787.6e12, "bf16": 802.4e12, "tf32": 418e12, "fp64": 64.2e12, "fp32": 51.9e12, "fp8": 1318e12}
FLOOR_S = 4.4e-6
TILE_ROWS = 64
SIZEOF = {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1}
ATTRIBUTES = {
    "multiprocessor_count": SMS,
    "clock_rate": 1_980_000,
    "memory_clock_rate": 2_619_000,
    "global_memory_bus_width": 5120,
    "fb_bus_width": 5120,
    "l2_cache_size": L2_BYTES,
}
M_SWEEP_MS = {
    1: 0.046696, 2: 0.058690, 4: 0.060218, 8: 0.049866, 16: 0.049104, 32: 0.047704, 64: 0.048241, 128: 0.049468,
    256: 0.054070, 512: 0.092924, 1024: 0.176654, 2048: 0.349002,
}  # fmt: skip
"""FP16, N = K = 8192, caches kept."""
SQUARE_MS = {256: 0.0044554, 512: 0.0044832, 1024: 0.0066493, 2048: 0.0237838, 4096: 0.1777559, 8192: 1.4541212}
"""FP16, caches kept."""


@dataclass(frozen=True)
class Kernel:
    """A launch, its NVTX message and every metric the stand-in can measure of it."""

    name: str
    message: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    metrics: Mapping[str, float | int]


def kernel(message: str, *, cold: bool) -> Kernel:
    """Return the launch behind one annotation."""
    body = json.loads(message.removeprefix("ncuroof:"))
    op = body.get("op", "kernel")
    return _product(body, message, cold) if op == "gemm" else _mover(body, op, message, cold)


def _product(body: dict, message: str, cold: bool) -> Kernel:
    m, n, k, dtype = body["m"], body["n"], body["k"], body.get("dtype", "fp16")
    moved = SIZEOF[dtype] * (m * k + k * n + m * n)
    useful = 2 * m * n * k
    vector = m == 1 or dtype == "fp32"
    executed = useful if vector else 2 * math.ceil(m / TILE_ROWS) * TILE_ROWS * n * k
    published = M_SWEEP_MS.get(m) if (n, k) == (8192, 8192) else SQUARE_MS.get(m) if m == n == k else None
    seconds = published * 1e-3 if published and dtype == "fp16" else _time(executed, PEAK[dtype], moved)
    name = "gemv2T_kernel_val" if m == 1 else f"sm90_xmma_gemm_{dtype}_tilesize{TILE_ROWS}x128x64"
    if vector and m > 1:
        name = "ampere_sgemm_128x64_nn"
    work = {"ffma": useful // 2} if vector else {dtype: executed}
    blocks = max(1, math.ceil(m / TILE_ROWS) * math.ceil(n / 128))
    return _kernel(name, message, blocks, seconds, moved, work, cold)


def _mover(body: dict, op: str, message: str, cold: bool) -> Kernel:
    n = int(body.get("n", 1))
    arrays = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "reduction": 1}.get(op, 2)
    moved = arrays * n * SIZEOF.get(body.get("dtype", "fp32"), 4)
    names = {"copy": "vectorized_elementwise_kernel", "reduction": "reduce_kernel", "elementwise": "elementwise_kernel"}
    seconds = _time(0, 1.0, moved)
    return _kernel(names.get(op, op), message, max(1, n // 1024), seconds, moved, {"ffma": n}, cold)


def _time(work: float, peak: float, moved: float) -> float:
    return max(FLOOR_S, work / peak, moved / BANDWIDTH)


def _kernel(name, message, blocks, seconds, moved, work, cold) -> Kernel:  # noqa: PLR0917
    """Assemble the metrics; with warm caches what fits into L2 does not come from DRAM."""
    if cold and moved <= L2_BYTES:
        seconds = max(seconds, FLOOR_S + moved / BANDWIDTH)
    dram = moved if cold or moved > L2_BYTES else moved * 0.05
    cycles = seconds * SM_HZ
    op = "sm__sass_thread_inst_executed_op_{}_pred_on.sum"
    metrics: dict[str, float | int] = {
        "gpu__time_duration.sum": seconds * 1e9,
        "sm__cycles_elapsed.avg": cycles,
        "sm__cycles_elapsed.max": cycles,
        "sm__cycles_elapsed.avg.per_second": SM_HZ,
        "dram__bytes.sum": int(dram),
        "dram__bytes_read.sum": int(dram * 0.9),
        "dram__bytes_write.sum": int(dram) - int(dram * 0.9),
        "dram__cycles_elapsed.avg.per_second": DRAM_HZ,
        "dram__bytes.sum.peak_sustained": 1280,
        "lts__t_sectors_srcunit_tex.sum": int(moved // 32),
        "lts__t_sectors_op_read.sum": int(moved * 0.9 // 32),
        "lts__t_sectors_op_write.sum": int(moved * 0.1 // 32),
        "lts__t_sector_hit_rate.pct": 100 * (1 - dram / moved) if moved else 0.0,
        op.format("ffma") + ".peak_sustained": SMS * 128,
        op.format("dfma") + ".peak_sustained": SMS * 64,
        "launch__waves_per_multiprocessor": blocks / (2 * SMS),
        "launch__registers_per_thread": 128,
        "launch__occupancy_limit_blocks": 32,
        "launch__occupancy_limit_registers": 2,
        "launch__occupancy_limit_shared_mem": 2,
        "launch__occupancy_limit_warps": 8,
    }
    for kind in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma", "hadd", "hmul", "hfma"):
        metrics[op.format(kind)] = work.get(kind, 0)
    for kind, metric in (("fp16", "src_fp16"), ("bf16", "src_bf16_dst_fp32"), ("tf32", "src_tf32_dst_fp32"),
                         ("fp64", "src_fp64"), ("fp8", "src_fp8"), ("int8", "src_int8")):  # fmt: skip
        metrics[f"sm__ops_path_tensor_{metric}.sum"] = work.get(kind, 0)
    return Kernel(name, message, (blocks, 1, 1), (256, 1, 1), metrics)
