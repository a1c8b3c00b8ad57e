"""Which roof a kernel gets, from which source, and what the source text says."""

from __future__ import annotations

import polars as pl
import pytest

from ncuroof import gpus, roofs
from ncuroof.errors import UsageError
from ncuroof.paths import PATH_NAMES

H100 = {"gpu_name": "NVIDIA H100 80GB HBM3", "cc_major": 9, "cc_minor": 0, "sm_count": 132}


def kernels(*rows: dict) -> pl.DataFrame:
    return pl.DataFrame([dict(row) for row in rows], infer_schema_length=None)


def one(frame: pl.DataFrame, name: str):
    return frame[name][0], frame[f"{name}_source"][0]


def test_published_wall_clock_figures_get_the_measured_roof():
    """A reconstructed report has a device name and no peaks: 787.6 TFLOP/s and 3084.85 GB/s of the article."""
    out = roofs.attach(kernels(H100))
    assert one(out, "roof_flop_s_fp16") == (
        pytest.approx(787.612e12),
        "measured: highest dense matrix product on NVIDIA H100 80GB HBM3",
    )
    assert one(out, "roof_bytes_s") == (
        pytest.approx(3084.85e9),
        "measured: highest data-moving kernel on NVIDIA H100 80GB HBM3",
    )
    assert one(out, "roof_flop_s_fp32") == (pytest.approx(61.5e12), "measured: FMA sweep on NVIDIA H100 80GB HBM3")


@pytest.mark.parametrize("op", ["gemm", "batched_gemm", "attention"])
def test_an_annotated_product_gets_the_highest_measured_product(op):
    """H100 FP32: products reach 51.872, the FMA sweep 61.5 TFLOP/s; at 1.4 GHz 132 × 256 × 1.4e9 is the ceiling."""
    out = roofs.attach(kernels(H100 | {"op": op}, H100 | {"op": "triad"}, H100 | {"op": None}))
    assert out["roof_flop_s_fp32"].to_list() == pytest.approx([51.872e12, 61.5e12, 61.5e12])
    assert out["roof_flop_s_fp32_source"][0] == "measured: highest dense matrix product on NVIDIA H100 80GB HBM3"
    assert out["roof_flop_s_fp32_source"][1] == "measured: FMA sweep on NVIDIA H100 80GB HBM3"
    assert out["roof_flop_s_fp64"].to_list() == pytest.approx([32.9e12] * 3)  # its product ran on fp64_tensor
    slow = roofs.attach(kernels(H100 | {"op": op, "sm_hz": 1.4e9, "clock_max_hz": 1.98e9}))
    assert slow["roof_flop_s_fp32"][0] == pytest.approx(132 * 256 * 1.4e9)
    assert "below the measured: highest dense matrix product" in slow["roof_flop_s_fp32_source"][0]


def test_the_reports_own_peak_goes_first():
    out = roofs.attach(kernels(H100 | {"peak_flop_s_fp32": 50e12, "peak_op_s_int8": 1e15, "peak_bytes_s_dram": 3.3e12}))
    assert one(out, "roof_flop_s_fp32") == (50e12, "report: own dense peak at the measured clock")
    assert one(out, "roof_flop_s_int8")[0] == 1e15
    assert one(out, "roof_bytes_s") == (3.3e12, "report: own peak at the measured DRAM clock")


def test_device_attributes_where_nothing_was_measured():
    """A100 40 GB at 1.095 GHz: 108 SMs × 2048 × 1.095e9 = 242.2 TFLOP/s; 1215 MHz × 2 × 5120 / 8 = 1555.2 GB/s."""
    row = {
        "gpu_name": "NVIDIA A100-SXM4-40GB", "cc_major": 8, "cc_minor": 0, "sm_count": 108, "sm_hz": 1.095e9,
        "clock_max_hz": 1.41e9, "memory_clock_hz": 1.215e9, "memory_bus_bits": 5120, "dram_size_bytes": 42298834944,
    }  # fmt: skip
    out = roofs.attach(kernels(row))
    value, source = one(out, "roof_flop_s_fp16")
    assert value == pytest.approx(108 * 2048 * 1.095e9)
    assert source.startswith("device")
    assert "measured clock" in source
    assert one(out, "roof_bytes_s") == (pytest.approx(1555.2e9), "device: memory clock × 2 × bus width / 8")


