"""T001: short kernels whose work explains little of their time."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, placed, run

H100 = {"roof_bytes_s": 3e12, "roof_flop_s_fp32": 6e13, "flop_fp32": 1e6, "tensor_pct": 0.0}


def test_fires_with_a_floor_at_stake():
    # Q / B = 3e6 / 3e12 = 1 µs of 5 µs = 20 % < 25 %, and 5 µs < 3 x 3.5 µs. One launch less saves 3.5 µs at most.
    (found,) = run("T001", H100 | {"duration_s": 5e-6, "dram_bytes": 3e6}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(3.5e-6)
    assert found["message"] == "takes 5 µs with a launch floor of 3.5 µs; its work and bytes explain 20 % of that"
    assert found["confidence"] == "medium"  # nothing tells what else the SM did


def test_the_share_in_which_a_unit_was_used_is_not_at_stake():
    # The roof explains 10 %, the SM was used for 24 %: 76 % of 4 µs, less than the floor of 3.5 µs.
    row = H100 | {"duration_s": 4e-6, "dram_bytes": 1.2e6, "memory_pct": 12.0}
    (found,) = run("T001", row | {"sm_pct": 24.0}).findings.to_dicts()
    assert found["time_at_stake_s"] == pytest.approx(3.04e-6)
    assert "explain 10 % of that, no unit is used to more than 24 %, averaged over the GPU" in found["message"]
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
    a = H100 | {
        "flop_fp32": 1e7,
        "op": "gemm",
        "op_dtype": "fp16",
        "op_sweep": "n",
        "useful_flop": 1e6,
        "duration_s": 4.46e-6,
    }
    b = a | {"useful_flop": 8e6, "duration_s": 4.48e-6}
    found = run("T001", a | {"dram_bytes": 1e5}, b | {"dram_bytes": 1e5}).findings.sort("row")
    assert "8 x the work takes the same time in this sweep" in found["message"][0]
    assert "same time" not in found["message"][1]
    assert found["confidence"].to_list() == ["high", "medium"]


def test_percentages_serve_where_there_are_no_counters():
    row = {"duration_s": 3.6e-6, "sm_pct": 3.0, "memory_pct": 12.0}
    (found,) = run("T001", row).findings.to_dicts()
    assert found["confidence"] == "medium"
    assert found["time_at_stake_s"] == pytest.approx(0.88 * 3.6e-6)
    assert "no unit is used to more than 12 %" in found["message"]
    assert hits("T001", row | {"memory_pct": 25.0}) == []


def test_the_floor_is_told_by_where_it_comes_from():
    row = H100 | {"dram_bytes": 1e5}
    own, beside = run("T001", row | {"duration_s": 3.2e-6}, row | {"duration_s": 4e-6}).findings.sort("row")["message"]
    assert own.startswith("takes 3.2 µs and is the shortest kernel here; ")
    assert beside.startswith("takes 4 µs where the shortest kernel here takes 3.2 µs; ")
    (alone,) = run("T001", row | {"duration_s": 4e-6}).findings["message"]
    assert alone.startswith("takes 4 µs with a launch floor of 3.5 µs; ")


SMALL = H100 | {"dram_bytes": 3e6, "sm_pct": 4.0, "memory_pct": 22.0, "sm_count": 132.0, "grid_blocks": 32.0}


@pytest.mark.parametrize(
    ("row", "code", "verdict"),
    [
        # 32 blocks on 132 SMs, 7.84 µs: more than 1.5 x 3.5 = 5.25 µs, so it is the grid that leaves the GPU idle.
        ({"duration_s": 7.84e-6}, "T002", "latency-bound"),
        ({"duration_s": 5.26e-6}, "T002", "latency-bound"),
        ({"duration_s": 5.24e-6}, "T001", "overhead-bound"),
        # A norm of one block close to the floor is launch overhead, whatever its grid.
        ({"duration_s": 4.06e-6, "grid_blocks": 1.0}, "T001", "overhead-bound"),
        # A grid that fills nine SMs in ten does not explain it, nor does one that is not known.
        ({"duration_s": 7.84e-6, "grid_blocks": 119.0}, "T001", "overhead-bound"),
        ({"duration_s": 7.84e-6, "grid_blocks": None}, "T001", "overhead-bound"),
        # Where the counters are too coarse to tell (2.9 µs with a floor of 1.5 µs), it stays with launching.
        ({"duration_s": 2.9e-6, "dram_bytes": 1e6, "cc_minor": 9, "cc_major": 8}, "T001", "overhead-bound"),
    ],
)
@pytest.mark.parametrize("share", [1.0, 0.001])
def test_exactly_one_of_launch_and_grid_explains_a_short_idle_kernel(row, code, verdict, share):
    others = {"kernel_name": "large", "duration_s": row["duration_s"] / share - row["duration_s"] or None}
    if row["duration_s"] < 3e-6:
        others = {"kernel_name": "floor", "duration_s": 1.5e-6}
    rows = (SMALL | row, others)
    assert placed(*rows)["verdict"][0] == verdict
    assert {c: 0 in hits(c, *rows) for c in ("T001", "T002")} == {"T001": code == "T001", "T002": code == "T002"}


def test_without_any_measure_of_use_it_cannot_judge():
    assert run("T001", {"duration_s": 4e-6}).skips[0].missing == {"roof_pct or sm_pct": 1}
