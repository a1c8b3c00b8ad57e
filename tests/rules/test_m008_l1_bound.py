"""M008: the memory side is busy in L1."""

from __future__ import annotations

from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

L1 = IDLE | {"memory_pct": 90.0, "l1_pct": 88.0, "l2_pct": 15.0, "sm_pct": 50.0}


def test_fires_without_a_time_at_stake():
    (found,) = run("M008", L1).findings.to_dicts()
    assert found["time_at_stake_s"] is None
    assert "L1 and shared memory are 88 % busy, L2 15 %, DRAM 10 %: fetching the same data" in found["message"]
    assert "register tiles" in found["advice"]


def test_with_an_idle_sm_it_is_the_pattern_of_the_accesses():
    (found,) = run("M008", L1 | {"sm_pct": 39.0}).findings.to_dicts()
    assert "with the SM at 39 %, each access takes many passes" in found["message"]
    assert "neighbouring addresses" in found["advice"]
    assert "same data" in run("M008", L1 | {"sm_pct": 40.0}).findings["message"][0]


def test_just_outside_stays_silent():
    assert hits("M008", L1 | {"memory_pct": 59.0, "l1_pct": 59.0}) == []
    assert hits("M008", L1 | {"l2_pct": 40.0}) == []
    assert hits("M008", L1 | {"l2_pct": 39.0}) == [0]
    assert hits("M008", L1 | {"l1_pct": 79.0}) == []  # something else makes memory busy
    assert hits("M008", L1 | {"dram_bytes": 1.3e8}) == []  # 43 % of the bandwidth roof


def test_without_l1_throughput_it_cannot_judge():
    assert run("M008", L1 | {"l1_pct": None}).skips[0].missing == {"l1_pct": 1}