def test_without_a_measured_clock_the_maximum_is_used_and_said():
    row = {"gpu_name": "Tesla T4", "cc_major": 7, "cc_minor": 5, "sm_count": 40, "clock_max_hz": 1.59e9}
    value, source = one(roofs.attach(kernels(row)), "roof_flop_s_fp16")
    assert value == pytest.approx(40 * 1024 * 1.59e9)
    assert "maximum clock" in source


def test_the_data_sheet_is_last_and_of_that_variant():
    out = roofs.attach(kernels({"gpu_name": "NVIDIA H100 PCIe", "cc_major": 9, "cc_minor": 0}))
    assert one(out, "roof_flop_s_fp16") == (pytest.approx(756.5e12), "datasheet: H100 PCIe 80 GB, dense")
    assert one(out, "roof_bytes_s")[0] == 2039e9


def test_a_measured_rate_does_not_survive_a_lower_clock():
    """H100 locked to 1.1 GHz: 132 × 4096 × 1.1e9 = 594.7 TFLOP/s is the ceiling, not 787.6 reached at full clocks."""
    out = roofs.attach(kernels(H100 | {"sm_hz": 1.1e9, "clock_max_hz": 1.98e9}))
    value, source = one(out, "roof_flop_s_fp16")
    assert value == pytest.approx(594.7392e12)
    assert "this run's clock" in source
    assert "below the measured" in source
    full = roofs.attach(kernels(H100 | {"sm_hz": 1.9e9, "clock_max_hz": 1.98e9}))
    assert full["roof_flop_s_fp16"][0] == pytest.approx(787.612e12)


def test_an_impossible_clock_is_not_believed():
    """2.4 GHz on a 1.98 GHz chip: the report's peak is brought back to the maximum clock."""
    out = roofs.attach(kernels(H100 | {"sm_hz": 2.4e9, "clock_max_hz": 1.98e9, "peak_flop_s_fp32": 81.1008e12}))
    value, source = one(out, "roof_flop_s_fp32")
    assert value == pytest.approx(132 * 256 * 1.98e9)
    assert "impossible" in source
    assert out["roof_flop_s_int8"][0] == pytest.approx(132 * 8192 * 1.98e9)


V100 = {
    "gpu_name": "Tesla V100-SXM2-32GB", "cc_major": 7, "cc_minor": 0, "sm_count": 80, "memory_clock_hz": 8.77e8,
    "memory_bus_bits": 4096,
}  # fmt: skip


@pytest.mark.parametrize("peak", [545e9, 426e9])
def test_a_short_kernels_dram_clock_off_by_half_gives_the_nominal_roof(peak):
    """set_halo_values_x, 11 to 13 µs: 545 and 426 GB/s instead of 898 (877 MHz × 2 × 4096 / 8 = 898.0 GB/s)."""
    out = roofs.attach(kernels(V100 | {"peak_bytes_s_dram": peak, "duration_s": 12e-6}))
    value, source = one(out, "roof_bytes_s")
    assert value == pytest.approx(898.048e9)
    assert "nominal" in source
    assert "15 %" in source


def test_a_long_kernel_may_run_in_a_low_memory_power_state():
    """RTX 4090 report with 0.73 of the memory clock: real, so the roof follows; above nominal is never real."""
    slow = roofs.attach(kernels(V100 | {"peak_bytes_s_dram": 0.73 * 898.048e9, "duration_s": 1e-3}))
    assert slow["roof_bytes_s"][0] == pytest.approx(0.73 * 898.048e9)
    fast = roofs.attach(kernels(V100 | {"peak_bytes_s_dram": 1.4 * 898.048e9, "duration_s": 1e-3}))
    assert fast["roof_bytes_s"][0] == pytest.approx(898.048e9)


B200_LOW = {
    "cc_major": 10, "cc_minor": 0, "sm_count": 148, "duration_s": 1e-4,
    "peak_bytes_s_dram": 6.636e12, "peak_bytes_s_dram_source": "rate÷highest percent",
}  # fmt: skip


def test_a_rate_over_the_busiest_units_percentage_is_called_a_lower_estimate():
    """A B200 export: 2.16 TB/s at 32.55 % gives 6.64 TB/s; the nominal peak is 7.66."""
    assert one(roofs.attach(kernels(B200_LOW)), "roof_bytes_s") == (
        6.636e12,
        "report: DRAM rate ÷ throughput percentage, a lower estimate (the percentage is the busiest unit's)",
    )


