"""The command line as a user meets it: help, exit statuses, streams, and light start-up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import SAMPLES

from ncuroof import pipeline
from ncuroof.cli import run
from ncuroof.testing import ReportBuilder

SQUARE = str(SAMPLES / "h100" / "fp16-square" / "report.ncu-rep")
COMMANDS = ("analyze", "baseline", "compare", "ingest", "roofline", "rule")


def python(*args, **kwargs):
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False, **kwargs)


def test_help_is_light():
    code = (
        "import sys; from ncuroof.cli import run; status = run(['--help']);"
        "names = ('polars', 'altair', 'torch', 'numpy', 'pandas', 'pyarrow', 'google.protobuf');"
        "heavy = [m for m in names if m in sys.modules];"
        "sys.exit(f'imported {heavy}' if heavy else status)"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    for command in COMMANDS:
        assert command in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    assert run([command, "--help"]) == 0
    assert "Usage: ncuroof " + command in capsys.readouterr().out


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("ncuroof ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["bogus"],
        ["analyze"],
        ["analyze", SQUARE, "--nonsense"],
        ["analyze", SQUARE, "--format", "fax"],
        ["analyze", SQUARE, "--select", "Z9"],
        ["analyze", SQUARE, "--fail-on", "loud"],
        ["analyze", SQUARE, "--roof", "guess"],
        ["analyze", SQUARE, "--color", "pink"],
        ["analyze", SQUARE, "--limit", "-1"],
        ["analyze", "absent.ncu-rep"],
        ["ingest", SQUARE],
        ["rule"],
        ["rule", "X999"],
    ],
)
def test_usage_errors_exit_with_2_and_speak_on_stderr(arguments, capsys):
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip()
    assert "Traceback" not in err


def test_results_go_to_stdout_and_notes_to_stderr(capsys):
    assert run(["analyze", SQUARE]) == 0
    out, err = capsys.readouterr()
    assert "T001" in out
    assert "overhead-bound" in out
    assert "not profiled" in err
    assert run(["analyze", SQUARE, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_text_fits_80_columns_without_a_terminal(capsys):
    assert run(["analyze", SQUARE]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out


def test_fail_on_sets_the_status(capsys):
    assert run(["analyze", SQUARE, "--fail-on", "warning"]) == 1
    assert "2 findings" in capsys.readouterr().err
    assert run(["analyze", SQUARE, "--fail-on", "error"]) == 0


def test_json_is_json(capsys):
    assert run(["analyze", SQUARE, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {f["code"] for f in document["findings"]} >= {"T001"}


def test_one_bad_input_makes_the_status_2_and_the_rest_is_shown(tmp_path, capsys):
    bad = tmp_path / "bad.ncu-rep"
    bad.write_bytes(b"NVR\0junk")
    assert run(["analyze", SQUARE, str(bad)]) == 2
    out, err = capsys.readouterr()
    assert "T001" in out
    assert "error: bad.ncu-rep: " in err


def test_output_files_are_written_whole(tmp_path, capsys):
    target = tmp_path / "found.json"
    assert run(["analyze", SQUARE, "-f", "json", "-o", str(target), "--html", str(tmp_path / "r.html")]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads(target.read_text(encoding="utf-8"))["findings"]
    assert (tmp_path / "r.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    assert run(["analyze", SQUARE, "-o", str(tmp_path / "absent" / "x")]) == 2


def test_standard_input(tmp_path):
    report = ReportBuilder().kernel("from_stdin", {"gpu__time_duration.sum": 50000.0}).to_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "ncuroof", "analyze", "-", "--format", "json"],
        input=report,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kernels"][0]["kernel_name"] == "from_stdin"


def test_hostile_names_cannot_drive_a_terminal(tmp_path, capsys):
    path = tmp_path / "r.ncu-rep"
    ReportBuilder().kernel("evil\x1b[2Jname\r\n::error::x", {"gpu__time_duration.sum": 50000.0}).write(path)
    assert run(["analyze", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "\n::error::" not in out + err


def test_private_facts_stay_out_of_every_output(tmp_path, capsys):
    path = tmp_path / "r.ncu-rep"
    ReportBuilder(command_line="ncu --set full /home/alice/secret.py").kernel(
        "k", {"gpu__time_duration.sum": 50000.0}
    ).write(path)
    for form in ("text", "json"):
        assert run(["analyze", str(path), "--format", form, "--verbose"]) == 0
    out, err = capsys.readouterr()
    assert "alice" not in out + err


def test_ingest_tells_what_it_wrote(tmp_path, capsys):
    assert run(["ingest", SQUARE, "-o", str(tmp_path / "t")]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "1 report, 6 kernels written to t" in err
    assert run(["analyze", str(tmp_path / "t")]) == 0
    assert "T001" in capsys.readouterr().out


def test_rule_explains_and_lists(capsys):
    assert run(["rule", "l2-resident"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("R001 l2-resident: ")
    assert "above_roof = 1.05" in page
    assert run(["rule", "--all", "--format", "json"]) == 0
    assert {r["code"] for r in json.loads(capsys.readouterr().out)} >= {"D001", "R001", "T001", "W001"}


def test_a_closed_pipe_is_no_error():
    done = subprocess.run(  # noqa: S602  the pipe is what is tested
        f"'{sys.executable}' -m ncuroof analyze '{SQUARE}' --quiet | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.count("\n") == 1


LONG_CSV = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
    '"CC","Section Name","Metric Name","Metric Unit","Metric Value"\n'
    '"0","1","p","h","k","1","7","(1, 1, 1)","(1, 1, 1)","0","8.0","x","sm__cycles_elapsed.avg.per_second","Mhz",'
    '"1.215"\n'
)


@pytest.mark.parametrize(("written", "hertz"), [("1,234.5", 1.215e6), ("1.234,5", 1215e6)])
def test_number_format_decides_what_a_point_means(tmp_path, written, hertz):
    path = tmp_path / "x.csv"
    path.write_text(LONG_CSV, encoding="utf-8")
    assert run(["ingest", str(path), "--number-format", written, "-o", str(tmp_path / "t")]) == 0
    assert pipeline.load([tmp_path / "t"]).kernels["sm_hz"].to_list() == [hertz]


def test_an_unknown_number_format_is_refused(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text(LONG_CSV, encoding="utf-8")
    assert run(["analyze", str(path), "--number-format", "roman"]) == 2
    assert "'1.234,5'" in capsys.readouterr().err


def test_a_report_is_never_overwritten_by_its_analysis(tmp_path, capsys):
    path = tmp_path / "r.ncu-rep"
    content = ReportBuilder().kernel("k", {"gpu__time_duration.sum": 50000.0}).to_bytes()
    path.write_bytes(content)
    for option in ("-o", "--html"):
        assert run(["analyze", str(path), option, str(path)]) == 2
        assert "it is an input" in capsys.readouterr().err
    assert path.read_bytes() == content
    assert run(["analyze", str(path), "-o", str(tmp_path / "x"), "--html", str(tmp_path / "x")]) == 2
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full to stand for a full disk")
def test_a_full_disk_is_an_error_and_no_finding():
    done = subprocess.run(  # noqa: S602  the redirection is what is tested
        f"'{sys.executable}' -m ncuroof analyze '{SQUARE}' --quiet > /dev/full",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "cannot write the output" in done.stderr


def test_ingest_keeps_going_if_asked_to(tmp_path, capsys):
    good, bad = tmp_path / "good.ncu-rep", tmp_path / "bad.ncu-rep"
    content = ReportBuilder().kernel("k", {"gpu__time_duration.sum": 50000.0}).to_bytes()
    good.write_bytes(content)
    bad.write_bytes(content[:-5])
    assert run(["ingest", str(bad), str(good), "-o", str(tmp_path / "t")]) == 2
    assert not (tmp_path / "t").exists()
    capsys.readouterr()
    assert run(["ingest", str(bad), str(good), "-o", str(tmp_path / "t"), "--keep-going"]) == 2
    err = capsys.readouterr().err
    assert "error: bad.ncu-rep: " in err
    assert "1 report, 1 kernel written" in err
    assert pipeline.load([tmp_path / "t"]).kernels["source"].to_list() == ["good.ncu-rep"]


def test_damage_is_status_2_or_a_result_and_never_a_traceback(tmp_path, capsys):
    content = ReportBuilder().kernel("k", {"gpu__time_duration.sum": 50000.0}, grid=(1, 1, 1)).to_bytes()
    path = tmp_path / "d.ncu-rep"
    statuses = set()
    for step in range(25):
        cut = content[: step * len(content) // 25]
        place = step * 37 % len(content)
        flipped = content[:place] + bytes([content[place] ^ 0x5A]) + content[place + 1 :]
        for damaged in (cut, flipped):
            path.write_bytes(damaged)
            status = run(["analyze", str(path), "--quiet"])
            out, err = capsys.readouterr()
            assert status in {0, 2}
            assert (status == 2) == (not out)
            assert err.count("error: ") == (status == 2)
            statuses.add(status)
    assert statuses == {0, 2}
