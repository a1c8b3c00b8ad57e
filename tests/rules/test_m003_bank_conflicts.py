"""M003: bank conflicts that matter."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

CONFLICTS = IDLE | {
    "bank_conflicts_ld": 3e5,
    "bank_conflicts_st": 1e5,
    "shared_wavefronts_ld": 6e5,
    "shared_wavefronts_st": 4e5,
    "shared_pipe_pct": 80.0,
}


def test_fires_with_the_extra_part_of_the_busy_time():
    # 4e5 of 1e6 passes are extra, the data stage is 80 % busy: 32 of 100 µs.
    (found,) = run("M003", CONFLICTS).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(32e-6)
    assert "40 % of the passes" in found["message"]


def test_the_count_by_address_decides_where_it_is_known():
    # The conflict counter also counts arbitration: by address nothing is wrong.
    assert hits("M003", CONFLICTS | {"shared_wavefronts": 1e6, "shared_wavefronts_ideal": 9.5e5}) == []
    strong = CONFLICTS | {"shared_wavefronts": 1e6, "shared_wavefronts_ideal": 5e5}
    (found,) = run("M003", strong).findings.to_dicts()
    assert found["confidence"] == "high"


def test_just_under_and_each_guard_stay_silent():
    assert hits("M003", CONFLICTS | {"bank_conflicts_ld": 0.0, "bank_conflicts_st": 9.9e4}) == []
    assert hits("M003", CONFLICTS | {"bank_conflicts_ld": 0.0, "bank_conflicts_st": 1e5}) == [0]
    assert hits("M003", CONFLICTS | {"shared_pipe_pct": 39.0}) == []  # room for the extra passes
    few = {"bank_conflicts_ld": 400.0, "bank_conflicts_st": 0.0, "shared_wavefronts_ld": 999.0}
    assert hits("M003", CONFLICTS | few | {"shared_wavefronts_st": 0.0}) == []
    nothing = dict.fromkeys([c for c in CONFLICTS if "bank" in c or "wavefronts" in c], 0.0)
    assert hits("M003", CONFLICTS | nothing) == []


def test_waiting_for_shared_memory_counts_as_well():
    waits = {"shared_pipe_pct": 20.0, "warp_latency": 10.0, "stall_short_scoreboard": 3.0}
    assert hits("M003", CONFLICTS | waits) == [0]


def test_without_the_counts_it_cannot_judge():
    assert run("M003", IDLE).skips[0].count == 1
