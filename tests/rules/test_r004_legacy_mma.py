"""R004: mma.sync on GPUs that have wgmma or tcgen05."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run

# H100: FP16 by wgmma 990, by mma.sync 660 TFLOP/s. 5.28e11 FLOP take 800 µs of 1 ms on mma.sync.
HMMA = {
    "duration_s": 1e-3,
    "flop_fp16": 5.28e11,
    "flop_tensor": 5.28e11,
    "roof_flop_s_fp16": 660e12,
    "roof_flop_s_fp16_source": "report: own dense peak at the measured clock",
    "roof_bytes_s": 3e12,
    "dram_bytes": 3e8,  # 100 µs
    "tensor_family": "hmma",
}


def test_fires_with_the_way_to_the_new_path():
    # wgmma needs 2/3 of the time: 1 ms x 1/3.
    (found,) = run("R004", HMMA).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(1e-3 / 3, rel=1e-6)
    assert "uses mma.sync, whose peak is 67 % of wgmma's" in found["message"]
    assert "reaches 80 % of that" in found["message"]


def test_a_roof_of_the_new_path_is_scaled():
    # Held against 990 TFLOP/s the same work takes 533 µs; on mma.sync 800.
    row = HMMA | {"roof_flop_s_fp16": 990e12, "roof_flop_s_fp16_source": "measured"}
    (found,) = run("R004", row).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(1e-3 / 3, rel=1e-6)


def test_blackwell_has_a_quarter():
    # 800 µs on mma.sync, 200 on tcgen05.
    (found,) = run("R004", HMMA | {"cc_major": 10}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(0.75e-3, rel=1e-6)
    assert "tcgen05" in found["message"]


def test_the_name_serves_where_the_family_was_not_counted():
    row = HMMA | {"tensor_family": None, "kernel_name": "cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_32x10_tn"}
    (found,) = run("R004", row).findings.to_dicts()
    assert found["confidence"] == "medium"
    assert hits("R004", row | {"kernel_name": "sm90_xmma_gemm_bf16"}) == []


def test_guards_stay_silent():
    assert hits("R004", HMMA | {"duration_s": 1.34e-3}) == []  # 59.7 % of the legacy roof: something else limits
    assert hits("R004", HMMA | {"dram_bytes": 2.5e9}) == []  # left of the ridge point: 833 µs of bytes
    assert hits("R004", HMMA | {"tensor_family": "hgmma"}) == []
    assert run("R004", HMMA | {"cc_major": 8}).judged["R004"] == 0
    assert run("R004", HMMA | {"cc_major": 12}).judged["R004"] == 0  # GeForce Blackwell has nothing else


def test_without_bytes_it_cannot_judge():
    assert run("R004", HMMA | {"dram_bytes": None}).skips[0].missing == {"time_memory_s": 1}
