from __future__ import annotations

import pytest

from ncuroof.collect import ncu
from ncuroof.errors import CollectError


def fake(folder, version="2024.3.2.0", status=0):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ncu"
    says = f"echo 'NVIDIA (R) Nsight Compute Command Line Profiler'\necho 'Version {version} (build 1)'"
    path.write_text(f"#!/bin/sh\n{says}\nexit {status}\n")
    path.chmod(0o755)
    return path


def test_the_one_on_path_comes_before_newer_ones_installed(tmp_path):
    fake(tmp_path / "opt/nvidia/nsight-compute/2025.3.0", "2025.3.0.0")
    fake(tmp_path / "bin", "2023.1.0.0")
    found = ncu.find({"PATH": str(tmp_path / "bin")}, root=tmp_path)
    assert (str(found.version), found.how) == ("2023.1", "PATH")


def test_cuda_home_comes_before_what_is_merely_installed(tmp_path):
    fake(tmp_path / "opt/nvidia/nsight-compute/2025.3.0", "2025.3.0.0")
    fake(tmp_path / "cuda/bin", "2024.1.0.0")
    found = ncu.find({"CUDA_HOME": str(tmp_path / "cuda")}, root=tmp_path)
    assert (str(found.version), found.how) == ("2024.1", "CUDA_HOME")


@pytest.mark.parametrize(
    "folder",
    [
        "usr/local/cuda/bin",
        "usr/local/cuda-12.4/bin",
        "usr/local/cuda-12.4/nsight-compute-2024.1.1",
        "opt/nvidia/nsight-compute/2024.1.1",
        "usr/local/NVIDIA-Nsight-Compute",
        "usr/lib/nsight-compute",
    ],
)
def test_usual_folders(tmp_path, folder):
    path = fake(tmp_path / folder)
    assert ncu.find({}, root=tmp_path).path == path


def test_the_newest_of_several_installed_is_taken_by_number_not_by_text(tmp_path):
    for version in ("2024.3.0", "2023.10.0", "2025.1.0"):
        fake(tmp_path / f"opt/nvidia/nsight-compute/{version}", f"{version}.0")
    assert str(ncu.find({}, root=tmp_path).version) == "2025.1"
    assert ncu.Version.parse("2024.10") > ncu.Version.parse("2024.9.1.0")


def test_none_says_where_it_was_looked_for_and_what_still_works(tmp_path):
    with pytest.raises(CollectError, match=r"not found on PATH.*--ncu.*analyze REPORT"):
        ncu.find({"PATH": str(tmp_path)}, root=tmp_path)


def test_one_that_cannot_be_run_is_passed_over_and_refused_when_named(tmp_path):
    broken = tmp_path / "usr/local/cuda/bin"
    broken.mkdir(parents=True)
    (broken / "ncu").write_text("not a program")
    good = fake(tmp_path / "opt/nvidia/nsight-compute/2024.1.1")
    assert ncu.find({}, root=tmp_path).path == good
    with pytest.raises(CollectError, match="given with --ncu, cannot be run"):
        ncu.find({}, explicit=broken / "ncu", root=tmp_path)


def test_too_old_is_refused_and_too_new_is_driven_as_the_newest_known(tmp_path):
    with pytest.raises(CollectError, match=r"2021\.3 is older than 2022\.1"):
        ncu.find({}, explicit=fake(tmp_path / "a", "2021.3.1.0"), root=tmp_path)
    future = ncu.find({}, explicit=fake(tmp_path / "b", "2031.2.0.0"), root=tmp_path)
    assert future.driven_as == ncu.supported()[1]
    assert "newer than any known" in (future.note or "")


def test_a_tool_that_tells_no_version_is_driven_as_the_newest(tmp_path):
    path = fake(tmp_path / "a", "unknown")
    found = ncu.find({}, explicit=path, root=tmp_path)
    assert found.version is None
    assert found.driven_as == ncu.supported()[1]
    assert "does not tell" in (found.note or "")
