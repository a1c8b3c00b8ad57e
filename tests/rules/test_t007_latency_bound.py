"""T007: neither side is busy and no cause is known."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE


def test_fires_with_the_way_to_sixty_percent():
    # 30 % used of the 60 % that can be counted on: half the time.
    (found,) = run("T007", IDLE).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(50e-6)
    assert found["message"] == "SM throughput 30 %, memory throughput 20 %: neither is busy"
    assert found["severity"] == "info"


def test_advice_depends_on_the_side_of_the_ridge():
    # The ridge point is 6e13 / 3e12 = 20 FLOP/byte; 3e7 bytes with 1e7, 6e8 and 3e9 FLOP are 0.33, 20 and 100.
    left, near, right = (run("T007", IDLE | {"flop_fp32": w}).findings["advice"][0] for w in (1e7, 6e8, 3e9))
    assert "bytes in flight" in left
    assert "Overlap loads with arithmetic" in near
    assert "independent operations" in right


def test_just_over_and_each_guard_stay_silent():
    assert hits("T007", IDLE | {"sm_pct": 60.0}) == []
    assert hits("T007", IDLE | {"sm_pct": 59.0}) == [0]
    assert hits("T007", IDLE | {"duration_s": 17e-6}) == []  # 5 x 3.5 µs = 17.5 µs
    assert hits("T007", IDLE | {"grid_blocks": 60.0}) == []  # T002's


def test_a_dominating_stall_is_left_to_t008():
    stalled = IDLE | {"warp_latency": 20.0, "stall_long_scoreboard": 10.0, "issue_active": 0.2}
    assert hits("T007", stalled) == []
    assert hits("T007", stalled | {"stall_long_scoreboard": 6.0}) == [0]  # 30 % is not more than 30 %


def test_a_last_wave_that_explains_it_is_left_to_t003():
    # 1.2 waves of 2: without the tail of 40 % the busiest unit would be at 37 / 0.6 = 62 %.
    assert hits("T007", IDLE | {"waves": 1.2, "sm_pct": 37.0}) == []
    # At 30 % it would be 50 %: 100 µs less 40 of the tail less 50 on the way to 60 %.
    (found,) = run("T007", IDLE | {"waves": 1.2}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(10e-6)


def test_a_shortage_of_warps_is_left_to_t005_and_t006():
    assert hits("T007", IDLE | {"occupancy_theoretical_pct": 25.0, "occupancy_achieved_pct": 24.0}) == []
    assert hits("T007", IDLE | {"occupancy_theoretical_pct": 100.0, "occupancy_achieved_pct": 60.0}) == []
    assert hits("T007", IDLE | {"occupancy_theoretical_pct": 100.0, "occupancy_achieved_pct": 95.0}) == [0]
    tensor = {"tensor_pct": 20.0, "occupancy_theoretical_pct": 17.0, "occupancy_achieved_pct": 15.0}
    assert hits("T007", IDLE | tensor) == [0]


def test_sms_that_idle_although_each_had_a_block_are_named_as_the_cause():
    # 132 blocks on 132 SMs, active for 4,722 of 24,549 cycles: 80.8 % of 100 µs, less a floor of 3.5 µs.
    row = IDLE | {"sm_cycles": 24549.0, "sm_cycles_active_avg": 4722.0, "waves": 1.0, "sm_pct": 2.4, "memory_pct": 1.3}
    (found,) = run("T007", row).findings.to_dicts()
    assert found["message"].startswith("the average SM is active for 19 % of the time though each had a block")
    assert found["time_at_stake_s"] == pytest.approx(100e-6 * (1 - 4722 / 24549) - 3.5e-6)
    assert "equal work" in found["advice"]
    # With the busiest SM counted, T004 tells that it is imbalance; if all idle alike it is none.
    assert hits("T007", row | {"sm_cycles_active_max": 24000.0}) == []
    assert hits("T004", row | {"sm_cycles_active_max": 24000.0}) == [0]
    assert hits("T007", row | {"sm_cycles_active_max": 5000.0}) == [0]
    assert hits("T004", row | {"sm_cycles_active_max": 5000.0}) == []


def test_sms_active_for_half_of_the_time_or_without_a_full_wave_are_plain_latency():
    for more in ({"sm_cycles_active_avg": 500.0}, {"sm_cycles_active_avg": 190.0, "waves": 0.9}):
        (found,) = run("T007", IDLE | {"sm_cycles": 1000.0} | more).findings.to_dicts()
        assert found["message"].startswith("SM throughput 30 %")


def test_a_last_wave_counts_as_far_as_sms_were_idle():
    # 40 % by the waves, 2 % by the SMs: at 37 % the busiest unit would be no busier without the tail.
    row = IDLE | {"waves": 1.2, "sm_pct": 37.0, "sm_cycles": 1000.0, "sm_cycles_active_avg": 980.0}
    (found,) = run("T007", row).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(100e-6 * (1 - 0.02 - 37 / 60))


def test_where_only_the_roof_is_known_it_is_a_note():
    # The cause may as well be a kernel that is wrong for the size.
    (found,) = run("T007", IDLE | {"sm_pct": None, "memory_pct": None}).findings.to_dicts()
    assert found["severity"] == "note"
    assert found["time_at_stake_s"] is None


def test_without_any_measure_of_use_it_cannot_judge():
    row = {"duration_s": 1e-4, "kernel_name": "k"}
    assert run("T007", row).skips[0].missing == {"roof_pct or sm_pct": 1}
