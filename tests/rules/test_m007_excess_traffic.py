"""M007: DRAM moves the same data several times."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

# Q / B = 2.7e8 / 3e12 = 90 µs of 100: memory-bound. The shape asks for 9e7 bytes, 30 µs.
THRICE = IDLE | {"dram_bytes": 2.7e8, "compulsory_bytes": 9e7, "memory_pct": 90.0, "l2_hit_pct": 30.0}


def test_fires_with_the_bytes_that_need_not_move():
    # Without the excess 30 of 90 µs remain: 100 x (1 - 1/3).
    (found,) = run("M007", THRICE).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(66.7e-6, rel=1e-3)
    assert "moves 270 MB through DRAM, 3 x the 90 MB that its shape demands; L2 hits 30 %" in found["message"]


def test_the_arithmetic_that_remains_is_not_promised():
    # W / F = 4.2e9 / 6e13 = 70 µs stay: 100 x (1 - 70/90).
    (found,) = run("M007", THRICE | {"flop_fp32": 4.2e9}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(22.2e-6, rel=1e-2)


def test_just_under_and_each_guard_stay_silent():
    assert hits("M007", THRICE | {"compulsory_bytes": 1.81e8}) == []
    assert hits("M007", THRICE | {"compulsory_bytes": 1.8e8}) == [0]
    assert hits("M007", THRICE | {"dram_bytes": 1.7e8}) == []  # 57 % of the roof: the bytes are not the limit


def test_right_of_the_ridge_point_excess_is_harmless():
    # H200, prefill of 32,768 tokens, down_proj: 8.23 GB where 1.61 GB would do, 98 % of the compute roof.
    row = {
        "duration_s": 5566.88e-6,
        "dram_bytes": 8233516800.0,
        "compulsory_bytes": 1612316672.0,
        "flop_bf16": 4449586118656.0,
        "roof_flop_s_bf16": 815e12,
        "roof_bytes_s": 4293e9,
    }
    assert hits("M007", row) == []


def test_more_than_the_memory_holds_was_read_twice():
    # T4, wmma_gemm 4096³: 27.027 GB in 97.795 ms at 319.8 GB/s = 86.4 % of the roof; the card holds 15.8 GB.
    row = {
        "duration_s": 97.795e-3,
        "dram_bytes": 27.027e9,
        "dram_size_bytes": 15.843e9,
        "roof_bytes_s": 319.8e9,
        "cc_major": 7,
        "cc_minor": 5,
    }
    (found,) = run("M007", row).findings.to_dicts()
    assert found["confidence"] == "medium"
    assert "more than the 15.8 GB this GPU holds" in found["message"]
    assert hits("M007", row | {"dram_size_bytes": 32e9}) == []


def test_without_dram_bytes_it_cannot_judge():
    assert run("M007", THRICE | {"dram_bytes": None}).skips[0].missing == {"dram_bytes": 1}
