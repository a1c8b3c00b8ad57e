"""``ncuroof roofline``: the file it writes, its exit status, and what it says."""

from __future__ import annotations

import shutil

import pytest
from tests.conftest import SAMPLES

from ncuroof.cli import run

SQUARE = str(SAMPLES / "h100" / "fp16-square" / "report.ncu-rep")
LAYERS = str(SAMPLES / "h200" / "qwen2.5-7b-layers" / "report.ncu-rep")


@pytest.mark.parametrize(
    ("name", "start"),
    [("out.html", b"<!doctype html>"), ("out.svg", b"<svg"), ("out.png", b"\x89PNG"), ("OUT.HTM", b"<!doctype html>")],
)
def test_the_suffix_decides(tmp_path, name, start, capsys):
    out = tmp_path / name
    assert run(["roofline", SQUARE, "-o", str(out)]) == 0
    assert out.read_bytes().startswith(start)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"wrote {name}" in captured.err
    assert [p.name for p in tmp_path.iterdir()] == [name]  # nothing temporary stays


def test_other_suffixes_are_refused_before_anything_is_read(tmp_path, capsys):
    assert run(["roofline", "absent.ncu-rep", "-o", str(tmp_path / "out.pdf")]) == 2
    assert "out.pdf: the suffix must be .html, .svg or .png" in capsys.readouterr().err


def test_a_report_that_cannot_be_read(tmp_path, capsys):
    out = tmp_path / "out.html"
    assert run(["roofline", str(tmp_path / "absent.ncu-rep"), "-o", str(out)]) == 2
    assert "no such file" in capsys.readouterr().err
    assert not out.exists()


def test_a_target_that_cannot_be_written(tmp_path, capsys):
    assert run(["roofline", SQUARE, "-q", "-o", str(tmp_path / "absent" / "out.svg")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_an_older_file_survives_a_failure(tmp_path):
    out = tmp_path / "out.svg"
    out.write_text("before")
    assert run(["roofline", str(tmp_path / "absent.ncu-rep"), "-o", str(out)]) == 2
    assert out.read_text() == "before"


def test_two_gpus(tmp_path, capsys):
    out = tmp_path / "out.svg"
    assert run(["roofline", SQUARE, LAYERS, "-o", str(out)]) == 0
    assert "1 more with --only-gpu: NVIDIA H" in capsys.readouterr().err
    assert run(["roofline", SQUARE, LAYERS, "-o", str(out), "--only-gpu", "h200"]) == 0
    assert "H200" in out.read_text(encoding="utf-8")
    assert "more with --only-gpu" not in capsys.readouterr().err
    assert run(["roofline", SQUARE, "-o", str(out), "--only-gpu", "B300"]) == 2


CSV = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","Section Name","Metric Name","Metric Unit","Metric Value"\n'
    '"0","1","p","h","k","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0","x","gpu__time_duration.sum","us","1.215"\n'
)


def test_gpu_and_number_format_mean_what_they_mean_for_analyze(tmp_path, capsys):
    report, out = tmp_path / "x.csv", tmp_path / "out.html"
    report.write_text(CSV, encoding="utf-8")
    arguments = ["roofline", str(report), "-o", str(out), "--gpu", "H100-PCIe", "--number-format"]
    assert run([*arguments, "1.234,5"]) == 0
    page = out.read_text(encoding="utf-8")
    assert "NVIDIA H100 PCIe" in page
    assert "1.22 ms GPU time" in page  # 1,215 µs
    assert run([*arguments, "1,234.5"]) == 0
    assert "1.22 µs GPU time" in out.read_text(encoding="utf-8")
    assert "not used" not in capsys.readouterr().err
    assert run(["roofline", SQUARE, "-o", str(out), "--gpu", "H100-PCIe"]) == 0
    assert "--gpu H100-PCIe was not used for 6 launches" in capsys.readouterr().err


def test_quiet_says_nothing(tmp_path, capsys):
    report = tmp_path / "report.ncu-rep"
    shutil.copy(SQUARE, report)
    assert run(["roofline", str(report), "-q", "-o", str(tmp_path / "out.svg")]) == 0
    assert capsys.readouterr() == ("", "")


def test_title(tmp_path):
    out = tmp_path / "out.html"
    assert run(["roofline", SQUARE, "-q", "-o", str(out), "--title", "Nightly <1>"]) == 0
    assert "<h1>Nightly &lt;1&gt;</h1>" in out.read_text(encoding="utf-8")
