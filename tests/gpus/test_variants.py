"""The GPU table: whole rows, numbers that agree with each other, rules that do not overlap."""

from __future__ import annotations

import math
import tomllib
from importlib import resources

import pytest

from ncuroof import gpus
from ncuroof.paths import PATH_NAMES
from ncuroof.roofs.devices import PEAK_CLOCK_PATHS

ALL = gpus.variants()
BY_ID = {gpu.id: gpu for gpu in ALL}
# Two modules with one device name, SM count and memory size: the table says so instead of choosing.
TWINS = {"jetson-orin-nx-8gb", "jetson-orin-nano-8gb"}
# Sparse over dense where the data sheet prints something else than 2. B300 and GB300: dense FP4 was raised without
# raising sparse FP4. L40S: 362.05 is printed dense, 733 (twice 366.5) sparse.
PRINTED_OTHERWISE = {
    ("b300-sxm-288gb", "fp4"): 18000 / 13125,
    ("gb300", "fp4"): 20000 / 15000,
    ("l40s", "fp16"): 733 / 362.05,
    ("l40s", "bf16"): 733 / 362.05,
}


def raw_rows():
    folder = resources.files("ncuroof.gpus").joinpath("variants")
    for file in folder.iterdir():
        if file.name.endswith(".toml"):
            yield from tomllib.loads(file.read_text(encoding="utf-8"))["gpu"]


def half_unit(value: float) -> float:
    """Half a unit of the last digit a data sheet prints: 34 is anything from 33.5 to 34.5."""
    text = repr(value)
    return 0.5 * 10 ** -len(text.partition(".")[2]) if "." in text and not text.endswith(".0") else 0.5


def test_every_variant_of_the_plan_is_there():
    wanted = {
        "h100-sxm5-80gb", "h100-pcie-80gb", "h100-nvl-94gb", "a100-sxm4-40gb",
        "a100-sxm4-80gb", "a100-pcie-40gb", "a100-pcie-80gb", "h200-sxm-141gb",
        "gh200-96gb", "gh200-144gb", "b200-sxm-180gb", "b300-sxm-288gb",
        "gb200", "gb10", "l4", "l40s",
        "t4", "a10", "a10g", "a30",
        "a40", "gtx-1650", "gtx-1660-super", "gtx-1080",
        "rtx-2070", "rtx-2080-ti", "rtx-3060-laptop", "rtx-3080-10gb",
        "rtx-4080", "rtx-4090-laptop", "rtx-5060-ti-8gb", "rtx-5090",
        "rtx-5090-laptop", "v100-sxm2-16gb", "v100-sxm2-32gb", "v100-pcie-16gb",
        "v100-pcie-32gb", "jetson-agx-xavier-32gb", "jetson-agx-orin-64gb", "jetson-orin-nx-16gb",
        "jetson-thor-t5000", "mi100", "mi210", "gb300",
        "b100-sxm-180gb", "h20-96gb", "rtx-pro-5000", "rtx-pro-4500",
        "rtx-5090-d", "l20", "a2", "a16",
        "p40", "rtx-2000-ada", "rtx-4000-sff-ada",
    }  # fmt: skip
    assert not wanted - set(BY_ID)


@pytest.mark.parametrize("gpu", ALL, ids=lambda g: g.id)
def test_every_number_has_a_source(gpu):
    assert gpu.source.get("device")
    if gpu.dense or gpu.sparse or gpu.dense_fp16_accumulate:
        assert gpu.source.get("peaks")
    if gpu.bytes_s:
        assert gpu.source.get("bandwidth")
    assert all(len(text) > 3 for text in gpu.source.values())
    assert gpu.sms is None or gpu.sms > 0
    assert gpu.names
    assert gpu.vendor in ("nvidia", "amd")
    assert (gpu.cc is None) == (gpu.vendor == "amd")


@pytest.mark.parametrize("gpu", [g for g in ALL if g.bytes_s and g.nominal_bytes_s], ids=lambda g: g.id)
def test_memory_clock_and_bus_width_give_the_bandwidth(gpu):
    assert gpu.nominal_bytes_s == pytest.approx(gpu.bytes_s, rel=0.012)


def test_rates_times_sms_times_clock_give_the_data_sheet_peaks():
    """Dense figures only: a sparse figure in a dense row would be off by 2."""
    checked = 0
    for row in raw_rows():
        gpu = BY_ID[row["id"]]
        known = gpus.architecture(gpu.cc, gpu.driver_name)
        for path, printed in row.get("dense", {}).items():
            clock = gpu.peak_hz if path in PEAK_CLOCK_PATHS else gpu.tensor_hz
            if known is None or clock is None or gpu.sms is None or path not in known.rates:
                continue
            derived = known.rates[path] * gpu.sms * clock / 1e12
            if (gpu.id, path) == ("gb10", "fp4"):  # "1 PFLOP/s", with sparsity, is a round figure: 475 dense
                assert derived == pytest.approx(475.4, abs=0.1)
                continue
            assert abs(derived - printed) <= 0.013 * printed + half_unit(printed), (gpu.id, path, derived, printed)
            checked += 1
    assert checked > 200


