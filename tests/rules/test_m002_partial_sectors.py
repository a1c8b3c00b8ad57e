"""M002: little of each sector is used."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

SPARSE = IDLE | {
    "bytes_per_sector_ld": 8.0,
    "bytes_per_sector_st": 32.0,
    "global_ld_sectors": 8e5,
    "global_st_sectors": 2e5,
    "l2_pct": 50.0,
}


def test_fires_with_the_unused_part_of_the_busy_time():
    # Loads are 80 % of the sectors and use a quarter: 0.8 x 0.75 = 60 % unused; L2 is busy for 50 %: 30 of 100 µs.
    (found,) = run("M002", SPARSE).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(30e-6)
    assert found["message"] == "of each sector that is moved, loads use 8 of 32 bytes: 60 % of the traffic is unused"
    assert found["confidence"] == "medium"


def test_just_over_and_each_guard_stay_silent():
    assert hits("M002", SPARSE | {"bytes_per_sector_ld": 16.1}) == []
    assert hits("M002", SPARSE | {"bytes_per_sector_ld": 16.0}) == [0]
    assert hits("M002", SPARSE | {"bytes_per_sector_ld": 0.0}) == []  # no loads
    assert hits("M002", SPARSE | {"sm_pct": 90.0}) == []  # compute-bound
    # Stores that are 2 % of the sectors: 0.02 x 0.75 x 50 % is under 5 % of the time.
    few = SPARSE | {"bytes_per_sector_ld": 32.0, "bytes_per_sector_st": 8.0, "global_ld_sectors": 9.8e6}
    assert hits("M002", few) == []


def test_it_weighs_by_the_share_of_the_traffic():
    # The loads are 6 % of what passes L1, and three quarters unused: 4.5 % of the traffic, however busy it is.
    assert hits("M002", SPARSE | {"l1_sectors": 8e5 / 0.06, "l2_pct": 95.0}) == []
    # Bulk copies show in L2 only: 8e5 of 4e6 sectors, 15 % unused, of which L2 is busy for 90 %.
    (found,) = run("M002", SPARSE | {"l2_bytes": 32 * 4e6, "l2_pct": 90.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(0.15 * 0.9 * 100e-6)
    unknown = SPARSE | {"global_ld_sectors": None, "global_st_sectors": None, "bytes_per_sector_st": None}
    (found,) = run("M002", unknown).findings.to_dicts()
    assert found["confidence"] == "low"
    assert "traffic" not in found["message"]


def test_one_cause_gives_one_finding():
    excess = {"l2_sectors_global": 1e6, "l2_sectors_global_excess": 6e5}
    assert hits("M002", SPARSE | excess) == []  # M001 says so
    assert hits("M002", SPARSE | excess | {"l2_sectors_global_excess": 5e4}) == [0]


def test_without_the_ratio_it_cannot_judge():
    assert run("M002", IDLE).skips[0].missing == {"bytes_per_sector_ld or bytes_per_sector_st": 1}
