"""R002: matrix products on CUDA cores."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run

# H100, measured roofs: FP32 51.9, TF32 418 TFLOP/s, 3085 GB/s. 4096³ in FP32: 2 x 4096³ = 1.374e11 FLOP, 2.65 ms at the
# roof; 2e8 byte: 65 µs.
SGEMM = {
    "kernel_name": "cutlass_80_simt_sgemm_256x128_8x4_nn_align1",
    "duration_s": 3e-3,
    "flop_fp32": 1.374e11,
    "dram_bytes": 2e8,
    "roof_flop_s_fp32": 51.9e12,
    "roof_flop_s_tf32": 418e12,
    "roof_bytes_s": 3085e9,
    "tensor_pct": 0.0,
}


def test_fires_with_the_time_tf32_would_save():
    # At TF32 1.374e11 / 418e12 = 329 µs instead of 2647 µs: 3 ms x (1 - 329 / 2647).
    (found,) = run("R002", SGEMM).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(3e-3 * (1 - 51.9 / 418), rel=1e-6)
    assert "100 % of its FLOPs run on the FP32 path" in found["message"]
    assert "TF32 has 418 TFLOP/s, 8.05 x" in found["message"]
    assert found["severity"] == "info"


def test_an_annotation_that_says_bf16_makes_it_a_warning():
    row = SGEMM | {"op": "gemm", "op_dtype": "bf16", "duration_s": 30e-3}
    (found,) = run("R002", row).findings.to_dicts()
    assert found["severity"] == "warning"
    assert found["message"].startswith("annotated as bf16, but")


def test_fp64_products_belong_on_dmma():
    # FP64 64.2 on tensor cores against 30 TFLOP/s of FMA: the same precision.
    row = SGEMM | {"flop_fp32": None, "flop_fp64": 1.374e11, "duration_s": 5e-3}
    row |= {"roof_flop_s_fp64": 30e12, "roof_flop_s_fp64_tensor": 64.2e12}
    (found,) = run("R002", row).findings.to_dicts()
    assert "DMMA" in found["advice"]


def test_guards_stay_silent():
    assert hits("R002", SGEMM) == [0]
    assert hits("R002", SGEMM | {"kernel_name": "layer_norm"}) == []
    assert hits("R002", SGEMM | {"kernel_name": "splitKreduce_kernel"}) == []
    assert hits("R002", SGEMM | {"duration_s": 5.4e-3}) == []  # 49 % of its roof: something else limits
    assert hits("R002", SGEMM | {"duration_s": 10e-3, "dram_bytes": 1.2e10}) == []  # left of the ridge point
    assert hits("R002", SGEMM | {"roof_flop_s_tf32": 66e12}) == []  # 1.27 x is no other path
    assert hits("R002", SGEMM | {"flop_bf16": 5e10, "roof_flop_s_bf16": 8e14}) == []  # 73 % of the FLOPs


def test_a_path_that_is_only_annotated_is_not_judged():
    row = {k: v for k, v in SGEMM.items() if k != "flop_fp32"} | {"op": "gemm", "op_dtype": "fp32"}
    outcome = run("R002", row | {"useful_flop": 1.374e11, "tensor_pct": None})
    assert outcome.findings.is_empty()
    assert outcome.judged["R002"] == 0


def test_without_bytes_it_cannot_judge():
    assert run("R002", SGEMM | {"dram_bytes": None}).skips[0].missing == {"time_memory_s": 1}