def test_fp16_accumulation_is_kept_apart():
    for gpu in ALL:
        for path, value in gpu.dense_fp16_accumulate.items():
            assert value == pytest.approx(2 * gpu.dense[path], rel=0.01), (gpu.id, path)
    assert BY_ID["rtx-4080"].dense["fp16"] == 97.5e12
    assert BY_ID["rtx-4080"].dense_fp16_accumulate["fp16"] == 194.9e12


def test_sparse_is_twice_dense_and_never_among_the_dense():
    for gpu in ALL:
        for path, value in gpu.sparse.items():
            factor = PRINTED_OTHERWISE.get((gpu.id, path), 2.0)
            assert value == pytest.approx(factor * gpu.dense[path], rel=0.01), (gpu.id, path)
        assert not set(gpu.sparse) & {"fp64", "fp64_tensor", "fp32", "fp16_vector"}


def test_the_ladder_of_the_h100():
    """989 dense FP16; 1979 sparse FP16 or dense FP8; 3958 sparse FP8: SXM5, which is not the PCIe card."""
    sxm, pcie = BY_ID["h100-sxm5-80gb"], BY_ID["h100-pcie-80gb"]
    assert sxm.dense["fp16"] == 989e12
    assert sxm.sparse["fp16"] == sxm.dense["fp8"] == 1979e12
    assert sxm.sparse["fp8"] == 3958e12
    assert sxm.dense["tf32"] == pytest.approx(494.7e12)  # 989 is also its TF32 with sparsity
    assert (sxm.sms, sxm.bytes_s) == (132, 3350e9)
    assert (pcie.sms, pcie.dense["fp16"]) == (114, 756.5e12)


@pytest.mark.parametrize("gpu", ALL, ids=lambda g: g.id)
def test_a_device_is_its_own_row_and_no_other(gpu):
    found = gpus.match(gpu.driver_name, gpu.cc, gpu.sms, 0.96 * gpu.memory_bytes)
    if gpu.id in TWINS:
        assert found.kind == "ambiguous"
        assert {c.id for c in found.candidates} == TWINS
    else:
        assert (found.kind, found.gpu and found.gpu.id) == ("exact", gpu.id)


def test_rules_do_not_overlap():
    """No two rows accept the same name, SM count and memory size (a driver reports 88 to 103 % of the nominal size)."""
    overlaps = set()
    for gpu in ALL:
        for share in (0.89, 0.96, 1.0):
            found = gpus.match(gpu.driver_name, gpu.cc, gpu.sms, share * gpu.memory_bytes)
            if found.kind != "exact":
                overlaps.add(gpu.id)
    assert overlaps == TWINS


def test_every_nvidia_row_has_a_product_class():
    for gpu in ALL:
        if gpu.vendor == "nvidia":
            known = gpus.architecture(gpu.cc, gpu.driver_name)
            assert known is not None, gpu.id
            assert "unknown" not in known.product_class, gpu.id


def test_one_default_at_most_for_each_family():
    families = [gpu.family for gpu in ALL if gpu.default]
    assert len(families) == len(set(families))


def test_architecture_rates_of_method():
    """Ops per SM and cycle read as .peak_sustained / SMs from reports: T4, A100, H100, B200, RTX 5090."""
    rate = lambda cc, name: gpus.architecture(cc, name).rates  # noqa: E731
    assert rate((7, 5), "Tesla T4")["fp16"] == 1024
    assert rate((7, 5), "NVIDIA GeForce RTX 2070")["fp16"] == 512
    assert "fp16" not in rate((7, 5), "NVIDIA GeForce GTX 1650")
    assert rate((8, 0), None)["fp16"] == 2048
    assert rate((9, 0), "NVIDIA H100 80GB HBM3")["fp16"] == 4096
    assert rate((9, 0), "NVIDIA H800")["fp64"] == 4
    assert rate((10, 0), "NVIDIA B200")["fp4"] == 32768
    assert rate((12, 0), "NVIDIA GeForce RTX 5090")["fp16"] == 512
    assert gpus.architecture((3, 5), "Tesla K40") is None
    assert gpus.architecture(None, None) is None


def test_the_a10g_runs_products_at_half_the_rate_of_the_a10():
    """Measured at 10240²: TF32 34.7, FP16 and BF16 69.5 TFLOP/s; 80 SMs × 512 × 1.71 GHz is 70.0, with 1024 140."""
    known, gpu = gpus.architecture((8, 6), "NVIDIA A10G"), BY_ID["a10g"]
    peak = {path: gpu.sms * rate * gpu.clock_hz / 1e12 for path, rate in known.rates.items()}
    assert peak["fp16"] == peak["bf16"] == pytest.approx(70.04, abs=0.01)
    assert peak["tf32"] == pytest.approx(35.02, abs=0.01)
    assert peak["fp32"] == pytest.approx(35.02, abs=0.01)
    assert (known.rates["int8"], known.rates["int4"]) == (1024, 2048)
    assert gpu.dense == {"fp16": 70e12, "bf16": 70e12}
    assert gpu.sparse["fp16"] == 140e12  # what a full rate would give dense
    for path, measured in (("tf32", 34.7), ("fp16", 69.5), ("bf16", 69.5)):
        assert 0.98 < measured / peak[path] < 1
    a10 = gpus.architecture((8, 6), "NVIDIA A10")
    assert all(a10.rates[path] == 2 * known.rates[path] for path in ("tf32", "fp16", "bf16", "int8", "int4"))


