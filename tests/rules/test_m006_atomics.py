"""M006: atomics load L2."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

ATOMIC = IDLE | {"l2_atomic_sectors": 1e5, "l2_red_sectors": 2e5, "l2_sectors": 1e6, "l2_pct": 50.0}


def test_fires_with_their_part_of_the_busy_time():
    # 30 % of the sectors, L2 is 50 % busy: 15 of 100 µs.
    (found,) = run("M006", ATOMIC).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(15e-6)
    assert "30 % of the L2 traffic, and L2 is 50 % busy" in found["message"]


def test_just_under_stays_silent():
    assert hits("M006", ATOMIC | {"l2_red_sectors": 9.9e4}) == []
    assert hits("M006", ATOMIC | {"l2_red_sectors": 1e5}) == [0]
    assert hits("M006", ATOMIC | {"l2_pct": 39.0}) == []
    assert hits("M006", ATOMIC | {"l2_sectors": 0.0, "l2_atomic_sectors": 0.0, "l2_red_sectors": 0.0}) == []


def test_without_their_count_it_cannot_judge():
    assert run("M006", IDLE | {"l2_pct": 50.0, "l2_sectors": 1e6}).skips[0].count == 1
