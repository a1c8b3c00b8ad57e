"""Published figures and public reports by their numbers: each gives its finding and no other above note level."""

from __future__ import annotations

import polars as pl
import pytest
from tests.rules.frames import placed
from tests.rules.kernels import gemm

from ncuroof import rules
from ncuroof.config import Config


def loud(*rows):
    """(code, row) of everything above note level."""
    findings = rules.run(placed(*rows), Config()).findings.filter(pl.col("severity") != "note")
    return set(findings.select("code", "row").iter_rows())


T4_WMMA = {
    # 4096³ by wmma on a T4: 137.4 GFLOP, 27.03 GB, 97.8 ms; 319.8 GB/s and 23.97 TFLOP/s at its clocks.
    "kernel_name": "wmma_gemm",
    "cc_major": 7,
    "cc_minor": 5,
    "duration_s": 97.795e-3,
    "dram_bytes": 27.027e9,
    "dram_size_bytes": 15.843e9,
    "flop_fp16": 137438953472.0,
    "flop_tensor": 137438953472.0,
    "roof_bytes_s": 319.8e9,
    "roof_flop_s_fp16": 23.97e12,
}

B200_NVFP4 = {
    # 128 x 7168 x 16384 in NVFP4: 56 blocks on 148 SMs, 8.5 % of the memory roof.
    "kernel_name": "nvfp4_gemm",
    "cc_major": 10,
    "cc_minor": 0,
    "duration_s": 103.6e-6,
    "dram_bytes": 67.92e6,
    "flop_fp4": 30064771072.0,
    "flop_tensor": 30064771072.0,
    "roof_bytes_s": 7668e9,
    "roof_flop_s_fp4": 5576e12,
    "grid_blocks": 56.0,
    "sm_count": 148.0,
    "waves": 56 / 148,
}

V100_HALO = {
    # 12.8 µs at a DRAM "clock" of 0.55 of nominal: the time base is off, and no roof is to be believed.
    "kernel_name": "set_halo_values_x",
    "cc_major": 7,
    "cc_minor": 0,
    "duration_s": 12.8e-6,
    "memory_clock_ratio": 0.549,
    "sm_pct": 5.0,
    "memory_pct": 25.0,
}


def test_a_product_that_reads_its_inputs_200_times():
    assert loud(T4_WMMA) == {("M007", 0)}


def test_a_product_on_a_third_of_the_sms():
    assert loud(B200_NVFP4) == {("T002", 0)}


def test_a_wrong_time_base_is_a_note():
    findings = rules.run(placed(V100_HALO), Config(select=("D009",))).findings
    assert findings["severity"].to_list() == ["note"]


ROOFS = {
    "h100": {"roof_bytes_s": 3085e9, "roof_flop_s_fp16": 788e12, "roof_flop_s_fp32": 51.9e12, "cc_major": 9},
    "b300": {"roof_bytes_s": 6555e9, "roof_flop_s_fp16": 1784e12, "roof_flop_s_bf16": 1800e12, "cc_major": 10},
    "rtx4080": {"roof_bytes_s": 661.4e9, "roof_flop_s_fp16": 104.2e12, "cc_major": 8, "cc_minor": 9},
}


def m_sweep(gpu, *pairs, dtype="fp16"):
    return [gemm(m, 8192, 8192, 1e-6 * t, dtype=dtype, **ROOFS[gpu]) for m, t in pairs]


def squares(gpu, *pairs, dtype="fp16"):
    return [gemm(n, n, n, 1e-6 * t, dtype=dtype, **ROOFS[gpu]) for n, t in pairs]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (m_sweep("h100", (1, 46.7), (2, 58.7), (4, 60.2), (8, 49.9)), {("S001", 1), ("S001", 2)}),
        (m_sweep("h100", (2, 249.6), (4, 145.6), dtype="fp32"), {("S001", 0)}),
        (m_sweep("b300", (1, 28.6), (2, 63.5), (4, 63.6), (8, 28.3)), {("S001", 1), ("S001", 2)}),
        (
            squares("b300", (256, 23.4), (512, 28.3), (1024, 18.0), (2048, 14.4)),
            {("S003", 0), ("S003", 1), ("S003", 2)},
        ),
        (squares("h100", (256, 4.455), (512, 4.483)), {("T001", 0), ("T001", 1)}),
        (
            m_sweep("rtx4080", (128, 246.0), (256, 385.0), (512, 763.0), (1024, 1334.6), (2048, 2664.7)),
            {("S002", 1), ("S002", 2)},
        ),
    ],
    ids=["H100 M", "H100 FP32 M", "B300 M", "B300 squares", "H100 squares", "RTX 4080 step"],
)
def test_sweeps(rows, expected):
    assert loud(*rows) == expected


def test_the_same_sizes_in_bf16_are_sound():
    # n = 256 and 512 take 5.0 µs: launch overhead, and nothing about the sweep.
    rows = squares("b300", (256, 5.0), (512, 5.0), (1024, 6.2), (2048, 14.4), dtype="bf16")
    assert {code for code, _ in loud(*rows)} == {"T001"}
