"""D008 to D012: clocks, impossible values, mixed conditions, phantom FP16, labels of roofs."""

from __future__ import annotations

import pytest
from tests.rules.frames import hits, run
from tests.rules.kernels import IDLE

FREE = {"duration_s": 100e-6, "clock_control": "none", "clock_ratio": 0.8, "memory_clock_ratio": 1.0, "sm_hz": 1.4e9}


def test_a_clock_that_was_free_and_low_is_throttling():
    # 20 % of 100 µs are in doubt where the SM is the limit.
    (found,) = run("D008", FREE | {"sm_pct": 80.0}).findings.to_dicts()
    assert "the SM clock was free and ran at 80 % of its maximum" in found["message"]
    assert found["time_at_stake_s"] == pytest.approx(20e-6)
    assert found["severity"] == "info"
    # Memory at 80 % of its peak would not be faster at a higher SM clock; L1 would.
    memory = FREE | {"sm_pct": 20.0, "memory_pct": 80.0}
    assert run("D008", memory | {"dram_pct": 80.0}).findings["time_at_stake_s"].to_list() == [None]
    assert run("D008", memory | {"l1_pct": 80.0}).findings["time_at_stake_s"][0] == pytest.approx(20e-6)
    assert run("D008", FREE | {"sm_pct": 20.0, "memory_pct": 20.0}).findings["time_at_stake_s"].to_list() == [None]


def test_locked_and_high_clocks_and_short_kernels_are_not():
    assert run("D008", FREE | {"clock_control": "base"}).findings.is_empty()  # D004's
    assert run("D008", FREE | {"clock_control": None}).findings.is_empty()
    assert run("D008", FREE | {"clock_ratio": 0.9}).findings.is_empty()
    assert run("D008", FREE | {"duration_s": 19e-6}).findings.is_empty()


def test_launches_of_one_kernel_at_different_clocks():
    steady = FREE | {"clock_ratio": 0.98, "kernel_name": "k"}
    (found,) = run("D008", steady, steady | {"sm_hz": 1.25e9}).findings.to_dicts()
    assert "up to 12 % apart" in found["message"]
    assert run("D008", steady, steady | {"sm_hz": 1.28e9}).findings.is_empty()  # 9.4 %
    assert run("D008", steady, steady | {"sm_hz": 1.0e9, "kernel_name": "other"}).findings.is_empty()


def clocks(memory, sm, seconds):
    """A launch at these shares of 10 GHz nominal memory clock and 2 GHz maximum SM clock."""
    return {
        "duration_s": seconds,
        "clock_control": "base",
        "clock_max_hz": 2e9,
        "sm_hz": sm * 2e9,
        "clock_ratio": sm,
        "memory_clock_hz": 10e9,
        "dram_hz": memory * 10e9,
        "memory_clock_ratio": memory,
        "kernel_name": f"k{memory}",
        "sm_pct": 20.0,
        "memory_pct": 80.0,
        "dram_pct": 80.0,
    }


def test_a_memory_clock_that_drops_alone_is_a_power_state():
    # The longest launch at 0.98 and 0.85: ratio 5.76. At 0.73 and 0.85 it is 4.29, 26 % lower.
    (found,) = run("D008", clocks(0.98, 0.85, 5e-4), clocks(0.73, 0.85, 1e-4)).findings.to_dicts()
    assert found["message"] == "1 of 2 kernels: the memory clock ran at down to 73 % of nominal"
    assert found["time_at_stake_s"] == pytest.approx(27e-6)
    assert run("D008", clocks(0.98, 0.85, 5e-4), clocks(0.91, 0.85, 1e-4)).findings.is_empty()
    assert run("D009", clocks(0.98, 0.85, 5e-4), clocks(0.73, 0.85, 1e-4)).findings.is_empty()


def test_clocks_that_drop_together_are_a_time_base_in_doubt():
    # An RTX 4090 in a public report: memory at 0.98, 0.75, 0.77, 0.73 and 0.83 of nominal, and the SM with it.
    pairs = ((0.976, 0.887, 5.2e-4), (0.751, 0.681, 1.3e-4), (0.766, 0.695, 1.5e-4), (0.726, 0.656, 1.4e-4))
    rows = [clocks(*p) for p in (*pairs, (0.831, 0.751, 1.4e-4))]
    assert run("D008", *rows).findings.is_empty()
    (found,) = run("D009", *rows).findings.to_dicts()
    assert found["message"] == "4 of 5 kernels: a time base in doubt (memory clock away from nominal) (4)"
    # Free clocks and launches of one kernel: what is in doubt proves no throttling either.
    same = [r | {"kernel_name": "k", "clock_control": "none"} for r in rows[1:]]
    assert run("D008", *same).findings.is_empty()


