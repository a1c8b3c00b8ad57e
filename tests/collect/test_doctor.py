from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ncuroof.collect import doctor, gpu


def look(tmp_path, monkeypatch, gpus=(), environment=None):
    monkeypatch.setattr(gpu, "detect", lambda: list(gpus))
    checks, abilities = doctor.examine(environment or {}, root=tmp_path)
    return {check.topic: check for check in checks}, {ability.what: ability for ability in abilities}


def test_a_laptop_without_a_gpu_can_analyse_and_not_collect(tmp_path, monkeypatch):
    checks, abilities = look(tmp_path, monkeypatch)
    assert checks["polars"].state == "ok"
    assert checks["protobuf backend"].state == "ok"
    assert checks["ncu"].state == "missing"
    assert checks["gpu"].state in ("missing", "bad")
    assert abilities["analyze, ingest, roofline, compare"].works
    assert not abilities["collect"].works
    assert "ncu and gpu" in abilities["collect"].why


def test_a_whole_machine_can_collect(tmp_path, monkeypatch, bin_folder):
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    (tmp_path / "proc/driver/nvidia/params").write_text("RmProfilingAdminOnly: 0\n")
    (tmp_path / "proc/self").mkdir()
    (tmp_path / "proc/self/status").write_text("CapEff:\t0000000000000000\n")
    card = gpu.Gpu("NVIDIA H100 80GB HBM3", "9.0", "nvidia-smi")
    checks, abilities = look(tmp_path, monkeypatch, [card], {"PATH": f"{bin_folder}:/bin:/usr/bin"})
    assert checks["ncu"].detail == "Nsight Compute 2025.1 (PATH)"
    assert checks["counters"].state == "ok"
    assert checks["gpu"].detail == "NVIDIA H100 80GB HBM3 (CC 9.0)"
    assert abilities["collect"].works
    assert abilities["collect"].why == ""


def test_refused_counters_are_named_with_their_remedy(tmp_path, monkeypatch, bin_folder):
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    (tmp_path / "proc/driver/nvidia/params").write_text("RmProfilingAdminOnly: 1\n")
    (tmp_path / "proc/self").mkdir()
    (tmp_path / "proc/self/status").write_text("CapEff:\t0000000000000000\n")
    card = gpu.Gpu("NVIDIA H100 80GB HBM3", "9.0", "nvidia-smi")
    checks, abilities = look(tmp_path, monkeypatch, [card], {"PATH": f"{bin_folder}:/bin:/usr/bin"})
    assert checks["counters"].state == "bad"
    assert "NVreg_RestrictProfilingToAdminUsers=0" in checks["counters"].remedy
    assert not abilities["collect"].works
    assert abilities["collect"].why == "counters are refused"


def test_a_broken_package_is_bad_and_what_needs_it_does_not_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    checks, abilities = look(tmp_path, monkeypatch)
    assert checks["altair"].state == "bad"
    assert "cannot be imported" in checks["altair"].detail
    ability = abilities["analyze, ingest, roofline, compare"]
    assert not ability.works
    assert "altair" in ability.why


def run(*arguments):
    command = [sys.executable, "-m", "ncuroof", "doctor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_text_and_status():
    done = run()
    assert done.returncode == 0
    assert "Would work here:" in done.stdout
    assert "protobuf backend" in done.stdout


def test_no_line_is_wider_than_80_columns():
    assert max(len(line) for line in run().stdout.splitlines()) <= 80


def test_json():
    done = run("--format", "json")
    document = json.loads(done.stdout)
    assert {"topic", "state", "detail", "remedy", "needed"} == set(document["checks"][0])
    assert {check["state"] for check in document["checks"]} <= {"ok", "missing", "bad", "unknown"}


def test_an_unknown_format_is_a_usage_error():
    done = run("--format", "poem")
    assert done.returncode == 2
    assert "choose text or json" in done.stderr


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("NVIDIA H200, 9.0\nNVIDIA A100-SXM4-40GB, 8.0\n", [("NVIDIA H200", "9.0"), ("NVIDIA A100-SXM4-40GB", "8.0")]),
        ("Tesla V100, [N/A]\n", [("Tesla V100", None)]),
        ("\n", []),
    ],
)  # fmt: skip
def test_what_nvidia_smi_says(monkeypatch, tmp_path, answer, expected):
    script = tmp_path / "nvidia-smi"
    (tmp_path / "answer").write_text(answer)
    script.write_text(f"#!/bin/sh\ncat '{tmp_path}/answer'\n")
    script.chmod(0o755)
    monkeypatch.setattr(gpu, "QUERY", (str(script),))
    assert [(one.name, one.cc) for one in gpu.detect()] == expected


def test_what_ncu_says_of_the_gpu():
    found = gpu.from_query("Device NVIDIA H100 80GB HBM3 (GH100)\n-----\nDevice NVIDIA Odd (ZZ999)\n")
    assert [(one.name, one.cc) for one in found] == [("NVIDIA H100 80GB HBM3", "9.0"), ("NVIDIA Odd", None)]
