"""The sample reports give exactly the findings that the articles describe, and no others above note level."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import polars as pl
import pytest
from tests.conftest import ROOT, SAMPLES

from ncuroof import pipeline
from ncuroof.config import Config

CASES = sorted(p.parent for p in SAMPLES.glob("*/*/case.toml"))


def analysed(folder):
    return pipeline.analyze(pipeline.load([folder / "report.ncu-rep"]), Config())


def test_there_are_samples():
    assert len(CASES) >= 10


@pytest.mark.parametrize("folder", CASES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_expected_findings_and_no_others(folder):
    case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    expected = {(e["code"], launch) for e in case.get("expected", []) for launch in e["launches"]}
    analysis = analysed(folder)
    loud = analysis.findings.filter(pl.col("severity").is_in(["error", "warning", "info"]))
    labelled = loud.join(analysis.kernels.select("row", "op_label"), on="row", how="left")
    assert set(labelled.select("code", "op_label").iter_rows()) == expected


@pytest.mark.parametrize("folder", CASES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_samples_say_that_they_were_not_profiled(folder):
    dataset = pipeline.load([folder / "report.ncu-rep"])
    assert dataset.kernels["origin"].unique().to_list() == ["reconstructed"]
    assert any("not profiled" in note.message for note in dataset.notes)


def test_samples_are_fresh():
    run = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_samples.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


def kernels(gpu, case):
    return {k["op_label"]: k for k in analysed(SAMPLES / gpu / case).kernels.to_dicts()}


def test_fp8_points_lie_as_far_above_the_roof_as_published():
    # Published: 1.8 to 2 x the roof, 1200 to 1300 GB/s with the formula's bytes.
    for label, ratio in (("M=16", 1.9633), ("M=32", 1.8276), ("M=64", 1.9563)):
        k = kernels("rtx4080", "fp8-above-roof")[label]
        assert k["roof_pct"] == pytest.approx(100 * ratio, rel=1e-4)
        assert 1200e9 < k["achieved_bytes_s"] < 1305e9
        assert k["path"] == "fp8"


def test_padding_is_free_left_of_the_ridge_though_the_ratio_is_known():
    # 64 rows computed for 1: I_padded = 1644167168 / 26510848 = 62.0 < 260 FLOP/byte on the H100's BF16 roof.
    k = kernels("h100", "qwen2.5-7b-layers")["decode q_proj batch=1"]
    assert k["executed_over_useful"] == pytest.approx(64.0)
    assert k["intensity"] == pytest.approx(62.0, abs=0.05)
    assert k["ridge"] == pytest.approx(260.1, abs=0.1)
    assert k["bound"] == "memory"


def test_padding_time_at_stake():
    # RTX 4080 FP64, M = 4: the plateau ends at M = 32, so at least 2 * 32 * 8192^2 FLOP are executed:
    # 4.295e9 / 0.742e12 = 5.788 ms. Unpadded: max(5.369e8 / 0.742e12, Q / B) with
    # Q = 8 * (4 * 8192 * 2 + 8192^2) = 537.4e6 byte, / 661.42e9 = 0.8125 ms. 6.888912 * (1 - 0.8125 / 5.788) = 5.92 ms.
    analysis = analysed(SAMPLES / "rtx4080" / "fp64-m-sweep")
    found = analysis.findings.filter(pl.col("kernel") == "gemm_fp64_4x8192x8192").to_dicts()
    assert [f["code"] for f in found] == ["W001"]
    assert found[0]["time_at_stake_s"] == pytest.approx(5.92e-3, rel=0.01)


def test_h100_roofs_are_the_measured_ones():
    k = kernels("h100", "fp16-m-sweep")["M=1"]
    assert k["roof_bytes_s"] == pytest.approx(3084.85e9, rel=1e-4)
    assert k["roof_flop_s"] == pytest.approx(787.6e12, rel=1e-3)
    assert k["ridge"] == pytest.approx(255.3, abs=0.1)
