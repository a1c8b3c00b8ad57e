"""Kernels for rule tests, with round numbers."""

from __future__ import annotations

IDLE = {
    "duration_s": 100e-6,
    "roof_bytes_s": 3e12,
    "roof_flop_s_fp32": 6e13,
    "dram_bytes": 3e7,  # Q / B = 10 µs: 10 % of the bandwidth roof
    "flop_fp32": 3e8,  # W / F = 5 µs: 5 % of the FP32 roof, left of the ridge point (10 against 20 FLOP/byte)
    "tensor_pct": 0.0,
    "sm_pct": 30.0,
    "memory_pct": 20.0,
    "sm_count": 100.0,
    "grid_blocks": 4000.0,
    "block_threads": 256.0,
    "waves": 8.0,
}
"""100 µs on 100 SMs, eight whole waves, nothing busy: latency-bound. A test adds what its rule looks for."""

GEMM = {"op": "gemm", "op_dtype": "fp16", "workload_source": "annotation"}


def gemm(m: int, n: int, k: int, seconds: float, *, dtype: str = "fp16", sweep: str | None = "sweep", **more: object):
    """An annotated product without counters: useful work 2MNK, compulsory bytes of a two-byte type."""
    size = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 2}[dtype]
    return (
        GEMM
        | {
            "op_dtype": dtype,
            "op_m": m,
            "op_n": n,
            "op_k": k,
            "op_sweep": sweep,
            "useful_flop": 2.0 * m * n * k,
            "compulsory_bytes": float(size * (m * k + k * n + m * n)),
            "duration_s": seconds,
        }
        | more
    )
