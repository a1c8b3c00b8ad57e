"""M001: more sectors than the data needs."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

SPREAD = IDLE | {"l2_sectors_global": 1e6, "l2_sectors_global_excess": 5e5, "l2_pct": 40.0, "l1_hit_pct": 10.0}


def test_fires_with_the_wasted_part_of_the_busy_time():
    # Half of the sectors, and L2 is busy for 40 % of 100 µs: 20 µs. 5e5 x 32 byte = 16 MB of 32 MB.
    (found,) = run("M001", SPREAD).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(20e-6)
    assert "50 % of the sectors" in found["message"]
    assert "16 MB of 32 MB" in found["message"]
    assert found["confidence"] == "medium"


def test_sectors_per_request_serve_where_nothing_was_counted_per_instruction():
    # 32 sectors where 16-byte accesses need 16: half.
    row = IDLE | {"sectors_per_request_ld": 32.0, "l2_pct": 40.0}
    (found,) = run("M001", row).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(20e-6)
    assert found["confidence"] == "low"
    assert hits("M001", row | {"sectors_per_request_ld": 16.0}) == []


def test_just_under_and_each_guard_stay_silent():
    assert hits("M001", SPREAD | {"l2_sectors_global_excess": 9.9e4, "l2_pct": 90.0}) == []
    assert hits("M001", SPREAD | {"l2_sectors_global_excess": 1e5, "l2_pct": 90.0}) == [0]
    # 10 % of the sectors of an L2 that is 40 % busy are 4 % of the time: not worth it.
    assert hits("M001", SPREAD | {"l2_sectors_global_excess": 1e5}) == []
    assert hits("M001", SPREAD | {"sm_pct": 90.0}) == []  # compute-bound
    assert hits("M001", SPREAD | {"l2_sectors_global": 0.0, "l2_sectors_global_excess": 0.0}) == []


def test_shared_memory_does_not_make_global_accesses_look_busy():
    # L1 is busy with shared memory: the sectors cost L2's 5 % alone.
    row = SPREAD | {
        "l2_pct": 5.0,
        "dram_bytes": 1e6,
        "l1_pct": 95.0,
        "global_ld_sectors": 1e6,
        "global_st_sectors": 0.0,
    }
    assert hits("M001", row | {"shared_wavefronts": 1e7}) == []
    assert hits("M001", row | {"shared_wavefronts": 0.0}) == [0]


def test_a_hit_in_l1_lowers_the_confidence():
    (found,) = run("M001", SPREAD | {"l1_hit_pct": 95.0}).findings.to_dicts()
    assert found["confidence"] == "low"
    assert "L1 hits 95 %, so it saves time in L1" in found["advice"]
    # Where DRAM is the limit, saving time in L1 is no help.
    (found,) = run("M001", SPREAD | {"l1_hit_pct": 95.0, "memory_pct": 90.0, "dram_pct": 90.0}).findings.to_dicts()
    assert "DRAM, which is the limit, may gain little" in found["advice"]


def test_without_any_count_it_cannot_judge():
    assert run("M001", IDLE).skips[0].count == 1
