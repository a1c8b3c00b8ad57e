"""W004: additions and multiplications that could be multiply-adds."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

# 3e9 + 1e9 plain and 1e9 fused instructions are 4e9 + 2e9 = 6e9 FLOP: 100 µs at 6e13. At 150 µs: 67 % of the roof.
PLAIN = IDLE | {
    "duration_s": 150e-6,
    "fp32_add": 3e9,
    "fp32_mul": 1e9,
    "fp32_fma": 1e9,
    "flop_fp32": 6e9,
    "sm_pct": 80.0,
}


def test_fires_with_what_can_pair_up():
    # 4 of 5 are plain, but each multiplication takes one addition with it: 1 of 5 goes, 20 % of the 100 µs on the roof.
    (found,) = run("W004", PLAIN).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(20e-6)
    assert "80 % of the FP32 instructions are plain" in found["message"]
    assert "up to 20 % fewer" in found["message"]


def test_additions_alone_have_nothing_to_fuse_with():
    assert hits("W004", PLAIN | {"fp32_add": 4e9, "fp32_mul": 0.0}) == []
    assert hits("W004", PLAIN | {"fp32_add": 0.0, "fp32_mul": 4e9}) == []
    assert hits("W004", PLAIN | {"fp32_mul": None}) == []


def test_just_under_and_each_guard_stay_silent():
    # 1 pair and 8 multiply-adds: 1 of 10 instructions would go, the limit.
    few = {"fp32_add": 1e9, "fp32_mul": 1e9, "fp32_fma": 8e9, "flop_fp32": 18e9, "duration_s": 400e-6}
    assert hits("W004", PLAIN | few) == []
    assert hits("W004", PLAIN | few | {"fp32_fma": 7.9e9}) == [0]
    assert hits("W004", PLAIN | {"duration_s": 170e-6}) == []  # 59 % of the roof: arithmetic is not the limit
    assert hits("W004", PLAIN | {"dram_bytes": 3.2e8}) == []  # memory-bound
    nothing = {"fp32_add": 0.0, "fp32_mul": 0.0, "fp32_fma": 0.0}
    assert hits("W004", PLAIN | nothing) == []


def test_without_instruction_counts_it_cannot_judge():
    assert run("W004", IDLE).skips[0].missing == {"fp32_fma or fp64_fma": 1}