def test_the_nominal_peak_of_a_known_device_goes_before_a_lower_estimate():
    """B200: 3996 MHz × 2 × 7680 bit / 8 = 7.672 TB/s, from the table or from the attributes."""
    attributes = {"memory_clock_hz": 3.996e9, "memory_bus_bits": 7680}
    for row in (B200_LOW | {"gpu_name": "NVIDIA B200"}, B200_LOW | attributes):
        value, source = one(roofs.attach(kernels(row)), "roof_bytes_s")
        assert value == pytest.approx(7.672e12, rel=1e-3)
        assert source.startswith("device: nominal DRAM peak")
        alone, source = one(roofs.attach(kernels(row), only="report"), "roof_bytes_s")
        assert (alone, source[:6]) == (6.636e12, "report")


def test_a_rate_over_the_share_of_active_cycles_is_the_peak_itself():
    row = B200_LOW | {"gpu_name": "NVIDIA B200", "peak_bytes_s_dram_source": "rate÷percent"}
    value, source = one(roofs.attach(kernels(row)), "roof_bytes_s")
    assert (value, source) == (6.636e12, "report: DRAM rate ÷ percentage of active DRAM cycles")


def test_a_peak_from_a_tables_rate_is_no_roof_of_the_report():
    """H100, mma.sync: 2730.7 × 132 × 1.5 GHz = 540.7 TFLOP/s comes with the work, but its rate is the table's."""
    row = H100 | {"sm_hz": 1.5e9, "peak_flop_s_fp16": 540.7e12, "peak_flop_s_fp16_source": "rate×clock"}
    value, source = one(roofs.attach(kernels(row)), "roof_flop_s_fp16")
    assert (value, source.split(":")[0]) == (540.7e12, "device")
    assert one(roofs.attach(kernels(row), only="report"), "roof_flop_s_fp16") == (None, None)
    assert one(roofs.attach(kernels(row), order=("report",)), "roof_flop_s_fp16") == (None, None)
    real = roofs.attach(kernels(row | {"peak_flop_s_fp16_source": "report"}), only="report")
    assert one(real, "roof_flop_s_fp16") == (540.7e12, "report: own dense peak at the measured clock")


def test_xaviers_memory_clock_attribute_is_not_believed():
    """The attribute holds the GPU clock (1377 MHz → 88 GB/s); LPDDR4x at 2133 MHz × 256 bit gives 136.5 GB/s."""
    row = {
        "gpu_name": "Xavier", "cc_major": 7, "cc_minor": 2, "sm_count": 8, "memory_clock_hz": 1.377e9,
        "memory_bus_bits": 256, "dram_size_bytes": 33349173248,
    }  # fmt: skip
    value, source = one(roofs.attach(kernels(row)), "roof_bytes_s")
    assert value == 136.5e9
    assert source.startswith("datasheet")


def test_an_ambiguous_device_gets_only_what_its_candidates_share():
    out = roofs.attach(kernels({"gpu_name": "NVIDIA A100", "cc_major": 8, "cc_minor": 0, "sm_count": 108}))
    value, source = one(out, "roof_flop_s_fp16")  # 312 on all four
    assert value == 312e12
    assert "other candidates agree" in source
    assert one(out, "roof_bytes_s") == (None, None)  # 1555 to 2039 GB/s
    known = roofs.devices_of(kernels({"gpu_name": "NVIDIA A100", "cc_major": 8, "cc_minor": 0, "sm_count": 108}))
    (note,) = roofs.notes(known)
    assert "may be any of" in note.message


def test_a_device_without_a_name_gets_what_all_that_fit_share():
    """CC 9.0 with 132 SMs is some H100, H200, GH200 or H800: all have 4096 FP16 a cycle, but not the same FP64."""
    frame = kernels({"gpu_name": None, "cc_major": 9, "cc_minor": 0, "sm_count": 132, "sm_hz": 1.5e9})
    out = roofs.attach(frame)
    assert one(out, "roof_flop_s_fp16")[0] == 132 * 4096 * 1.5e9
    assert one(out, "roof_flop_s_fp64") == (None, None)
    assert one(out, "roof_bytes_s") == (None, None)


def test_an_unknown_device_has_null_roofs_and_null_sources():
    out = roofs.attach(kernels({"gpu_name": "Some other GPU", "cc_major": 99, "cc_minor": 0}))
    for path in PATH_NAMES:
        assert one(out, f"roof_flop_s_{path}") == (None, None)
    assert one(out, "roof_bytes_s") == (None, None)