def test_a_single_launch_is_held_against_the_lowest_ratio_there_can_be():
    # 0.73 x 10 GHz beside 0.95 x 2 GHz is 3.84; a memory at 10 GHz beside an SM at its maximum is 5.
    (found,) = run("D008", clocks(0.73, 0.95, 1e-3)).findings.to_dicts()
    assert "73 % of nominal" in found["message"]
    assert run("D008", clocks(0.73, 0.7, 1e-3)).findings.is_empty()  # 5.2
    assert not run("D009", clocks(0.73, 0.7, 1e-3)).findings.is_empty()


def test_devices_are_held_against_themselves():
    # The other GPU's memory is slower beside its SM by design.
    other = clocks(0.88, 0.8, 1e-4) | {"device_index": 1, "clock_max_hz": 3e9, "sm_hz": 2.6e9}
    assert run("D008", clocks(0.98, 0.6, 5e-4) | {"device_index": 0}, other).findings.is_empty()


def test_without_clocks_it_cannot_judge():
    assert run("D008", {"duration_s": 1e-4}).skips[0].missing == {"clock_ratio or memory_clock_ratio": 1}


@pytest.mark.parametrize(
    ("fault", "fine", "text"),
    [
        ({"l2_hit_raw_pct": 100.5}, {"l2_hit_raw_pct": 100.0}, "an L2 hit rate above 100 % (1)"),
        ({"clock_ratio": 1.03}, {"clock_ratio": 1.01}, "an SM clock above the maximum (1)"),
        ({"sm_pct": 105.1}, {"sm_pct": 104.9}, "a percentage of peak above 105 (1)"),
        ({"memory_clock_ratio": 0.55}, {"memory_clock_ratio": 0.91}, "a time base in doubt"),
    ],
)
def test_impossible_values_give_a_note(fault, fine, text):
    row = {"duration_s": 12e-6}
    (found,) = run("D009", row | fault).findings.to_dicts()
    assert text in found["message"]
    assert found["severity"] == "note"
    assert run("D009", row | fine).findings.is_empty()


def test_the_time_base_is_judged_from_5_microseconds_on():
    # V100 report of 11 to 13 µs: DRAM at 545 of 898 GB/s. Shorter ones are always off.
    assert run("D009", {"duration_s": 4.9e-6, "memory_clock_ratio": 0.6}).findings.is_empty()
    assert not run("D009", {"duration_s": 21e-6, "memory_clock_ratio": 0.6}).findings.is_empty()
    # Below 20 µs a dropped ratio proves nothing; above, D008 believes it.
    assert not run("D009", clocks(0.98, 0.85, 5e-4), clocks(0.73, 0.85, 19e-6)).findings.is_empty()
    assert run("D009", clocks(0.98, 0.85, 5e-4), clocks(0.73, 0.85, 20e-6)).findings.is_empty()


def test_a_missing_duration_is_skipped():
    assert run("D009", {"l2_hit_raw_pct": 101.0}).skips[0].missing == {"duration_s": 1}


def two(first, second):
    same = {"gpu_name": "NVIDIA H100", "kernel_name": "k", "grid_x": 8, "block_x": 256, "duration_s": 1e-4}
    return same | first, same | {"source": "other.ncu-rep", "source_sha256": "1" * 64} | second


@pytest.mark.parametrize(
    ("column", "values", "severity"),
    [
        ("clock_control", ("base", "none"), "warning"),
        ("cache_control", ("all", "none"), "warning"),
        ("replay_mode", ("kernel", "application"), "info"),
        ("ncu_version", ("2024.3.0.0", "2025.1.0.0"), "info"),
        ("sm_hz", (1.0e9, 1.2e9), "warning"),
    ],
)
def test_the_same_kernel_under_different_conditions(column, values, severity):
    (found,) = run("D010", *two({column: values[0]}, {column: values[1]})).findings.to_dicts()
    assert found["severity"] == severity
    assert "1 kernel was measured under different conditions" in found["message"]
    assert found["row"] is None


