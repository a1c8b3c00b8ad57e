"""Bytes of DRAM, L2 and system memory, and hit rates: the rules that need care."""

from __future__ import annotations

import pytest


def test_cc_12_reads_op_read_and_op_write(kernel_of):
    k = kernel_of({"dram__bytes_op_read.sum": 64.0, "dram__bytes_op_write.sum": 32.0}, "12.0")
    assert (k["dram_bytes"], k["dram_read_bytes"], k["dram_write_bytes"]) == (96, 64, 32)
    assert k["dram_bytes_source"] == "counter"


@pytest.mark.parametrize(
    ("cc", "absent"), [("7.2", True), ("8.7", True), ("11.0", True), ("12.1", True), ("9.0", False)]
)
def test_chips_without_dram_counters(kernel_of, cc, absent):
    k = kernel_of({"lts__t_sectors_lookup_miss.sum": 10.0}, cc)
    assert k["dram_counters_absent"] is absent
    assert k["dram_bytes"] is None
    assert k["l2_miss_bytes"] == 320


def test_an_unknown_chip_is_not_said_to_lack_counters(kernel_of):
    assert kernel_of({"gpu__time_duration.sum": 5.0})["dram_counters_absent"] is None


def test_exact_bytes_from_active_memory_cycles(kernel_of):
    """40 % of 1 GHz × 10 µs = 4,000 cycles; 4096 bit ÷ 4 = 1,024 B each: 4,096,000 B."""
    basic = {
        "dram__cycles_active.avg.pct_of_peak_sustained_elapsed": 40.0,
        "dram__cycles_elapsed.avg.per_second": 1e9,
        "device__attribute_fb_bus_width": 4096,
        "gpu__time_duration.sum": 10_000,
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": 45.0,
    }
    k = kernel_of(basic)
    assert k["dram_bytes"] == pytest.approx(4_096_000)
    assert k["dram_bytes_source"] == "cycles_active%"
    assert k["dram_pct"] == 45
    del basic["dram__cycles_active.avg.pct_of_peak_sustained_elapsed"]
    k = kernel_of(basic)
    assert k["dram_bytes"] == pytest.approx(0.45 * 1024 * 10_000)
    assert k["dram_bytes_source"] == "percent×peak"


def test_dram_percentage_without_a_memory_clock_uses_the_device_attributes(kernel_of):
    """50 % of 1 GHz × 2 × 32 B = 64 GB/s for 1 µs: 32,000 B."""
    k = kernel_of(
        {
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": 50.0,
            "device__attribute_memory_clock_rate": 1_000_000,
            "device__attribute_global_memory_bus_width": 256,
            "gpu__time_duration.sum": 1000,
        }
    )
    assert k["dram_bytes"] == pytest.approx(32_000)
    assert k["peak_bytes_s_dram"] is None  # nothing was measured


def test_l2_fabric_sectors_are_not_traffic_of_the_sms(kernel_of):
    all_units = {"lts__t_sectors.sum": 100.0}
    assert kernel_of(all_units, "8.0")["l2_bytes"] is None
    assert kernel_of(all_units, "8.6")["l2_bytes"] == 3200
    assert kernel_of(all_units | {"lts__t_sectors_srcunit_ltcfabric.sum": 40.0}, "8.0")["l2_bytes"] == 60 * 32
    assert kernel_of(all_units | {"lts__t_sectors_srcunit_tex.sum": 55.0}, "9.0")["l2_bytes"] == 55 * 32


@pytest.mark.parametrize(("raw", "shown"), [(104.2, 100.0), (87.5, 87.5), (0.0, 0.0)])
def test_hit_rates_above_100(kernel_of, raw, shown):
    k = kernel_of({"lts__t_sector_hit_rate.pct": raw, "l1tex__t_sector_hit_rate.pct": raw})
    assert (k["l2_hit_pct"], k["l2_hit_raw_pct"], k["l1_hit_pct"]) == (shown, raw, shown)


def test_system_memory_is_kept_apart_from_dram(kernel_of):
    k = kernel_of({"lts__t_sectors_aperture_sysmem_lookup_miss.sum": 3.0}, "9.0")
    assert (k["sysmem_bytes"], k["dram_bytes"]) == (96, None)
    assert kernel_of({"syslts__t_sectors_aperture_sysmem_lookup_miss.sum": 3.0}, "12.0")["sysmem_bytes"] == 96


def test_a_peak_from_a_rate_and_its_percentage(kernel_of):
    """Printed output without device attributes: 200 GB/s at 50 % means a peak of 400 GB/s; 1.2 % is too coarse."""
    rate = {"dram__bytes.sum.per_second": 200e9, "gpu__time_duration.sum": 1000.0}
    percent = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
    k = kernel_of(rate | {percent: 50.0})
    assert (k["peak_bytes_s_dram"], k["peak_bytes_s_dram_source"]) == (400e9, "rate÷highest percent")
    k = kernel_of(rate | {percent: 50.0, "dram__cycles_active.avg.pct_of_peak_sustained_elapsed": 40.0})
    assert (k["peak_bytes_s_dram"], k["peak_bytes_s_dram_source"]) == (500e9, "rate÷percent")
    assert kernel_of(rate | {percent: 1.2})["peak_bytes_s_dram"] is None
