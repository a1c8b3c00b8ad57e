from __future__ import annotations

import json
import os
import subprocess
import sys

import polars as pl
import pytest

from ncuroof.collect import calibration
from ncuroof.errors import CollectError, InputError
from ncuroof.roofs import attach, files

H100 = {
    "kind": "cuda",
    "name": "NVIDIA H100 80GB HBM3",
    "capability": "9.0",
    "sm_count": 132,
    "memory_bytes": 85_000_000_000,
    "l2_bytes": 52_428_800,
    "torch": "2.9",
    "cuda": "12.8",
}
BYTES = 512 << 20


def row(name, dtype, *, bytes_per_s=1.0, flop_per_s=1.0, **more):
    return {"name": name, "dtype": dtype, "bytes": BYTES, "bytes_per_s": bytes_per_s, "flop_per_s": flop_per_s, **more}


def result(collector, *rows, device=H100):
    return {"collector": collector, "format": 1, "device": device, "rows": list(rows)}


ARTICLE = [
    result(
        "bandwidth",
        row("read", "fp32", bytes_per_s=3085e9),
        row("copy", "fp32", bytes_per_s=2568e9),
        {**row("copy", "fp32", bytes_per_s=9e12), "bytes": 1 << 20},
    ),
    result(
        "gemm_square",
        row("n=8192", "fp16", flop_per_s=756e12),
        row("n=8192", "bf16", flop_per_s=802e12),
        row("n=8192", "tf32", flop_per_s=418e12),
        row("n=8192", "fp64", flop_per_s=64.2e12),
        row("n=8192", "fp32", flop_per_s=51.9e12),
    ),
    result("gemm_msweep", row("M=2048", "fp16", flop_per_s=788e12)),
    result(
        "fma_sweep",
        row("R=2048", "fp32", flop_per_s=61.5e12, kernel="triton"),
        row("R=2048", "fp64", flop_per_s=32e12, kernel="triton"),
        row("R=1", "fp16", flop_per_s=1e12, kernel="torch, a pass for each step"),
    ),
]


def rates(found):
    return {roof.path or roof.level: roof.value for roof in found.roofs}


def test_the_articles_h100():
    found = calibration.calibrate(ARTICLE)
    assert rates(found) == {
        "dram": 3085e9,  # the highest of all movers, not the copy
        "fp16": 788e12,  # the highest of all shapes
        "bf16": 802e12,
        "tf32": 418e12,
        "fp64_tensor": 64.2e12,
        "fp64": 32e12,
        "fp32": 61.5e12,  # the FMA chain is above the product
    }
    assert {roof.source for roof in found.roofs} == {"measured"}
    assert all(roof.dense for roof in found.roofs)


def test_what_ran_in_l2_and_unfused_chains_are_no_roofs():
    found = calibration.calibrate(ARTICLE)
    assert "fp16_vector" not in rates(found)
    assert any("show L2's bandwidth" in note for note in found.notes)


def test_a_rate_above_the_devices_peak_is_left_out():
    # The dense FP16 peak is 1071 TFLOP/s: 132 SMs x 4096 FLOP x 1.98 GHz. 1979 is the sparse figure.
    wrong = result("gemm_square", row("n=4096", "fp16", flop_per_s=1979e12))
    fast = result("bandwidth", row("read", "fp32", bytes_per_s=3.36e12))  # nominal: 2.619 GHz x 2 x 5120 / 8 = 3.352e12
    found = calibration.calibrate([*ARTICLE, wrong, fast])
    assert rates(found)["fp16"] == 788e12
    assert rates(found)["dram"] == 3085e9
    assert sum("above the device's peak" in note for note in found.notes) == 2
    just_under = result("gemm_square", row("n=4096", "fp16", flop_per_s=1069e12))
    assert rates(calibration.calibrate([*ARTICLE, just_under]))["fp16"] == 1069e12


def test_a_gpu_without_fp64_tensor_cores():
    card = {**H100, "name": "NVIDIA GeForce RTX 4080", "capability": "8.9", "sm_count": 76, "memory_bytes": 16.7e9}
    found = calibration.calibrate([result("gemm_square", row("n=8192", "fp64", flop_per_s=0.7e12), device=card)])
    assert rates(found) == {"fp64": 0.7e12}


def test_an_unknown_gpu_is_calibrated_and_said_to_be_unchecked():
    card = {**H100, "name": "NVIDIA Imaginary 9000"}
    found = calibration.calibrate([result("bandwidth", row("read", "fp32", bytes_per_s=1e12), device=card)])
    assert rates(found) == {"dram": 1e12}
    assert any("not checked against its peaks" in note for note in found.notes)