def test_equal_unknown_and_unrelated_conditions_are_fine():
    assert run("D010", *two({"clock_control": "base"}, {"clock_control": "base"})).findings.is_empty()
    assert run("D010", *two({"clock_control": "base"}, {"clock_control": None})).findings.is_empty()
    assert run("D010", *two({"ncu_version": "2025.1.0.0"}, {"ncu_version": "2025.1.1.0"})).findings.is_empty()
    assert run("D010", *two({"sm_hz": 1.0e9}, {"sm_hz": 1.09e9})).findings.is_empty()
    other = {"clock_control": "none", "gpu_name": "NVIDIA H200"}
    assert run("D010", *two({"clock_control": "base"}, other)).findings.is_empty()
    other = {"clock_control": "none", "grid_x": 16}
    assert run("D010", *two({"clock_control": "base"}, other)).findings.is_empty()


def test_without_a_gpu_name_conditions_cannot_be_held_together():
    assert run("D010", {"kernel_name": "k"}).skips[0].missing == {"gpu_name": 1}


def test_half_instructions_that_were_set_aside_are_mentioned():
    (found,) = run("D011", {"flop_fp16_vector_raw": 1e6, "flop_fp16_vector": 0.0}).findings.to_dicts()
    assert "only move constants" in found["message"]
    assert run("D011", {"flop_fp16_vector_raw": 1e6, "flop_fp16_vector": 1e6}).findings.is_empty()
    assert run("D011", {"flop_fp16_vector_raw": 0.0}).findings.is_empty()


def test_half_additions_alone_are_conversions():
    # A GEMV that widens its operands with HADD2.F32: 499 million additions, nothing else.
    row = {"flop_fp16_vector_raw": 1e9, "flop_fp16_vector": 0.0, "fp16_add": 5e8, "fp16_mul": 0.0, "fp16_fma": 0.0}
    (found,) = run("D011", row).findings.to_dicts()
    assert "half instructions that are conversions are left out of the FLOPs (1)" in found["message"]
    assert "constants" not in found["message"]
    (found,) = run("D011", row | {"fp16_add": 0.0, "fp16_fma": 2.5e8}).findings.to_dicts()
    assert "only move constants" in found["message"]


def test_small_tensor_activity_without_tensor_work_is_mentioned():
    (found,) = run("D011", {"tensor_pct": 2.98, "flop_tensor": 0.0}).findings.to_dicts()
    assert "tensor activity up to 3.0 %" in found["message"]
    assert run("D011", {"tensor_pct": 5.0}).findings.is_empty()
    assert run("D011", {"tensor_pct": 3.0, "flop_tensor": 1e9}).findings.is_empty()
    assert run("D011", {"tensor_pct": 2.9, "flop_tensor": 0.0, "op_int8": 1e8}).findings.is_empty()
    assert run("D011", {"tensor_pct": 2.9, "op_int1": 1e8}).findings.is_empty()
    assert run("D011", {"tensor_pct": 0.09}).findings.is_empty()
    assert not run("D011", {"tensor_pct": 0.1}).findings.is_empty()
    assert run("D011", {}).skips[0].missing == {"flop_fp16_vector_raw or tensor_pct": 1}


TENSOR = {"flop_fp16": 1e12, "flop_tensor": 1e12, "roof_flop_s_fp16": 1979e12, "peak_flop_s_fp16": 989.4e12}


def test_sparse_operations_under_a_dense_roof():
    (found,) = run("D012", TENSOR | {"op_tensor_sparse": 5e11}).findings.to_dicts()
    assert "50 % of its tensor operations use 2:4 sparsity" in found["message"]
    assert hits("D012", TENSOR | {"op_tensor_sparse": 0.9e10}) == []  # 0.9 %


def test_a_users_roof_that_is_the_sparse_figure():
    # The H100's 1,979 TFLOP/s are twice its dense 989.4.
    user = TENSOR | {"roof_flop_s_fp16_source": "user: roofs.toml"}
    (found,) = run("D012", user).findings.to_dicts()
    assert "1.98 PFLOP/s, is twice the dense peak of 989 TFLOP/s" in found["message"]
    assert hits("D012", user | {"roof_flop_s_fp16": 989e12}) == []
    assert hits("D012", user | {"roof_flop_s_fp16": 1850e12}) == []  # 6.5 % off
    assert hits("D012", TENSOR | {"roof_flop_s_fp16_source": "measured"}) == []


def test_without_a_path_labels_cannot_be_judged():
    assert run("D012", IDLE | {"flop_fp32": None, "tensor_pct": None}).skips[0].missing == {"path": 1}
