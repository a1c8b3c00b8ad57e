"""M004: spills and local arrays."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

LOCAL = IDLE | {
    "local_sectors": 2e5,
    "l1_sectors": 1e6,
    "local_miss_sectors": 1e5,
    "l2_hit_pct": 75.0,
    "registers_per_thread": 255.0,
}


def test_fires_with_what_it_costs_at_each_level():
    # 20 % of L1's sectors; memory is 20 % busy: 4 of 100 µs. 2e5 x 32 = 6.4 MB at L1, 3.2 MB at L2, a quarter misses.
    (found,) = run("M004", LOCAL).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(4e-6)
    assert "20 % of the L1 traffic is register spills: 6.4 MB at L1, 3.2 MB at L2" in found["message"]
    assert "up to 800 kB of it reach DRAM" in found["message"]
    assert found["confidence"] == "high"


def test_without_a_sign_of_spilling_it_may_be_an_array():
    (found,) = run("M004", LOCAL | {"registers_per_thread": 64.0}).findings.to_dicts()
    assert "arrays that registers cannot hold" in found["message"]
    assert found["confidence"] == "medium"
    (counted,) = run("M004", LOCAL | {"registers_per_thread": 64.0, "local_spill_requests": 7.0}).findings.to_dicts()
    assert "register spills" in counted["message"]


def test_the_advice_names_no_limiter_that_the_verdict_denies():
    # 10 FLOP/byte is left of the ridge point of 20, but nothing is busy.
    assert "one more wait" in run("M004", LOCAL).findings["advice"][0]
    assert "issue slots" in run("M004", LOCAL | {"sm_pct": 90.0}).findings["advice"][0]
    busy = LOCAL | {"memory_pct": 90.0}
    assert "L1 is the limit" in run("M004", busy | {"l1_pct": 90.0}).findings["advice"][0]
    assert "L2 is the limit" in run("M004", busy | {"l2_pct": 90.0}).findings["advice"][0]
    assert "limit" not in run("M004", busy).findings["advice"][0].replace("register limit", "")
    # At most 800 kB of 30 MB, and of 8 MB, reach DRAM.
    assert "the limit" not in run("M004", busy | {"dram_pct": 90.0}).findings["advice"][0]
    assert "DRAM is the limit" in run("M004", busy | {"dram_pct": 90.0, "dram_bytes": 8e6}).findings["advice"][0]


def test_misses_that_were_not_counted_are_bounded():
    (found,) = run("M004", LOCAL | {"local_miss_sectors": None, "l2_hit_pct": None}).findings.to_dicts()
    assert "6.4 MB at L2" in found["message"]
    assert "DRAM" not in found["message"]


def test_just_under_stays_silent():
    assert hits("M004", LOCAL | {"local_sectors": 4.9e4}) == []
    assert hits("M004", LOCAL | {"local_sectors": 5e4}) == [0]
    assert hits("M004", LOCAL | {"local_sectors": 0.0, "l1_sectors": 0.0}) == []


def test_without_local_sectors_it_cannot_judge():
    assert run("M004", LOCAL | {"local_sectors": None}).skips[0].missing == {"local_sectors": 1}