def test_results_of_two_devices_are_refused():
    other = result("gemm_square", row("n=1", "fp16", flop_per_s=1e12), device={**H100, "name": "NVIDIA A100"})
    with pytest.raises(CollectError, match="several devices"):
        calibration.calibrate([*ARTICLE, other])


def test_nothing_usable_is_an_error():
    with pytest.raises(CollectError, match="no rate that can be a roof"):
        calibration.calibrate([result("launch_floor", row("one launch", "fp32"))])


@pytest.mark.parametrize("text", ["", "[]", '{"rows": []}', '{"format": 1, "rows": [{}], "device": {}}', "\xff"])
def test_a_file_that_no_collector_wrote(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=r"x\.json.*--json"):
        calibration.read(path)


def command(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "ncuroof", "calibrate", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=120, env=dict(os.environ), check=False,
    )  # fmt: skip


@pytest.fixture
def inputs(tmp_path):
    names = []
    for number, document in enumerate(ARTICLE):
        (tmp_path / f"{number}.json").write_text(json.dumps(document))
        names += ["--from", f"{number}.json"]
    return names


def test_the_command_writes_a_file_that_analyze_prefers_on_that_gpu(tmp_path, inputs):
    done = command(tmp_path, *inputs)
    assert done.returncode == 0, done.stderr
    assert "3085 GB/s" in done.stdout
    assert "788 TFLOP/s" in done.stdout
    assert "255.4" in done.stdout  # I* = 788e12 / 3085e9
    path = tmp_path / "ncuroof-roofs.toml"
    assert {roof.gpu for roof in files.load(path)} == {"NVIDIA H100 80GB HBM3"}
    assert (tmp_path / "ncuroof.toml").read_text() == 'roofs-file = "ncuroof-roofs.toml"\n'
    kernels = pl.DataFrame(
        {"gpu_name": ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"], "cc_major": [9, 8], "cc_minor": [0, 0]}
    )
    roofs = attach(kernels, roofs_file=path)
    assert roofs["roof_bytes_s"][0] == 3085e9
    assert "ncuroof-roofs.toml" in roofs["roof_bytes_s_source"][0]
    assert "ncuroof-roofs.toml" not in (roofs["roof_bytes_s_source"][1] or "")


def test_a_configuration_that_is_there_is_left_alone(tmp_path, inputs):
    (tmp_path / "ncuroof.toml").write_text('ignore = ["D006"]\n')
    done = command(tmp_path, *inputs)
    assert done.returncode == 0
    assert 'roofs-file = "ncuroof-roofs.toml"' in done.stderr
    assert (tmp_path / "ncuroof.toml").read_text() == 'ignore = ["D006"]\n'


def test_a_roofs_file_is_not_overwritten_unless_asked(tmp_path, inputs):
    (tmp_path / "ncuroof-roofs.toml").write_text("mine")
    done = command(tmp_path, *inputs)
    assert done.returncode == 2
    assert "exists" in done.stderr
    assert command(tmp_path, *inputs, "--force").returncode == 0


def test_collectors_are_found_where_they_are_named(tmp_path):
    assert (calibration.collectors_folder(None, {}) / "bandwidth.py").is_file()
    with pytest.raises(CollectError, match="--collectors"):
        calibration.collectors_folder(tmp_path, {})


def test_without_torch_the_command_says_what_is_missing(tmp_path):
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False).returncode == 0:
        pytest.skip("torch is installed here")
    done = command(tmp_path, "--device", "cpu")
    assert done.returncode == 2
    assert done.stdout == ""
    # One line: nothing of the collectors, which would each end in a traceback.
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: PyTorch is not installed")
    assert "--python" in line
    assert not (tmp_path / "ncuroof-roofs.toml").exists()


@pytest.mark.parametrize("status", [0, 3])
def test_torch_is_looked_for_in_the_python_that_is_named(tmp_path, status):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexit {status}\n")  # answers as a Python with torch does, and as one without
    python.chmod(0o755)
    if status == 0:
        calibration.need_torch(str(python))
    else:
        with pytest.raises(CollectError, match="PyTorch is not installed"):
            calibration.need_torch(str(python))


def test_a_python_that_cannot_be_run_is_named(tmp_path):
    with pytest.raises(CollectError, match=r"nopython cannot be run .*--python"):
        calibration.need_torch(str(tmp_path / "nopython"))


def test_the_collectors_really_run_on_the_cpu(tmp_path):
    pytest.importorskip("torch", reason="the collectors run on PyTorch, which is not installed here")
    done = command(tmp_path, "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert {roof.gpu for roof in files.load(tmp_path / "ncuroof-roofs.toml")} == {"cpu"}
