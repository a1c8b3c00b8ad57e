"""T002: fewer blocks than SMs."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE


def test_fires_with_the_share_of_idle_sms():
    # 60 blocks on 100 SMs: 40 % idle; the busiest unit is at 30 %, so 40 % can be had: 40 of 100 µs.
    (found,) = run("T002", IDLE | {"grid_blocks": 60.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(40e-6)
    assert "60 blocks run on 100 SMs: 40 % of them idle" in found["message"]
    assert found["severity"] == "warning"


def test_the_busiest_unit_caps_what_can_be_gained():
    # 90 % of the SMs idle, but memory is at 55 %: at most 45 %.
    (found,) = run("T002", IDLE | {"grid_blocks": 10.0, "memory_pct": 55.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(45e-6)


def test_just_under_stays_silent():
    assert hits("T002", IDLE | {"grid_blocks": 91.0}) == []  # 9 % idle
    assert hits("T002", IDLE | {"grid_blocks": 89.0}) == [0]  # 11 %
    assert hits("T002", IDLE | {"grid_blocks": 60.0, "memory_pct": 60.0}) == []


def test_mig_slices_count_their_own_sms():
    assert hits("T002", IDLE | {"grid_blocks": 14.0, "sm_count_launch": 14.0}) == []


def test_kernels_near_the_launch_floor_and_small_shares_are_left_out():
    short = IDLE | {"grid_blocks": 1.0, "dram_bytes": 1e6, "flop_fp32": 1e6}
    assert hits("T002", short | {"duration_s": 5.2e-6}) == []  # 1.5 x 3.5 µs = 5.25 µs
    assert hits("T002", short | {"duration_s": 5.3e-6}) == [0]
    large = IDLE | {"kernel_name": "large", "duration_s": 20e-3}
    assert hits("T002", IDLE | {"grid_blocks": 1.0}, large) == []  # 100 of 20,100 µs are 0.5 %


def test_more_blocks_do_not_save_the_launch():
    # 99 % of the SMs are idle for 7 µs, of which launching takes 3.5.
    short = IDLE | {"grid_blocks": 1.0, "duration_s": 7e-6, "dram_bytes": 1e6, "flop_fp32": 1e6}
    (found,) = run("T002", short).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(3.5e-6)


def test_products_are_told_to_split_k():
    (found,) = run("T002", IDLE | {"grid_blocks": 60.0, "kernel_name": "sgemm_64x64"}).findings.to_dicts()
    assert "split K" in found["advice"]


def test_without_the_grid_it_cannot_judge():
    assert run("T002", IDLE | {"grid_blocks": None}).skips[0].missing == {"grid_blocks": 1}
