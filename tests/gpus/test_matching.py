"""Matching of devices: exact, ambiguous (and says so), unknown."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ncuroof import gpus
from ncuroof.gpus.matching import plain_name

GIB = 2**30

# Device names in the manifest of the public reports, with their compute capability: every one by hand.
MANIFEST = {
    "A100-PCIE-40GB": "a100-pcie-40gb",
    "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb",
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb",
    "NVIDIA A100-SXM4-40GB": "a100-sxm4-40gb",
    "NVIDIA A100-PG509-200": "a100-sxm4-40gb",
    "NVIDIA A10": "a10",
    "NVIDIA A10G": "a10g",
    "NVIDIA A30": "a30",
    "NVIDIA A40": "a40",
    "NVIDIA B200": "b200-sxm-180gb",
    "NVIDIA H200": "h200-sxm-141gb",
    "NVIDIA GH200 480GB": "gh200-96gb",
    "Tesla T4": "t4",
    "Tesla V100-SXM2-32GB": "v100-sxm2-32gb",
    "Tesla V100-SXM2-16GB": "v100-sxm2-16gb",
    "Tesla V100-PCIE-16GB": "v100-pcie-16gb",
    "GeForce GTX 1080": "gtx-1080",
    "GeForce GTX 1060 with Max-Q Design": "gtx-1060-max-q",
    "NVIDIA GeForce GTX 1660 SUPER": "gtx-1660-super",
    "NVIDIA GeForce GTX 1660 Ti": "gtx-1660-ti",
    "GeForce RTX 2070": "rtx-2070",
    "NVIDIA GeForce RTX 2070": "rtx-2070",
    "NVIDIA GeForce RTX 3060 Ti": "rtx-3060-ti",
    "NVIDIA GeForce RTX 3060 Laptop GPU": "rtx-3060-laptop",
    "NVIDIA GeForce RTX 3070": "rtx-3070",
    "NVIDIA GeForce RTX 4090": "rtx-4090",
    "RTX 4090": "rtx-4090",
    "NVIDIA GeForce RTX 5090": "rtx-5090",
    "RTX 5090": "rtx-5090",
    # The name and the compute capability do not tell the memory size or the SM count.
    "GH200": {"gh200-96gb", "gh200-144gb"},
    "Jetson Orin NX": {"jetson-orin-nx-16gb", "jetson-orin-nx-8gb"},
    "NVIDIA GeForce RTX 3080": {"rtx-3080-10gb", "rtx-3080-12gb"},
    "NVIDIA GeForce RTX 5060 Ti": {"rtx-5060-ti-8gb", "rtx-5060-ti-16gb"},
    "RTX 5060 Ti": {"rtx-5060-ti-8gb", "rtx-5060-ti-16gb"},
    "NVIDIA GeForce GTX 1650": {"gtx-1650", "gtx-1650-laptop"},
    "Xavier": {"jetson-agx-xavier-32gb", "jetson-xavier-nx"},
    # Not among the devices of the table.
    "AMD Radeon(TM) Graphics": None,
    "AMD Radeon Graphics": None,
    "Microsoft Basic Render Driver": None,
    "Intel(R) HD Graphics 630": None,
}


def test_every_device_of_the_manifest(corpus):
    seen = set()
    with (corpus / "manifest.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            cc = None if row["cc"] in ("?", "") else tuple(int(x) for x in row["cc"].split("."))
            seen |= {(name.strip(), cc) for name in row["gpu"].split(";") if name.strip() not in ("?", "")}
    assert seen
    for name, cc in sorted(seen, key=str):
        found, expected = gpus.match(name, cc), MANIFEST[name]
        if isinstance(expected, set):
            assert found.kind == "ambiguous", name
            assert {gpu.id for gpu in found.candidates} == expected
            assert "may be any of" in found.reason
        elif expected is None:
            assert found.kind == "unknown", name
        else:
            assert (found.kind, found.gpu.id) == ("exact", expected), name


@pytest.mark.parametrize(
    ("name", "cc", "sms", "size", "expected"),
    [
        # name, SMs and memory as device attributes give them in public reports
        ("NVIDIA GeForce RTX 3080", (8, 6), 68, 10487136256, "rtx-3080-10gb"),
        ("NVIDIA GeForce RTX 5060 Ti", (12, 0), 36, 8546484224, "rtx-5060-ti-8gb"),
        ("NVIDIA GeForce GTX 1650", (7, 5), 14, 3894870016, "gtx-1650"),
        ("Xavier", (7, 2), 8, 33349173248, "jetson-agx-xavier-32gb"),
        ("NVIDIA A40", (8, 6), 84, 47641198592, "a40"),
        ("Tesla T4", (7, 5), 40, 15828320256, "t4"),
        ("NVIDIA GH200 480GB", (9, 0), 132, 101468602368, "gh200-96gb"),
        ("NVIDIA B200", (10, 0), 148, 191503138816, "b200-sxm-180gb"),
        # names and sizes in the published data of the measured-roofs article
        ("NVIDIA B300 SXM6 AC", (10, 3), 148, 267.68878 * GIB, "b300-sxm-288gb"),
        ("NVIDIA H200 MIG 3g.71gb", (9, 0), 60, 69.75 * GIB, "h200-mig-3g"),
        ("NVIDIA GH200 144G HBM3e", (9, 0), 132, 142.75 * GIB, "gh200-144gb"),
        ("NVIDIA A100-SXM4-80GB", (8, 0), 108, 79.25 * GIB, "a100-sxm4-80gb"),
        ("AMD Instinct MI210", None, 104, 63.98 * GIB, "mi210"),
        # short forms, as text logs have them
        ("H100", (9, 0), 132, None, "h100-sxm5-80gb"),
        ("NVIDIA H100 PCIe", (9, 0), 114, None, "h100-pcie-80gb"),
    ],
)
def test_devices(name, cc, sms, size, expected):
    found = gpus.match(name, cc, sms, size)
    assert (found.kind, found.gpu and found.gpu.id) == ("exact", expected)


def test_h100_without_sm_count_is_ambiguous():
    found = gpus.match("NVIDIA H100", (9, 0))
    assert found.kind == "ambiguous"
    assert {gpu.id for gpu in found.candidates} == {"h100-sxm5-80gb", "h100-pcie-80gb"}
    assert "H100 PCIe 80 GB" in found.reason


def test_a_contradiction_is_unknown_and_says_what_it_is():
    found = gpus.match("NVIDIA H100 PCIe", (9, 0), 132, None)
    assert found.kind == "unknown"
    assert "132 SMs" in found.reason
    assert gpus.match("NVIDIA H100 80GB HBM3", (8, 0)).kind == "unknown"


def test_without_a_name_nothing_is_exact():
    """CC 9.0, 132 SMs, 80 GiB: H100 SXM or H800. Even one candidate is no match: the table is not complete."""
    found = gpus.match(None, (9, 0), 132, 79.2 * GIB)
    assert found.kind == "ambiguous"
    assert {gpu.id for gpu in found.candidates} == {"h100-sxm5-80gb", "h800-sxm-80gb"}
    assert gpus.match(None, (10, 0), 148).kind == "ambiguous"
    assert gpus.match("", (9, 0)).kind == "unknown"
    assert gpus.match(None, (9, 0), 7).kind == "unknown"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("H100", "h100-sxm5-80gb"),
        ("H100-SXM", "h100-sxm5-80gb"),
        ("h100-pcie", "h100-pcie-80gb"),
        ("H100 NVL", "h100-nvl-94gb"),
        ("4080", "rtx-4080"),
        ("RTX 4080 SUPER", "rtx-4080-super"),
        ("a100-80-pcie", "a100-pcie-80gb"),
        ("MI210", "mi210"),
        ("B300", "b300-sxm-288gb"),
    ],
)
def test_names_that_people_type(query, expected):
    assert gpus.find(query).gpu.id == expected


def test_a_family_name_says_what_else_it_might_be():
    found = gpus.find("H100")
    assert [gpu.id for gpu in found.candidates] == ["h100-pcie-80gb", "h100-nvl-94gb"]


@pytest.mark.parametrize("query", ["RTX", "Orin", "v100-32"])
def test_too_little_is_not_guessed(query):
    found = gpus.find(query)
    assert found.kind == "ambiguous"
    assert len(found.reason) < 400


@pytest.mark.parametrize("query", ["H2", "B20", "RTX 40", "A1", "GB2", "RTX PRO 600"])
def test_a_name_that_is_part_of_a_known_one_is_unknown(query):
    """H20 is no H200, and L4 no L40S: a number is whole."""
    assert gpus.find(query).kind == "unknown"


def test_the_h20_is_no_h200():
    assert gpus.find("H20").gpu.id == "h20-96gb"
    assert gpus.match("NVIDIA H20", (9, 0), 78, 95.6 * GIB).gpu.id == "h20-96gb"
    assert gpus.match("NVIDIA H20-3e", (9, 0), 78).kind == "unknown"


def test_without_a_known_number_of_sms_the_name_decides():
    assert gpus.match("NVIDIA GB300", (10, 3), 152, 276 * GIB).gpu.id == "gb300"
    assert gpus.match("NVIDIA GB300", (10, 0), 152).kind == "unknown"


def test_every_id_and_name_finds_its_row():
    for gpu in gpus.variants():
        assert gpus.find(gpu.id).gpu.id == gpu.id
        assert gpus.find(gpu.name).gpu.id == gpu.id


@given(st.text(max_size=60), st.none() | st.integers(0, 300), st.none() | st.floats(0, 1e12))
def test_any_name_is_answered(name, sms, size):
    assert gpus.match(name, None, sms, size).kind in ("exact", "ambiguous", "unknown")
    assert gpus.find(name).kind in ("exact", "ambiguous", "unknown")


def test_plain_name():
    assert plain_name("NVIDIA  GeForce RTX 4090") == "RTX 4090"
    assert plain_name("Tesla V100-SXM2-16GB") == "V100-SXM2-16GB"
    assert plain_name("Quadro RTX 6000") == "Quadro RTX 6000"