def test_a_dense_kernel_never_gets_a_sparse_roof():
    """Every compute roof of every row, from every source, is near the dense figure, never near the sparse double."""
    known = [gpu for gpu in gpus.variants() if gpu.cc is not None and gpu.id != "b300-sxm-288gb"]
    frame = kernels(
        *({"gpu_name": gpu.driver_name, "cc_major": gpu.cc[0], "cc_minor": gpu.cc[1], "sm_count": gpu.sms,
           "dram_size_bytes": float(gpu.memory_bytes), "clock_max_hz": gpu.tensor_hz} for gpu in known)
    )  # fmt: skip
    checked = 0
    for source in ("measured", "device", "datasheet"):
        out = roofs.attach(frame, only=source)
        for row, gpu in enumerate(known):
            for path, sparse in gpu.sparse.items():
                value = out[f"roof_flop_s_{path}"][row]
                assert value is None or value <= 0.75 * sparse, (gpu.id, path, source)
                checked += value is not None
    assert checked > 150


def test_only_one_source_and_other_orders():
    frame = kernels(H100 | {"peak_flop_s_fp16": 9e14})
    assert roofs.attach(frame, only="datasheet")["roof_flop_s_fp16"][0] == 989e12
    assert roofs.attach(frame, only="report")["roof_flop_s_bf16"][0] is None
    assert roofs.attach(frame, order=("datasheet", "report"))["roof_flop_s_fp16"][0] == 989e12
    with pytest.raises(UsageError, match="guess"):
        roofs.attach(frame, only="guess")


def test_a_mig_slice_has_fewer_sms_than_its_device():
    out = roofs.attach(kernels(H100 | {"sm_count_launch": 60.0, "sm_hz": 1.5e9, "clock_max_hz": 1.98e9}))
    assert out["roof_flop_s_int8"][0] == pytest.approx(60 * 8192 * 1.5e9)


def test_hierarchical_roofs_come_from_the_report():
    out = roofs.attach(kernels(H100 | {"peak_bytes_s_l2": 5.5e12, "peak_bytes_s_l1": 2.6e13}))
    assert one(out, "roof_bytes_s_l2") == (5.5e12, "report: own peak at the measured clock")
    assert out["roof_bytes_s_l1"][0] == 2.6e13


def test_rows_keep_their_order_and_their_columns():
    frame = kernels(
        H100 | {"kernel_name": "a"},
        {"gpu_name": "Tesla T4", "cc_major": 7, "cc_minor": 5, "sm_count": 40, "kernel_name": "b"},
        H100 | {"kernel_name": "c"},
    )
    out = roofs.attach(frame)
    assert out["kernel_name"].to_list() == ["a", "b", "c"]
    assert out["roof_bytes_s"].to_list() == [pytest.approx(3084.85e9), 320e9, pytest.approx(3084.85e9)]
    assert roofs.attach(out).columns == out.columns  # again: replaced, not repeated


def test_nan_zero_and_absent_inputs_are_unknown():
    out = roofs.attach(kernels(H100 | {"peak_flop_s_fp16": float("nan"), "sm_hz": 0.0, "peak_bytes_s_dram": -1.0}))
    assert out["roof_flop_s_fp16_source"][0].startswith("measured")
    assert out["roof_bytes_s_source"][0].startswith("measured")
    assert roofs.attach(frame := kernels(H100).clear()).height == frame.height


def test_boost_roof():
    """Half the clock, half the roof: 132 × 256 × 0.99e9 = 33.45; at 1.98 GHz twice that. Measured roofs stay."""
    frame = kernels(H100 | {"sm_hz": 0.99e9, "clock_max_hz": 1.98e9, "peak_flop_s_fp32": 132 * 256 * 0.99e9})
    boost = roofs.attach(frame)
    assert boost["roof_boost_flop_s_fp32"][0] == pytest.approx(132 * 256 * 1.98e9)
    assert boost["roof_boost_flop_s_fp16"][0] == pytest.approx(787.612e12)
    assert boost["roof_boost_flop_s_int8"][0] == pytest.approx(132 * 8192 * 1.98e9)
    assert roofs.attach(kernels(H100))["roof_boost_flop_s_fp16"][0] == pytest.approx(787.612e12)
