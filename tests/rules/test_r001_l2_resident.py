"""R001: above the DRAM roof, too few reads, or all hits."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run

MIB = 2.0**20
GPU = {"roof_bytes_s": 1e12, "roof_flop_s_fp16": 1e14, "l2_size_bytes": 64 * MIB, "duration_s": 1e-4}
# At the DRAM roof 1e8 byte take exactly the 1e-4 s of the duration; 5 % above it the rule speaks.
SHAPE = GPU | {"useful_flop": 1e9, "compulsory_write_bytes": 1e6}


def test_above_the_dram_roof():
    (found,) = run("R001", SHAPE | {"compulsory_bytes": 1.8e8}).findings.to_dicts()
    assert found["confidence"] == "high"
    assert "1.80 x the DRAM roof of 1 TB/s" in found["message"]
    # 1.8e8 / 1e12: what the real program may add is nothing that could be saved here.
    assert found["message"].endswith("From DRAM it would take at least 180 µs instead of 100 µs")
    assert found["time_at_stake_s"] is None
    evidence = {e["metric"]: e for e in found["evidence"]}
    assert evidence["compulsory_bytes"]["limit"] == 64 * MIB
    assert evidence["rate"]["value"] == pytest.approx(1.8e12)


def test_a_point_just_under_the_threshold_stays_silent():
    assert hits("R001", SHAPE | {"compulsory_bytes": 1.049e8}) == []
    assert hits("R001", SHAPE | {"compulsory_bytes": 1.051e8}) == [0]
    assert hits("R001", SHAPE | {"compulsory_bytes": 1.051e8}, above_roof=1.2) == []


def test_reads_that_never_reached_dram():
    demand = SHAPE | {"compulsory_bytes": 41e6, "cache_control": "none", "dram_bytes": 20e6}  # 40e6 of them reads
    few, enough = demand | {"dram_read_bytes": 31e6}, demand | {"dram_read_bytes": 33e6}
    assert hits("R001", few, enough) == [0]  # 0.8 x 40e6 = 32e6
    flushed = few | {"cache_control": "all"}
    too_large = few | {"l2_size_bytes": 40e6}
    assert hits("R001", flushed, too_large) == []


def test_writes_that_stay_dirty_are_no_evidence():
    # All 40e6 bytes are read; the 1e6 written ones are still in L2 when the kernel ends.
    row = SHAPE | {"compulsory_bytes": 41e6, "cache_control": "none", "dram_read_bytes": 40e6, "dram_bytes": 40e6}
    assert hits("R001", row) == []


def test_all_hits_without_a_shape():
    row = GPU | {"l2_hit_pct": 95.0, "dram_bytes": 1e7, "memory_pct": 70.0, "l2_pct": 70.0, "sm_pct": 20.0}
    assert hits("R001", row) == [0]  # DRAM at 10 % of its roof
    assert hits("R001", row | {"l2_hit_pct": 89.0}) == []
    assert hits("R001", row | {"dram_bytes": 2.1e7}) == []
    assert hits("R001", row | {"memory_pct": 59.0, "l2_pct": 59.0}) == []
    assert hits("R001", row | {"l2_pct": 20.0}) == []  # the traffic is in L1


def test_an_annotation_that_cannot_be_true_is_not_believed():
    # 1.01e9 byte in 100 µs are 10.1 TB/s: more than ten times what DRAM delivers, which no L2 does.
    impossible = SHAPE | {"compulsory_bytes": 1.01e9}
    assert hits("R001", impossible) == []
    assert hits("R001", SHAPE | {"compulsory_bytes": 0.99e9}) == [0]
    assert hits("R001", SHAPE | {"compulsory_bytes": 0.99e9, "roof_bytes_s_l2": 6e12}) == []  # 1.65 x L2


def test_short_kernels_are_left_alone():
    assert hits("R001", SHAPE | {"duration_s": 4.9e-6, "compulsory_bytes": 1e8}) == []


def test_without_shape_and_hit_rate_it_cannot_judge():
    outcome = run("R001", GPU, GPU | {"l2_hit_pct": 10.0})
    assert [(s.code, s.count, s.missing) for s in outcome.skips] == [("R001", 1, {"compulsory_bytes or l2_hit_pct": 1})]
    assert outcome.judged == {"R001": 1}
