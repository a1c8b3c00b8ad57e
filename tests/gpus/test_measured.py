"""The measured roofs: the published figures, on the right path, and their ridge points."""

from __future__ import annotations

import csv

import pytest
from tests.conftest import ROOT

from ncuroof import gpus
from ncuroof.gpus.measured import CITATION
from ncuroof.roofs import ridge

MEASURED = gpus.measured()
DATA = ROOT.parent / "shared" / "design" / "data" / "measured_roofs.csv"
PATHS = {"fp8_e4m3": "fp8", "nvfp4": "fp4"}


def test_every_measured_gpu_is_a_variant_of_that_device_name():
    assert CITATION
    for gpu_id, row in MEASURED.items():
        found = gpus.match(row.device)
        candidates = [found.gpu] if found.gpu else list(found.candidates)
        assert gpu_id in [gpu.id for gpu in candidates]


def test_every_published_figure_is_there():
    if not DATA.is_file():
        pytest.skip("the published figures are not here (../shared/design/data)")
    by_device = {row.gpu: row for row in MEASURED.values()}
    targets = {"h100": "h100-sxm5-80gb", "rtx4080": "rtx-4080", "b300": "b300-sxm-288gb", "mi210": "mi210"}
    seen = 0
    with DATA.open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            if line["target"] not in targets:
                continue
            row, path = by_device[targets[line["target"]]], PATHS.get(line["dtype"], line["dtype"])
            paths = (path, "fp64_tensor") if path == "fp64" else (path,)
            values = [p.flop_s for p in row.peaks if p.kind == "matmul" and p.path in paths]
            assert float(line["peak_tflop_s"]) * 1e12 in values
            assert row.bytes_s == float(line["bandwidth_gb_s"]) * 1e9
            seen += 1
    assert seen == 23


@pytest.mark.parametrize(
    ("gpu", "path", "kind", "expected"),
    [
        # ridge points printed in the article, text and tables 3 and 4
        ("h100-sxm5-80gb", "fp16", "matmul", 255),
        ("h100-sxm5-80gb", "bf16", "matmul", 260),
        ("h100-sxm5-80gb", "tf32", "matmul", 135),
        ("h100-sxm5-80gb", "fp64_tensor", "matmul", 20.8),
        ("h100-sxm5-80gb", "fp32", "fma", 19.9),
        ("h100-sxm5-80gb", "fp32", "matmul", 16.8),
        ("h100-sxm5-80gb", "fp64", "fma", 10.7),
        ("h200-sxm-141gb", "fp16", "matmul", 176),
        ("v100-sxm2-32gb", "fp16", "matmul", 123),
        ("rtx-4080", "fp16", "matmul", 158),
        ("rtx-4080", "fp64", "matmul", 1.12),
        ("mi100", "fp16", "matmul", 133),
        ("mi210", "fp16", "matmul", 101),
    ],
)
def test_ridge_points(gpu, path, kind, expected):
    row = MEASURED[gpu]
    (value,) = [p.flop_s for p in row.peaks if (p.path, p.kind) == (path, kind)]
    digits = len(str(expected).partition(".")[2])
    assert round(ridge(value, row.bytes_s), digits) == expected


def test_b300_fp64_product_turns_flat_at_0_16():
    """1.053 TFLOP/s / 6387 GB/s = 0.1649 FLOP/byte, printed as 0.16."""
    row = MEASURED["b300-sxm-288gb"]
    (value,) = [p.flop_s for p in row.peaks if (p.path, p.kind) == ("fp64", "matmul")]
    assert 0.16 <= ridge(value, row.bytes_s) < 0.17


def test_the_roof_of_a_path_is_the_highest_measured():
    """H100 FP32: FMA sweep 61.5 above the product's 51.9; RTX 4080 FP64: product 0.742 above the sweep's 0.71."""
    assert MEASURED["h100-sxm5-80gb"].best("fp32").flop_s == 61.5e12
    assert MEASURED["rtx-4080"].best("fp64").flop_s == pytest.approx(0.742e12)
    assert MEASURED["h100-sxm5-80gb"].best("fp64").flop_s == 32.9e12  # not the tensor path's 64.2
    assert MEASURED["h100-sxm5-80gb"].best("fp4") is None
