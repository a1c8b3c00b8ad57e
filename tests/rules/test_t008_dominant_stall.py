"""T008: warps wait mostly for one thing."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

from ncuroof.rules import _stalls

WAITS = IDLE | {"warp_latency": 20.0, "stall_long_scoreboard": 10.0, "stall_wait": 4.0, "issue_active": 0.2}


def test_fires_and_names_the_state():
    # 10 of 20 cycles: half of 100 µs.
    (found,) = run("T008", WAITS).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(50e-6)
    assert "50 % of their time waiting for data from global" in found["message"]
    assert "10 of 20 cycles" in found["message"]
    assert "loads in flight" in found["advice"]


def test_the_time_of_the_last_wave_is_not_spent_waiting():
    # 1.6 waves of 2 waste 20 %: half of the other 80 µs.
    (found,) = run("T008", WAITS | {"waves": 1.6}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(40e-6)


def test_the_largest_state_is_named():
    (found,) = run("T008", WAITS | {"stall_barrier": 12.0}).findings.to_dicts()
    assert "barrier" in found["message"]
    assert found["evidence"][0]["value"] == pytest.approx(0.6)


def test_just_under_and_each_guard_stay_silent():
    assert hits("T008", WAITS | {"stall_long_scoreboard": 6.0}) == []
    assert hits("T008", WAITS | {"stall_long_scoreboard": 6.1}) == [0]
    assert hits("T008", WAITS | {"issue_active": 0.8}) == []
    assert hits("T008", WAITS | {"memory_pct": 60.0}) == []  # the wait follows from the roof
    assert hits("T008", WAITS | {"grid_blocks": 60.0}) == []  # T002's
    assert hits("T008", WAITS | {"stall_long_scoreboard": 0.0, "stall_not_selected": 19.0}) == []  # ready is no wait
    assert hits("T008", WAITS | {"warp_latency": 0.0}) == []


def test_without_warp_states_it_cannot_judge():
    assert run("T008", IDLE | {"issue_active": 0.2}).skips[0].missing == {
        "warp_latency": 1,
        "stall_long_scoreboard": 1,
    }


def test_every_state_says_what_it_is_and_what_helps():
    assert all(name.startswith("stall_") and what and fix.endswith(".") for name, (what, fix) in _stalls.STALLS.items())
