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


def test_just_over_and_each_guard_stay_silent():
    assert hits("W003", IDLE | {"threads_per_inst": 24.0}) == []
    assert hits("W003", IDLE | {"threads_per_inst": 23.9}) == [0]
    assert hits("W003", IDLE | {"threads_per_inst": 8.0, "memory_pct": 70.0}) == []  # memory-bound
    assert hits("W003", IDLE | {"threads_per_inst": 8.0, "tensor_pct": 30.0}) == []  # one thread issues for all


def test_without_the_ratio_it_cannot_judge():
    assert run("W003", IDLE).skips[0].count == 1
