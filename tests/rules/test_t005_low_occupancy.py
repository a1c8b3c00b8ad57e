"""T005: few warps fit on an SM."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

FEW = IDLE | {
    "occupancy_theoretical_pct": 25.0,
    "occupancy_achieved_pct": 24.0,
    "occupancy_limit_registers": 2.0,
    "occupancy_limit_shared": 8.0,
    "occupancy_limit_warps": 8.0,
    "occupancy_limit_blocks": 32.0,
    "registers_per_thread": 128.0,
}


def test_fires_and_names_the_limiter():
    # 75 % of the warps are missing, but the busiest unit is at 30 %: at most 70 of 100 µs.
    (found,) = run("T005", FEW).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(70e-6)
    assert "only 25 % of an SM's warps fit, limited by registers (128 a thread)" in found["message"]
    assert "__launch_bounds__" in found["advice"]


def test_two_limiters_are_both_named():
    (found,) = run("T005", FEW | {"occupancy_limit_shared": 2.0, "shared_static_bytes": 49152.0}).findings.to_dicts()
    assert "registers (128 a thread) and shared memory (49.2 kB a block)" in found["message"]


def test_a_block_without_shared_memory_is_limited_by_what_the_driver_reserves():
    few = FEW | {"occupancy_limit_registers": 8.0, "occupancy_limit_shared": 2.0}
    none = {"shared_static_bytes": 0.0, "shared_dynamic_bytes": 0.0}
    (found,) = run("T005", few | none).findings.to_dicts()
    assert "shared memory (a block uses none of its own; what the driver reserves for each)" in found["message"]
    assert "carve-out" in found["advice"]
    known = {"shared_driver_bytes": 1024.0, "shared_config_bytes": 8192.0}
    (found,) = run("T005", few | none | known).findings.to_dicts()
    assert "1.02 kB the driver reserves for each of the 8.19 kB configured" in found["message"]
    assert "limited by shared memory, and" in run("T005", few).findings["message"][0]


def test_just_under_and_each_guard_stay_silent():
    assert hits("T005", FEW | {"occupancy_theoretical_pct": 80.0, "occupancy_achieved_pct": 75.0}) == []
    assert hits("T005", FEW | {"occupancy_theoretical_pct": 79.0, "occupancy_achieved_pct": 75.0}) == [0]
    assert hits("T005", FEW | {"memory_pct": 60.0}) == []  # memory is busy
    assert hits("T005", FEW | {"waves": 0.9}) == []  # the grid does not fill the GPU
    assert hits("T005", FEW | {"occupancy_achieved_pct": 14.0}) == []  # T006's
    assert hits("T005", FEW | {"issue_active": 0.6}) == []  # schedulers find enough to issue


def test_tensor_kernels_are_not_asked():
    assert hits("T005", FEW | {"tensor_pct": 40.0}) == []
    nameless = FEW | {"tensor_pct": None, "kernel_name": "device_kernel"}
    assert hits("T005", nameless) == []
    assert hits("T005", nameless | {"tensor_pct": 1.0}) == [0]


def test_how_busy_both_sides_are_must_be_known():
    assert run("T005", FEW | {"sm_pct": None}).skips[0].missing == {"sm_pct": 1}
