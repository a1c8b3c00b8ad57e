"""Metric values that several tests build results from."""

from __future__ import annotations

OPS = "sm__ops_path_tensor_"
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
CLOCK = {"sm__cycles_elapsed.avg.per_second": 1e9}

ELEMENTWISE = {
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": 2.98,
    "sm__cycles_elapsed.avg": 10_000,
    "device__attribute_multiprocessor_count": 114,
}
"""2.98 % tensor activity on an H100 PCIe: what register moves of a plain kernel make."""


def fp32(add: float, mul: float, fma: float, suffix: str = "") -> dict[str, float]:
    names = ("fadd", "fmul", "ffma")
    return {SASS.format(n) + suffix: v for n, v in zip(names, (add, mul, fma), strict=True)}


def halves(add: float, mul: float, fma: float) -> dict[str, float]:
    return {SASS.format(n): v for n, v in zip(("hadd", "hmul", "hfma"), (add, mul, fma), strict=True)}
