"""T006: fewer warps are active than fit."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

GAP = IDLE | {"occupancy_theoretical_pct": 100.0, "occupancy_achieved_pct": 60.0}


def test_fires_with_the_share_of_missing_warps():
    # 40 of 100 points are missing: 40 of 100 µs at most.
    (found,) = run("T006", GAP).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(40e-6)
    assert "100 % of an SM's warps fit, 60 % are active" in found["message"]


def test_just_under_and_each_guard_stay_silent():
    assert hits("T006", GAP | {"occupancy_achieved_pct": 90.0}) == []
    assert hits("T006", GAP | {"occupancy_achieved_pct": 89.0}) == [0]
    assert hits("T006", GAP | {"sm_pct": 60.0}) == []
    assert hits("T006", GAP | {"waves": 0.9}) == []
    assert hits("T006", GAP | {"waves": 1.5}) == []  # the tail explains it
    assert hits("T006", GAP | {"tensor_pct": 20.0}) == []


def test_without_achieved_occupancy_it_cannot_judge():
    assert run("T006", GAP | {"occupancy_achieved_pct": None}).skips[0].missing == {"occupancy_achieved_pct": 1}
