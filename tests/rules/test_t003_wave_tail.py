"""T003: a last wave that is partly filled."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE


def test_fires_with_the_share_of_the_empty_part():
    # 1.6 waves take two rounds: 1 - 1.6 / 2 = 20 % of 100 µs.
    (found,) = run("T003", IDLE | {"waves": 1.6}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(20e-6)
    assert found["confidence"] == "medium"
    assert "1.6 waves" in found["message"]


def test_a_busy_roof_leaves_no_room_for_a_loss():
    # 50 % lost by the waves, but memory is at 85 %: at most 15 %. At 91 % there is nothing to find.
    (found,) = run("T003", IDLE | {"waves": 1.001, "memory_pct": 85.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(15e-6)
    assert hits("T003", IDLE | {"waves": 1.001, "memory_pct": 91.0}) == []


def test_measured_activity_decides_where_it_is_known():
    # (1000 - 880) / 1000 = 12 % idle on average, where the waves alone would say 40 %.
    row = IDLE | {"waves": 1.2, "sm_cycles": 1000.0, "sm_cycles_active_max": 1000.0}
    (found,) = run("T003", row | {"sm_cycles_active_avg": 880.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(12e-6)
    assert found["confidence"] == "high"
    assert hits("T003", row | {"sm_cycles_active_avg": 910.0}) == []


def test_without_the_busiest_sm_the_average_one_caps_the_loss():
    # (max - mean) / cycles <= 1 - mean / cycles: 40 % by the waves, but SMs were active for 85 % of the time.
    row = IDLE | {"waves": 1.2, "sm_cycles": 1000.0}
    (found,) = run("T003", row | {"sm_cycles_active_avg": 850.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(15e-6)
    assert found["confidence"] == "medium"
    assert "up to 40 % of the time; the SMs idle for 15 %" in found["message"]
    assert hits("T003", row | {"sm_cycles_active_avg": 910.0}) == []
    assert hits("T003", row | {"sm_cycles_active_avg": 974.0}) == []  # 33 % claimed once, where 2.6 % were idle
    assert hits("T003", row | {"sm_cycles_active_avg": 1050.0}) == []  # other pass, other cycles


def test_just_under_stays_silent():
    assert hits("T003", IDLE | {"waves": 1.81}) == []  # 9.5 %
    assert hits("T003", IDLE | {"waves": 1.79}) == [0]  # 10.5 %
    assert hits("T003", IDLE | {"waves": 0.4}) == []  # no full wave: T002's
    assert hits("T003", IDLE | {"waves": 2.0000001}) == []  # rounding
    assert hits("T003", IDLE | {"waves": 1.0}) == []  # a persistent kernel


def test_without_waves_it_cannot_judge():
    assert run("T003", IDLE | {"waves": None}).skips[0].missing == {"waves": 1}
