"""T001: short kernels whose work explains little of their time."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run

H100 = {"roof_bytes_s": 3e12, "roof_flop_s_fp32": 6e13, "flop_fp32": 1e6, "tensor_pct": 0.0}


def test_fires_with_the_time_that_work_does_not_explain():
    # Q / B = 3e6 / 3e12 = 1 µs of 5 µs = 20 % < 25 %, and 5 µs < 3 x 3.5 µs.
    (found,) = run("T001", H100 | {"duration_s": 5e-6, "dram_bytes": 3e6}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(4e-6)
    assert found["message"] == "takes 5 µs with a launch floor of 3.5 µs; its work and bytes explain 20 % of that"
    assert found["confidence"] == "medium"  # nothing tells what else the SM did


def test_the_share_in_which_a_unit_was_used_is_not_at_stake():
    # The roof explains 10 %, the SM was used for 24 %: 76 % of 5 µs.
    row = H100 | {"duration_s": 5e-6, "dram_bytes": 1.5e6, "memory_pct": 12.0}
    (found,) = run("T001", row | {"sm_pct": 24.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(3.8e-6)
    assert "explain 10.0 % of that, no unit is used to more than 24 %" in found["message"]
    assert found["confidence"] == "high"
    assert hits("T001", row | {"sm_pct": 25.0}) == []
    assert hits("T001", row | {"sm_pct": 46.0}) == []  # an integer generator


def test_just_outside_stays_silent():
    assert hits("T001", H100 | {"duration_s": 5e-6, "dram_bytes": 3.8e6}) == []  # 25.3 %
    assert hits("T001", H100 | {"duration_s": 10.6e-6, "dram_bytes": 3e6}) == []  # 3 x 3.5 µs = 10.5 µs
    assert hits("T001", H100 | {"duration_s": 10.4e-6, "dram_bytes": 3e6}) == [0]


def test_the_floor_depends_on_the_class_of_the_gpu():
    row = H100 | {"duration_s": 8e-6, "dram_bytes": 3e6}
    assert hits("T001", row | {"cc_major": 8, "cc_minor": 0}) == [0]
    assert hits("T001", row | {"cc_major": 8, "cc_minor": 9}) == []  # 3 x 2 µs = 6 µs


def test_a_peer_with_more_work_in_the_same_time_is_named():
    a = H100 | {"op": "gemm", "op_dtype": "fp16", "op_sweep": "n", "useful_flop": 1e6, "duration_s": 4.46e-6}
    b = a | {"useful_flop": 8e6, "duration_s": 4.48e-6}
    found = run("T001", a | {"dram_bytes": 1e5}, b | {"dram_bytes": 1e5}).findings.sort("row")
    assert "8 x the work takes the same time in this sweep" in found["message"][0]
    assert "same time" not in found["message"][1]
    assert found["confidence"].to_list() == ["high", "medium"]


def test_percentages_serve_where_there_are_no_counters():
    row = {"duration_s": 4e-6, "sm_pct": 3.0, "memory_pct": 12.0}
    (found,) = run("T001", row).findings.to_dicts()
    assert found["confidence"] == "medium"
    assert found["time_at_stake_s"] == pytest.approx(0.88 * 4e-6)
    assert "no unit is used to more than 12 %" in found["message"]
    assert hits("T001", row | {"memory_pct": 25.0}) == []


def test_without_any_measure_of_use_it_cannot_judge():
    assert run("T001", {"duration_s": 4e-6}).skips[0].missing == {"roof_pct or sm_pct": 1}