@pytest.mark.parametrize(
    ("cc", "name", "fp16"),
    [
        # data sheet, dense: A10 125 = 72 · 1024 · 1.695; A40 149.7 = 84 · 1024 · 1.74; A2 18 = 10 · 1024 · 1.77
        ((8, 6), "NVIDIA A10-24Q", 1024),
        ((8, 6), "NVIDIA A40", 1024),
        ((8, 6), "NVIDIA A16", 1024),  # 17.9 a GPU = 10 · 1024 · 1.755
        ((8, 6), "GRID A10G-24Q", 512),
        ((8, 6), "NVIDIA A10M", None),
        ((8, 6), "NVIDIA RTX A5000 Laptop GPU", 1024),
        ((8, 6), "NVIDIA GeForce RTX 3080 Laptop GPU", 512),
        ((8, 6), "NVIDIA GeForce MX570", None),  # sold with and without tensor cores
        ((8, 6), None, None),
        # L4 121 = 58 · 1024 · 2.04; L40S 362 = 142 · 1024 · 2.49; L40 181 = 142 · 512 · 2.49
        ((8, 9), "NVIDIA L4", 1024),
        ((8, 9), "NVIDIA L40S", 1024),
        ((8, 9), "NVIDIA L40", 512),
        ((8, 9), "NVIDIA L40-48Q", 512),
        ((8, 9), "NVIDIA L20", 512),  # 119.5 = 92 · 512 · 2.54
        ((9, 0), "NVIDIA H20", None),
        ((12, 0), "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 1024),  # 503.8 = 188 · 1024 · 2.617
        ((12, 0), "NVIDIA GeForce RTX 5090", 512),
        ((12, 0), "NVIDIA GeForce RTX 5090 D", None),
        ((12, 1), "NVIDIA GB10", 512),
        ((8, 9), "NVIDIA RTX 5000 Ada Generation Laptop GPU", 1024),
        ((8, 9), "NVIDIA GeForce RTX 4090 Laptop GPU", 512),
        # T4 65 = 40 · 1024 · 1.59; RTX 2080 40.3 with FP32 accumulation = 46 · 512 · 1.71
        ((7, 5), "Tesla T4", 1024),
        ((7, 5), "NVIDIA T4G", 1024),
        ((7, 5), "Quadro RTX 4000", 1024),
        ((7, 5), "NVIDIA GeForce RTX 2080", 512),
        ((7, 5), "NVIDIA T400 4GB", None),
        ((7, 5), "Quadro T2000", None),
        ((7, 5), "NVIDIA T550 Laptop GPU", None),
        ((7, 5), "NVIDIA GeForce MX450", None),
        ((7, 5), "NVIDIA GeForce GTX 1630", None),
    ],
)
def test_product_classes_by_name(cc, name, fp16):
    """Data centre, workstation, GeForce and laptop parts of one chip differ; without a source nothing is assumed."""
    assert gpus.architecture(cc, name).rates.get("fp16") == fp16


@pytest.mark.parametrize("name", ["NVIDIA T400 4GB", "Quadro T2000", "NVIDIA T550 Laptop GPU", "NVIDIA GeForce MX550"])
def test_turing_chips_without_tensor_cores(name):
    assert gpus.architecture((7, 5), name).product_class == "GTX 16, no tensor cores"


@pytest.mark.parametrize(("cc", "name"), [((8, 0), "NVIDIA CMP 170HX"), ((7, 5), "NVIDIA CMP 50HX")])
def test_nothing_is_assumed_about_mining_cards(cc, name):
    assert gpus.architecture(cc, name) is None


def test_mma_sync_on_hopper_and_blackwell_is_kept_apart():
    """Legacy mma.sync tops out at 2/3 of wgmma on H100, at 1/4 of tcgen05 on B200."""
    hopper, blackwell = gpus.architecture((9, 0), "NVIDIA H100 PCIe"), gpus.architecture((10, 0), "NVIDIA B200")
    assert math.isclose(hopper.legacy_mma["fp16"] / hopper.rates["fp16"], 2 / 3)
    assert blackwell.legacy_mma["bf16"] / blackwell.rates["bf16"] == 0.25


def test_without_a_name_only_what_all_classes_share():
    assert set(gpus.architecture((7, 5), None).rates) == {"fp64", "fp32", "fp16_vector"}
    assert set(gpus.architecture((9, 0), None).rates) == {"fp32"}
    assert set(gpus.architecture((8, 0), "anything").rates) <= set(PATH_NAMES)
