"""T004: the busiest SM, slice or channel keeps the others waiting."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

EVEN = IDLE | {"sm_cycles": 1000.0, "sm_cycles_active_max": 1000.0, "sm_cycles_active_avg": 990.0}


def test_fires_with_the_idle_share():
    # (1000 - 700) / 1000 = 30 % of 100 µs.
    (found,) = run("T004", EVEN | {"sm_cycles_active_avg": 700.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(30e-6)
    assert "the busiest SM is active for 1000 cycles, the average one for 700" in found["message"]


def test_just_under_stays_silent():
    assert hits("T004", EVEN | {"sm_cycles_active_avg": 851.0}) == []
    assert hits("T004", EVEN | {"sm_cycles_active_avg": 850.0}) == [0]


def test_what_tail_and_grid_explain_is_taken_off():
    # The last of 1.6 waves explains 20 of 30 %, a grid smaller than the GPU explains all.
    assert hits("T004", EVEN | {"sm_cycles_active_avg": 700.0, "waves": 1.6}) == []
    assert hits("T004", EVEN | {"sm_cycles_active_avg": 600.0, "waves": 1.6}) == [0]
    assert hits("T004", EVEN | {"sm_cycles_active_avg": 200.0, "grid_blocks": 30.0}) == []


def test_a_tail_that_the_sms_do_not_show_explains_nothing():
    # 1.2 waves would waste 40 %, but the SMs idle for 12 %: below the limit in any case, and no negative share.
    assert hits("T004", EVEN | {"sm_cycles_active_avg": 880.0, "waves": 1.2}) == []


def test_slices_count_only_where_they_are_busy():
    # All slices reach 25 % of their peak, the busiest one of 900 against 300 cycles three times that.
    slices = {"lts_cycles": 1000.0, "l2_slice_cycles_active_avg": 300.0, "l2_pct": 25.0}
    assert hits("T004", EVEN | slices | {"l2_slice_cycles_active_max": 590.0}) == []
    (found,) = run("T004", EVEN | slices | {"l2_slice_cycles_active_max": 900.0}).findings.to_dicts()
    assert "L2 slice" in found["message"]
    assert "strides" in found["advice"]
    assert found["time_at_stake_s"] == pytest.approx(60e-6)
    # With a request open all the time, but little moved, no slice limits: 15 % x 3 = 45 %.
    assert hits("T004", EVEN | slices | {"l2_slice_cycles_active_max": 900.0, "l2_pct": 15.0}) == []
    assert hits("T004", EVEN | slices | {"l2_slice_cycles_active_max": 900.0, "l2_pct": None}) == []


def test_channels_count_only_where_they_are_busy():
    # IDLE is at 10 % of the DRAM roof; 10 % x 900 / 600 is no limit, 45 % x 900 / 600 is.
    channels = {"dram_cycles": 1000.0, "dram_cycles_active_avg": 600.0, "dram_cycles_active_max": 900.0}
    assert hits("T004", EVEN | channels) == []
    assert hits("T004", EVEN | channels | {"dram_pct": 45.0}) == [0]


def test_without_the_largest_it_cannot_judge():
    assert run("T004", EVEN | {"sm_cycles_active_max": None}).skips[0].missing == {"sm_cycles_active_max": 1}
