"""W003: idle lanes."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE


def test_fires_with_the_idle_share():
    # 20 of 32 lanes: 37.5 % idle.
    (found,) = run("W003", IDLE | {"threads_per_inst": 20.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(37.5e-6)
    assert found["severity"] == "info"
    assert "20 of 32 threads" in found["message"]


def test_half_the_lanes_make_a_warning():
    assert run("W003", IDLE | {"threads_per_inst": 15.9}).findings["severity"].to_list() == ["warning"]


def test_predication_and_block_size_are_told_apart():
    predicated = run("W003", IDLE | {"threads_per_inst": 31.0, "threads_pred_on_per_inst": 20.0}).findings
    assert "predicated off" in predicated["message"][0]
    block = run("W003", IDLE | {"threads_per_inst": 20.0, "block_threads": 20.0}).findings
    assert "a block of 20 threads has no more" in block["message"][0]
    assert "multiple of 32" in block["advice"][0]


def test_what_is_not_issued_is_not_at_stake():
    # 8 of 32 lanes while the schedulers issue in half of the cycles: 75 % x 0.5.
    row = IDLE | {"threads_per_inst": 8.0}
    (found,) = run("W003", row | {"issue_active": 0.5}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(37.5e-6)
    assert found["severity"] == "warning"
    assert "8 of 32 threads are active" in found["message"]
    assert "the schedulers issue in 50 % of the cycles" in found["message"]
    assert run("W003", row | {"issue_active": 0.4}).findings["severity"].to_list() == ["warning"]
    assert run("W003", row | {"issue_active": 0.39}).findings["severity"].to_list() == ["info"]
    # The SM at 95 %: 5 % are left, whatever is issued.
    (found,) = run("W003", row | {"issue_active": 0.9, "sm_pct": 95.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(5e-6)


def test_a_grid_of_one_block_is_the_cause_unless_the_block_is_too_small():
    row = IDLE | {"threads_per_inst": 18.0, "issue_active": 0.05}
    assert hits("W003", row | {"grid_blocks": 1.0}) == []  # T002's
    assert hits("W003", row | {"grid_blocks": 1.0, "sm_count": None}) == []
    assert hits("W003", row | {"grid_blocks": 10.0}) == []  # on 100 SMs
    assert hits("W003", row | {"grid_blocks": 11.0}) == [0]
    one = row | {"threads_per_inst": 1.0, "block_threads": 1.0, "grid_blocks": 1.0}
    (found,) = run("W003", one).findings.to_dicts()
    assert found["severity"] == "warning"
    assert "a block of 1 thread has no more" in found["message"]
    assert found["time_at_stake_s"] == pytest.approx(100e-6 * 31 / 32 * 0.05)


def test_just_over_and_each_guard_stay_silent():
    assert hits("W003", IDLE | {"threads_per_inst": 24.0}) == []
    assert hits("W003", IDLE | {"threads_per_inst": 23.9}) == [0]
    assert hits("W003", IDLE | {"threads_per_inst": 8.0, "memory_pct": 70.0}) == []  # memory-bound
    assert hits("W003", IDLE | {"threads_per_inst": 8.0, "tensor_pct": 30.0}) == []  # one thread issues for all


def test_without_the_ratio_it_cannot_judge():
    assert run("W003", IDLE).skips[0].count == 1
